//! What one context submits and another one's memory is reached by.

use super::*;
use kreplay_engine::{ClosingReason, Settings};
use std::time::Duration;

const STREAM: Stream = Stream(0x9EE7_0000 as *mut c_void);

/// Ways to write memory of another context from this one, by what is submitted to [`STREAM`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Launch,
    /// Not selected, in a context that has no engine.
    Boring,
    Graph,
    /// One that holds more than is known.
    StrangeGraph,
    Copy,
}

const WAYS: [Way; 5] = [Way::Launch, Way::Boring, Way::Graph, Way::StrangeGraph, Way::Copy];

/// A program with memory in one context, of which a launch was replayed or recorded, and another context that is current.
fn beside(batches: bool) -> (Program, u64, Function) {
    let settings = Program::settings(3, batches, Request::default());
    let settings = Settings { drain_deadline: Duration::from_millis(50), ..settings };
    let mut program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
    let (data, function) = (program.allocate(4096), increment("owner"));
    program.launch(function, "owner", data, Stream::NULL, 0);
    program.context = Program::fresh_context();
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    (program, data, function)
}

impl Program {
    /// What begins at `data` is written, once, by the current context.
    fn write(&self, way: Way, data: u64) {
        let function = increment("boring_peer");
        match way {
            Way::Launch => self.launch(increment("peer"), "peer", data, STREAM, 0),
            Way::Boring => self.launch(function, "boring_peer", data, STREAM, 0),
            Way::Graph | Way::StrangeGraph => {
                let graph = add_graph();
                add_node(graph, kernel(function, data), &[]);
                if way == Way::StrangeGraph {
                    add_node(graph, Node::Other(13), &[]);
                }
                let parameters = GraphLaunchParams { graph: self.instantiate(graph).0, stream: STREAM };
                self.call(cbid::GRAPH_LAUNCH, "", &parameters, || {
                    let _depth = crate::agent::Depth::enter();
                    self.run(function, data);
                    0
                });
            }
            Way::Copy => {
                self.call(281, "", &[data, self.allocate(4096), 4, STREAM.raw()], || {
                    set_word(data, word(data).wrapping_add(1));
                    0
                });
            }
        }
    }
}

#[test]
fn what_another_context_submits_ends_the_window_whose_memory_it_may_write() {
    for way in WAYS {
        let (program, data, _) = beside(true);
        let before = word(data);
        assert!(locked(&program.log.windows).is_empty(), "it is open");
        program.write(way, data);
        let closed: Vec<_> = locked(&program.log.windows).iter().map(|window| window.closing).collect();
        assert_eq!((closed, word(data)), (vec![ClosingReason::Foreign], before.wrapping_add(1)), "{way:?}");
    }
}

/// Else it would put back what that writes meanwhile.
#[test]
fn a_window_begins_when_what_another_context_writes_is_done() {
    for way in WAYS {
        let (mut program, data, function) = beside(false);
        let (own, before) = (locked(&program.interceptor.live).owner(data).expect("an owner"), word(data));
        fake::set_busy(STREAM.raw(), true);
        program.write(way, data);
        program.context = own;
        let launch = |program: &Program| program.launch(function, "owner", data, Stream::NULL, 0);
        launch(&program);
        assert_eq!(program.declined(), Some(Decline::DrainTimeout), "{way:?}");
        fake::set_busy(STREAM.raw(), false);
        launch(&program);
        assert_eq!((program.declined(), word(data)), (None, before.wrapping_add(3)), "{way:?}");
    }
}
