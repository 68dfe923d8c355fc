//! Graphs: one launch by the program, counted node by node in replays.

mod support;

use kreplay_engine::memory_agent::{Fault, Work};
use kreplay_engine::{
    BatchLimits, Chunk, ClosingReason, Counters, Decline, DispatchInfo, GraphNode, Member, Outcome, Range, Region,
    RegionKind, Request, Settings, ShadowMode, Traits, Value, VerifyMode, WindowMode, Writers,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{InLine, Setup, add, info, launch, limits, settings};

fn batch(passes: u32) -> Settings {
    Settings { window: WindowMode::Batch, chunk: Chunk::new(256).unwrap(), ..settings(passes) }
}

fn counted(names: &[&str]) -> Settings {
    let names = names.iter().map(|name| (*name).into()).collect();
    Settings { request: Request { names, ..Request::default() }, ..batch(1) }
}

fn setup(settings: Settings, counters: Option<Arc<InLine>>) -> Setup {
    Setup::new(settings, counters.map(|counters| counters as Arc<dyn Counters>))
}

/// A node as the test writes it down.
enum Node {
    Kernel(u64, Traits),
    Set,
    Impossible,
}

fn kernel(key: u64) -> Node {
    Node::Kernel(key, Traits::default())
}

impl Setup {
    /// What a node does to a word: the order of the nodes shows.
    fn effect(node: &Node, word: u32) -> u32 {
        match node {
            Node::Kernel(key, _) => word.wrapping_mul(3).wrapping_add(*key as u32),
            Node::Set => word.wrapping_mul(5),
            Node::Impossible => word.wrapping_add(1),
        }
    }

    fn work(&self, node: &Node) -> Work {
        let region = self.region;
        let (factor, term) = match node {
            Node::Kernel(key, _) => (3, *key as u32),
            Node::Set => (5, 0),
            Node::Impossible => (1, 1),
        };
        Work::new(move |memory| {
            for address in (region.base..region.end()).step_by(4) {
                let word = memory.load(address);
                memory.store(address, word.wrapping_mul(factor).wrapping_add(term));
            }
        })
    }

    /// The program launches a graph; returns what its nodes make of `word`.
    fn graph(&self, nodes: &[Node], word: u32) -> u32 {
        let described = nodes
            .iter()
            .map(|node| match node {
                Node::Kernel(key, traits) => {
                    let (info, work) = (DispatchInfo { traits: *traits, ..info(*key) }, self.work(node));
                    GraphNode::Kernel(Member { info, operation: false, record: Box::new(move || Ok(work)) })
                }
                Node::Set => {
                    let work = self.work(node);
                    GraphNode::Operation { kind: "memset", bytes: 0, record: Box::new(move || Some(work)) }
                }
                Node::Impossible => GraphNode::Unrecordable("host function"),
            })
            .collect();
        let guard = self.engine.dispatch_graph(described);
        let works: Vec<Work> = nodes.iter().map(|node| self.work(node)).collect();
        // One launch, as the program sees it.
        self.agent.program_launch(0, &Work::new(move |memory| works.iter().for_each(|work| work.run(memory))));
        drop(guard);
        nodes.iter().fold(word, |word, node| Self::effect(node, word))
    }

    fn finish(&self) {
        self.engine.finish(Instant::now() + Duration::from_secs(20));
    }

    fn outcomes(&self) -> Vec<(u64, Outcome)> {
        self.log.take_dispatches().into_iter().map(|record| (record.kernel.key, record.outcome)).collect()
    }
}

/// Copies from the host are kept as long as a window has room for them, and one graph's are known before they are made.
#[test]
fn what_a_graph_copies_from_the_host_is_limited_like_all_that_a_window_keeps() {
    let limits = BatchLimits { bytes: 100, ..limits() };
    let setup = setup(Settings { batch: limits, ..batch(2) }, None);
    let graph = |bytes: [u64; 2], refused: bool| {
        let member = Member { info: info(1), operation: false, record: Box::new(|| Ok(add(setup.region, 0))) };
        let copies = bytes.map(|bytes| {
            let record = Box::new(move || (!refused).then(|| add(setup.region, 0)).or_else(|| panic!("it is copied")));
            GraphNode::Operation { kind: "copy", bytes, record }
        });
        drop(setup.engine.dispatch_graph([GraphNode::Kernel(member)].into_iter().chain(copies).collect()));
    };
    graph([30, 30], false);
    assert_eq!(setup.closings(), []);
    // Its own bytes fit, beside those of the first they do not.
    graph([30, 30], false);
    assert_eq!(setup.closings(), [(1, 2, ClosingReason::Bytes)]);
    graph([60, 60], true);
    setup.finish();
    let refused = "it copies 120 bytes from the host, and a window keeps 100";
    // The second window ends before the third graph, which has declined by then.
    assert_eq!(setup.outcomes(), [(1, Outcome::Replayed), (1, declined(refused)), (1, Outcome::Replayed)]);
}

fn declined(detail: &str) -> Outcome {
    Outcome::Declined { reason: Decline::GraphLaunch, detail: detail.into() }
}

#[test]
fn nodes_are_replayed_one_by_one() {
    for verify in [VerifyMode::Outputs, VerifyMode::All] {
        let setup = setup(Settings { verify, ..batch(3) }, None);
        let before = setup.word();
        // 4 is not selected.
        let nodes = [kernel(1), Node::Set, kernel(4), kernel(3)];
        let word = setup.graph(&nodes, before);
        let word = setup.graph(&nodes, word);
        assert_eq!(setup.word(), word, "pass 0 is the program's own");
        setup.finish();
        assert_eq!(setup.word(), word);
        assert_eq!(setup.closings(), [(4, 4, ClosingReason::Exit)]);
        let records = setup.log.take_dispatches();
        assert_eq!(records.iter().map(|record| record.kernel.key).collect::<Vec<_>>(), [1, 3, 1, 3]);
        for record in records {
            assert_eq!((record.outcome, record.passes_done, record.divergence), (Outcome::Replayed, 3, None));
        }
        assert_eq!(setup.agent.submissions(), 2 * 8, "two replays, node by node");
    }
}

#[test]
fn every_counted_pass_is_a_replay() {
    for names in [["a", "b"].as_slice(), &["a"]] {
        let counters = Arc::new(InLine::default());
        let setup = setup(counted(names), Some(counters.clone()));
        let before = setup.word();
        let word = setup.graph(&[kernel(1), kernel(3)], before);
        // A launch beside the graph goes the same way.
        launch(&setup.engine, &info(5), 0, &setup.work(&kernel(5)));
        let word = Setup::effect(&kernel(5), word);
        setup.finish();
        assert_eq!(setup.word(), word);
        let pass = |index: usize| {
            let mut calls = vec![format!("begin {index}")];
            calls.extend((0..3).flat_map(|at| [format!("before {at}"), format!("after {at}")]));
            calls.push("end".into());
            calls
        };
        let mut expected = vec!["open 4000".to_owned()];
        expected.extend((0..names.len()).flat_map(pass));
        expected.push("collect".into());
        assert_eq!(counters.take(), expected);
        assert_eq!(setup.outcomes(), [1, 3, 5].map(|key| (key, Outcome::Replayed)));
        assert_eq!(setup.log.readings().len(), 3);
        assert!(setup.log.readings()[2].1.iter().all(|reading| matches!(reading.value, Value::Count(_))));
    }
}

#[test]
fn windows_that_count_the_programs_own_launches_end_before_a_graph() {
    // In line, and recording with pass 0 counted.
    for (names, reason, outcome) in [
        (["a"].as_slice(), ClosingReason::Policy, Outcome::Counted),
        (&["a", "b"], ClosingReason::Together, Outcome::Replayed),
    ] {
        let setup = setup(counted(names), Some(Arc::default()));
        let before = setup.word();
        launch(&setup.engine, &info(5), 0, &setup.work(&kernel(5)));
        let word = setup.graph(&[kernel(1), kernel(3)], Setup::effect(&kernel(5), before));
        setup.finish();
        assert_eq!(setup.word(), word);
        assert_eq!(setup.closings(), [(1, 0, reason), (2, 0, ClosingReason::Exit)]);
        let replayed = |key| (key, Outcome::Replayed);
        assert_eq!(setup.outcomes(), [(5, outcome), replayed(1), replayed(3)]);
    }
}

#[test]
fn a_launch_that_cannot_be_replayed_is_counted_in_line_after_a_graph() {
    let setup = setup(counted(&["a"]), Some(Arc::default()));
    let before = setup.word();
    let word = setup.graph(&[kernel(1)], before);
    let collective = DispatchInfo { traits: Traits { collective: true, ..Traits::default() }, ..info(7) };
    launch(&setup.engine, &collective, 0, &setup.work(&kernel(7)));
    setup.finish();
    assert_eq!(setup.word(), Setup::effect(&kernel(7), word));
    assert_eq!(setup.outcomes(), [(1, Outcome::Replayed), (7, Outcome::Counted)]);
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Policy), (1, 0, ClosingReason::Exit)]);
}

