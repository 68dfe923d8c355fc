//! CUDA graphs: walked, followed, and launched as what their nodes do.

mod changes;
mod peers;

use super::one_pass::OnePass;
use super::*;
use crate::fake::{Node, add_graph, add_node, kernel_params};
use crate::tables::graph_structs::{
    AnyNodeParams, EnableNodeParams, ExecGraphParams, ExecNodeParams, InstantiateParams, KernelNodeParamsV1,
    SetNodeParams, node_kind,
};
use crate::tables::{Graph, GraphExec, GraphNode};
use kreplay_engine::Decline;

impl Program {
    fn change<P>(&self, id: u32, parameters: &P) {
        self.call(id, "", parameters, || 0);
    }

    fn instantiate(&self, graph: u64) -> GraphExec {
        static EXECS: AtomicU64 = AtomicU64::new(0xEC00_0000);
        let made = GraphExec(EXECS.fetch_add(0x10, Ordering::Relaxed) as *mut c_void);
        let mut exec = GraphExec::NULL;
        let parameters = InstantiateParams { exec: &raw const exec, graph: Graph(graph as *mut c_void) };
        self.call(cbid::GRAPH_INSTANTIATE_WITH_FLAGS, "", &parameters, || {
            // SAFETY: the local above, which the driver would write to.
            unsafe { (&raw mut exec).write(made) };
            0
        });
        made
    }

    /// Launches a graph; `body` is what the driver runs.
    fn launch_graph(&self, exec: GraphExec, body: impl FnOnce()) {
        let parameters = GraphLaunchParams { graph: exec.0, stream: Stream::NULL };
        self.call(cbid::GRAPH_LAUNCH, "", &parameters, || {
            let _depth = crate::agent::Depth::enter();
            body();
            0
        });
    }

    fn run(&self, function: Function, argument: u64) {
        self.launch_own(function, 1, argument, Stream::NULL);
    }

    fn close_window(&self) {
        self.interceptor.context(self.context).driven().expect("an engine").engine.close_window();
    }

    fn take(&self) -> Vec<DispatchRecord> {
        std::mem::take(&mut *locked(&self.log.dispatches))
    }
}

fn kernel(function: Function, argument: u64) -> Node {
    Node::Kernel { function: function.raw(), arguments: vec![argument] }
}

fn set_word(address: u64, value: u32) {
    // SAFETY: live memory of the fake.
    unsafe { *(address as *mut u32) = value };
}

#[test]
fn nodes_are_replayed_one_by_one_in_the_order_of_their_edges() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let (first, second) = (increment("graph_first"), increment("graph_second"));
    let inner = add_graph();
    add_node(inner, kernel(second, data + 16), &[]);
    let graph = add_graph();
    // 0 at data, then one more; that goes to data + 16, where it is incremented again by the graph within.
    let set = add_node(graph, Node::Set { to: data, value: 0, count: 4 }, &[]);
    let empty = add_node(graph, Node::Other(node_kind::EMPTY), &[set]);
    let one = add_node(graph, kernel(first, data), &[empty]);
    let copy = Node::Copy { to: data + 16, from: data, bytes: 4, from_host: false, to_host: false };
    let copied = add_node(graph, copy, &[one]);
    add_node(graph, Node::Graph(inner), &[copied]);
    let exec = program.instantiate(graph);
    let host = 0u32;
    for _ in 0..3 {
        program.launch_graph(exec, || {
            set_word(data, 0);
            program.run(first, data);
            set_word(data + 16, word(data));
            program.run(second, data + 16);
        });
    }
    assert!(program.take().is_empty(), "the window is open");
    assert_eq!(fake::launches("graph_first"), 3, "pass 0 is the program's own run");
    program.close_window();
    let records = program.take();
    let names: Vec<&str> = records.iter().map(|record| &*record.kernel.name).collect();
    assert_eq!(names, ["graph_first", "graph_second"].repeat(3));
    for record in &records {
        assert_eq!((&record.outcome, record.passes_done), (&Outcome::Replayed, 3));
        assert!(record.divergence.is_none(), "{record:?}");
        assert_eq!((record.geometry.groups, record.stream), ([2, 1, 1], Stream::LEGACY.raw()));
    }
    assert_eq!((fake::launches("graph_first"), fake::launches("graph_second")), (9, 9));
    assert_eq!((word(data), word(data + 16), host), (1, 2, 0));
}