#[test]
fn what_cannot_be_recorded_says_which_node() {
    let collective = Traits { collective: true, ..Traits::default() };
    let own = Traits { own_window: true, ..Traits::default() };
    let detail = |settings: Settings, nodes: &[Node]| {
        let setup = setup(settings, None);
        let before = setup.word();
        launch(&setup.engine, &info(5), 0, &setup.work(&kernel(5)));
        let word = setup.graph(nodes, Setup::effect(&kernel(5), before));
        setup.finish();
        assert_eq!(setup.word(), word);
        let outcomes = setup.outcomes();
        assert_eq!(outcomes.iter().filter(|(key, _)| *key == 5).count(), 1);
        assert!(outcomes.iter().all(|(key, outcome)| *key == 1 || *outcome == Outcome::Replayed), "{outcomes:?}");
        outcomes.into_iter().find(|(key, _)| *key == 1).map(|(_, outcome)| outcome)
    };
    assert_eq!(detail(batch(2), &[kernel(1)]), Some(Outcome::Replayed));
    let host = declined("a host function node cannot be recorded");
    assert_eq!(detail(batch(2), &[kernel(1), Node::Impossible]), Some(host));
    assert_eq!(detail(batch(2), &[kernel(1), kernel(4)]), Some(Outcome::Replayed));
    let with = |traits| [kernel(1), Node::Kernel(4, traits)];
    assert_eq!(detail(batch(2), &with(collective)), Some(declined("the kernel node kernel4 declines: collective")));
    assert_eq!(detail(batch(2), &with(own)), Some(declined("the kernel node kernel4 needs a window of its own")));
    let short = Settings { batch: BatchLimits { dispatches: 1, ..limits() }, ..batch(2) };
    let long = [kernel(1), kernel(1)];
    assert_eq!(
        detail(short, &long),
        Some(declined("it has 2 launches to count, and a window holds at most 1 that come as one"))
    );
    let off = declined("graphs are replayed in batch windows only, and these are not in use");
    assert_eq!(detail(settings(2), &[kernel(1)]), Some(off));
    // A memory operation that turns out not to be one that can be done again, and a kernel that cannot be described.
    let setup = setup(batch(2), None);
    let bad = GraphNode::Operation { kind: "copy", bytes: 0, record: Box::new(|| None) };
    let good = |key| {
        GraphNode::Kernel(Member { info: info(key), operation: false, record: Box::new(|| Ok(Work::new(|_| {}))) })
    };
    drop(setup.engine.dispatch_graph(vec![good(1), bad]));
    let record = Box::new(|| Err(Decline::UnknownArguments));
    drop(setup.engine.dispatch_graph(vec![GraphNode::Kernel(Member { info: info(3), operation: false, record })]));
    let unknown = declined("the kernel node kernel3 declines: unknown_arguments");
    assert_eq!(setup.outcomes(), [(1, declined("a copy node cannot be recorded")), (3, unknown)]);
}

#[test]
fn a_graph_that_is_longer_than_windows_should_be_has_one_alone() {
    for kernels in [3, 4] {
        let counters = Arc::new(InLine { most: Some(2), together: Some(3), ..InLine::default() });
        let setup = setup(counted(&["a"]), Some(counters.clone()));
        let before = setup.word();
        let short = setup.graph(&[kernel(1)], before);
        let word = setup.graph(&(0..kernels).map(|_| kernel(3)).collect::<Vec<_>>(), short);
        let word = setup.graph(&[kernel(5)], word);
        setup.finish();
        assert_eq!(setup.word(), word);
        let outcomes = setup.outcomes();
        let (long, others): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|(key, _)| *key == 3);
        assert_eq!(others, [1, 5].map(|key| (key, Outcome::Replayed)));
        let opened = counters.take().into_iter().filter(|call| call.starts_with("open")).collect::<Vec<_>>();
        if kernels == 3 {
            assert_eq!(long, [(3, Outcome::Replayed), (3, Outcome::Replayed), (3, Outcome::Replayed)]);
            assert_eq!(opened, ["open 2", "open 3", "open 2"]);
            assert_eq!(setup.closings().iter().map(|window| window.0).collect::<Vec<_>>(), [1, 3, 1]);
        } else {
            let refused = declined("it has 4 launches to count, and a window holds at most 3 that come as one");
            assert!(long.len() == 4 && long.iter().all(|(_, outcome)| *outcome == refused), "{long:?}");
        }
    }
}