#[test]
fn a_node_that_cannot_be_recorded_is_named() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let function = increment("graph_with_host");
    for (kind, name) in
        [(3, "host function"), (6, "event wait"), (7, "event record"), (10, "memory allocation"), (13, "conditional")]
    {
        let graph = add_graph();
        let first = add_node(graph, kernel(function, data), &[]);
        add_node(graph, Node::Other(kind), &[first]);
        let exec = program.instantiate(graph);
        let (before, launches) = (word(data), fake::launches("graph_with_host"));
        program.launch_graph(exec, || program.run(function, data));
        let records = program.take();
        assert_eq!(records.len(), 1);
        match &records[0].outcome {
            Outcome::Declined { reason, detail } => {
                assert_eq!(*reason, Decline::GraphLaunch);
                assert!(detail.contains(name), "{detail}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!((word(data), fake::launches("graph_with_host")), (before.wrapping_add(1), launches + 1));
    }
}

#[test]
fn a_graph_alone_may_be_longer_than_a_window_and_what_is_too_long_says_so() {
    let request = Request { names: vec!["some".into()], ..Request::default() };
    let make = |_: &CudaAgent| -> Option<Arc<dyn AgentCounters>> {
        Some(Arc::new(OnePass { most: Some((2, 5)), ..OnePass::default() }))
    };
    let program = Program::counted(1, true, request, Box::new(make));
    let data = program.allocate(4096);
    let function = increment("graph_of_many");
    for (kernels, fits) in [(2, true), (5, true), (6, false)] {
        let graph = add_graph();
        let mut before = Vec::new();
        for _ in 0..kernels {
            before = vec![add_node(graph, kernel(function, data), &before)];
        }
        let exec = program.instantiate(graph);
        let expected = word(data) + kernels;
        program.launch_graph(exec, || (0..kernels).for_each(|_| program.run(function, data)));
        program.close_window();
        assert_eq!(word(data), expected);
        let records = program.take();
        assert_eq!(records.len(), kernels as usize);
        for record in records {
            match record.outcome {
                Outcome::Replayed => assert!(fits),
                Outcome::Declined { reason, detail } => {
                    assert!(!fits && reason == Decline::GraphLaunch);
                    assert!(detail.contains("has 6 launches") && detail.contains("at most 5"), "{detail}");
                }
                Outcome::Counted => panic!("a graph's kernels are counted by replays"),
            }
        }
    }
}

#[test]
fn uploads_are_of_what_is_there_at_the_launch() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let function = increment("graph_upload");
    let source = Box::leak(Box::new([5u32; 4]));
    let from = source.as_ptr() as u64;
    let graph = add_graph();
    let copy = Node::Copy { to: data, from, bytes: 4, from_host: true, to_host: false };
    let copied = add_node(graph, copy, &[]);
    let ran = add_node(graph, kernel(function, data), &[copied]);
    let back = Node::Copy { to: from + 8, from: data, bytes: 4, from_host: false, to_host: true };
    add_node(graph, back, &[ran]);
    let exec = program.instantiate(graph);
    for value in [40, 50] {
        set_word(from, value);
        program.launch_graph(exec, || {
            set_word(data, value);
            program.run(function, data);
            set_word(from + 8, word(data));
        });
        // The program goes on with its memory while the window is open.
        set_word(from, 0);
    }
    program.close_window();
    let records = program.take();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
    assert_eq!((word(data), word(from + 8)), (51, 51));
    // What the graph copies to the host first is not there when its launch is recorded.
    let graph = add_graph();
    let back = Node::Copy { to: from + 2, from: data, bytes: 4, from_host: false, to_host: true };
    let first = add_node(graph, back, &[]);
    let copy = Node::Copy { to: data, from, bytes: 4, from_host: true, to_host: false };
    let copied = add_node(graph, copy, &[first]);
    add_node(graph, kernel(function, data), &[copied]);
    let exec = program.instantiate(graph);
    program.launch_graph(exec, || {});
    assert_eq!(program.declined(), Some(Decline::GraphLaunch));
}

#[test]
fn graphs_that_were_not_seen_or_not_described_run_as_they_are() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let function = increment("graph_unseen");
    let graph = add_graph();
    add_node(graph, kernel(function, data), &[]);
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    let within = program.instantiate(graph);
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    let strange = program.instantiate(0x1234);
    let unseen = GraphExec(0x5678 as *mut c_void);
    for exec in [within, strange, unseen] {
        let before = word(data);
        program.launch_graph(exec, || program.run(function, data));
        assert_eq!((program.declined(), &*program.last().kernel.name), (Some(Decline::GraphLaunch), "CUDA graph"));
        assert_eq!(word(data), before.wrapping_add(1));
    }
    assert_eq!(program.take().len(), 3);
}