#[test]
fn graphs_that_are_not_selected_are_recorded_only_in_open_windows() {
    let setup = setup(batch(2), None);
    let before = setup.word();
    let word = setup.graph(&[kernel(2), Node::Set, kernel(4)], before);
    assert_eq!(setup.closings(), [], "none is opened for it");
    launch(&setup.engine, &info(1), 0, &setup.work(&kernel(1)));
    let word = setup.graph(&[kernel(2), Node::Set], Setup::effect(&kernel(1), word));
    launch(&setup.engine, &info(1), 0, &setup.work(&kernel(1)));
    let word = setup.graph(&[kernel(2), Node::Impossible], Setup::effect(&kernel(1), word));
    assert_eq!(setup.closings(), [(2, 2, ClosingReason::Launch)]);
    setup.finish();
    assert_eq!(setup.word(), word);
    assert_eq!(setup.outcomes(), [(1, Outcome::Replayed), (1, Outcome::Replayed)]);
}

#[test]
fn whatever_call_fails_memory_is_what_one_run_leaves() {
    let mut faults = 0;
    for (verify, shadow, names) in [
        (VerifyMode::Off, ShadowMode::Safe, ["a"].as_slice()),
        (VerifyMode::Outputs, ShadowMode::Trusted, &["a", "b"]),
        (VerifyMode::All, ShadowMode::Safe, &["a", "b", "c"]),
    ] {
        for fault in [Fault::Fails, Fault::FailsLater, Fault::Denied, Fault::Lost] {
            for number in 0.. {
                let settings = Settings { verify, shadow, ..counted(names) };
                let setup = setup(settings, Some(Arc::default()));
                let other = Range::new(setup.agent.program_allocate(64), 64);
                setup.agent.with_memory(|memory| memory.bytes_mut(other).fill(0));
                let seen = Region { range: other, kind: RegionKind::Device, writers: Writers::Seen };
                setup.engine.region_born(seen);
                let before = setup.word();
                setup.agent.fail_at(number, fault);
                let word = setup.graph(&[kernel(1), Node::Set, kernel(3)], before);
                setup.engine.close_window();
                let reached = setup.agent.calls().len() as u64 > number;
                setup.agent.restart_count();
                if !(reached && fault == Fault::Lost) {
                    assert_eq!(setup.word(), word, "{fault:?} at {number}, {verify:?}");
                    launch(&setup.engine, &info(1), 0, &add(other, 1));
                    setup.finish();
                    assert_eq!(setup.word(), word);
                    setup.agent.with_memory(|memory| assert_eq!(memory.load(other.base), 1));
                }
                assert!(setup.log.take_dispatches().len() >= 2);
                if !reached {
                    break;
                }
                faults += 1;
            }
        }
    }
    assert!(faults > 100, "only {faults} faults");
}