#[test]
fn kernels_that_are_not_selected_are_recorded_between() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let (asked, other) = (increment("graph_wanted"), increment("graph_boring"));
    let graph = add_graph();
    let first = add_node(graph, kernel(other, data), &[]);
    add_node(graph, kernel(asked, data), &[first]);
    let exec = program.instantiate(graph);
    let before = word(data);
    program.launch_graph(exec, || {
        program.run(other, data);
        program.run(asked, data);
    });
    program.close_window();
    let records = program.take();
    assert_eq!(records.len(), 1);
    assert_eq!((&records[0].outcome, &records[0].divergence), (&Outcome::Replayed, &None));
    assert_eq!(word(data), before.wrapping_add(2));
    assert_eq!((fake::launches("graph_boring"), fake::launches("graph_wanted")), (3, 3));
    // Nothing is selected, and no window is open.
    let graph = add_graph();
    add_node(graph, kernel(other, data), &[]);
    let exec = program.instantiate(graph);
    program.launch_graph(exec, || program.run(other, data));
    assert_eq!((fake::launches("graph_boring"), program.take().len()), (4, 0));
}

#[test]
fn launches_into_a_capture_are_no_dispatches() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let (function, boring) = (increment("graph_captured"), increment("boring_captured"));
    for (function, name) in [(function, "graph_captured"), (boring, "boring_captured")] {
        program.launch(function, name, data, Stream::NULL, 0);
    }
    assert_eq!((program.take().len(), program.log.not_selected.load(Ordering::Relaxed)), (1, 1));
    let (captured, other) = (Stream(0x7700 as *mut c_void), Stream(0x7800 as *mut c_void));
    program.call(cbid::BEGIN_CAPTURE_V2, "", &captured, || {
        fake::set_captured(captured.raw(), true);
        0
    });
    for (function, name) in [(function, "graph_captured"), (boring, "boring_captured")] {
        program.launch(function, name, data, captured, 0);
    }
    assert_eq!((program.take().len(), program.log.not_selected.load(Ordering::Relaxed)), (0, 1));
    // Another stream's launch runs meanwhile; it cannot be replayed now.
    program.launch(function, "graph_captured", data, other, 0);
    assert_eq!(program.declined(), Some(Decline::StreamCapture));
    program.call(cbid::END_CAPTURE, "", &captured, || {
        fake::set_captured(captured.raw(), false);
        0
    });
    program.launch(function, "graph_captured", data, captured, 0);
    assert_eq!((program.declined(), program.take().len()), (None, 2));
}

#[test]
fn variables_of_a_graph_that_comes_before_any_launch_are_put_back() {
    let program = Program::with(4, true);
    let counter = Box::leak(Box::new([70u32; 4]));
    let address = counter.as_ptr() as u64;
    fake::add_variable("graph_counter", address, 16);
    let mut elf = Elf::default();
    let text = elf.section(".text.graph_counting", 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    elf.symbol("graph_counter", 1, global, 0, 16);
    elf.symbol("graph_counting", 2, text, 0, 16);
    program.load(&elf.build());
    let counting = add_kernel(
        "graph_counting",
        &[(0, 8)],
        // SAFETY: leaked above.
        Arc::new(move |_, _| unsafe { *(address as *mut u32) += 1 }),
    );
    let function = Function(counting as *mut c_void);
    let graph = add_graph();
    add_node(graph, kernel(function, 0), &[]);
    let exec = program.instantiate(graph);
    program.launch_graph(exec, || program.run(function, 0));
    program.close_window();
    assert_eq!((&program.last().outcome, word(address)), (&Outcome::Replayed, 71));
    assert!(program.last().divergence.is_none());
}
