//! A pass that does not end: only the kernel that did not is refused from then on.

use crate::setup::{Setup, batch, setup};
use crate::support::add;
use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{ClosingReason, Decline, Operation, Outcome, Settings, VerifyMode};

/// Even kernels are not selected.
const KERNELS: [u64; 4] = [1, 2, 3, 5];

impl Setup {
    /// A window of these kernels, of which the one at `slow` runs over the deadline of its pass.
    fn slow_window(&self, kernels: &[u64], slow: u64) {
        self.agent.hang(self.agent.submissions() + slow, 1);
        kernels.iter().for_each(|key| self.launch(*key));
        self.engine.close_window();
    }

    /// Which kernels have declined since this was last asked, with what was said.
    fn refused(&self) -> Vec<(u64, String)> {
        let records = self.log.take_dispatches().into_iter();
        records
            .filter_map(|record| match record.outcome {
                Outcome::Declined { reason: Decline::PassFailed, detail } => Some((record.kernel.key, detail)),
                Outcome::Replayed => None,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn refused_kernels(&self) -> Vec<u64> {
        self.refused().into_iter().map(|(key, _)| key).collect()
    }
}

#[test]
fn the_second_deadline_tells_which_kernel_did_not_end_and_only_that_one_is_refused() {
    for (at, slow) in KERNELS.into_iter().enumerate() {
        let setup = setup(batch(2), None);
        let before = setup.word();
        setup.slow_window(&KERNELS, at as u64);
        assert_eq!(setup.refused_kernels(), [1, 3, 5]);
        setup.slow_window(&KERNELS, at as u64);
        let refused = setup.refused();
        assert_eq!(refused.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [1, 3, 5]);
        let said = format!("kernel{slow} did not end");
        assert!(refused.iter().all(|(_, detail)| detail.contains(&said)), "{refused:?}");
        // From now on it runs outside of windows, selected or not: the window before it ends.
        let replays = setup.agent.submissions();
        KERNELS.iter().for_each(|key| setup.launch(*key));
        setup.engine.close_window();
        assert_eq!(setup.refused_kernels(), if slow == 2 { vec![] } else { vec![slow] });
        // All others are replayed, once; 2 only where a window is open already.
        assert_eq!(setup.agent.submissions(), replays + if slow == 1 { 2 } else { 3 });
        let windows = setup.closings();
        let ended = windows[2..].iter().filter(|window| window.2 == ClosingReason::Launch).count();
        assert_eq!(ended, usize::from(at > 0), "{windows:?}");
        assert_eq!(setup.word(), before + 12, "{slow}: memory is what the program's own launches left");
    }
}

#[test]
fn a_window_of_one_kernel_needs_no_second_deadline() {
    let setup = setup(batch(2), None);
    setup.slow_window(&[3, 3, 3], 1);
    assert_eq!(setup.refused_kernels(), [3, 3, 3]);
    setup.launch(3);
    setup.launch(1);
    setup.engine.close_window();
    assert_eq!(setup.refused_kernels(), [3]);
}

#[test]
fn an_agent_that_cannot_mark_its_queue_refuses_every_kernel_of_the_window() {
    let setup = Setup::on(MemoryAgent::builder(0).unmarked().build(), batch(2), None);
    setup.slow_window(&KERNELS, 3);
    assert_eq!(setup.refused_kernels(), [1, 3, 5]);
    let replays = setup.agent.submissions();
    KERNELS.iter().chain(&[7]).for_each(|key| setup.launch(*key));
    setup.engine.close_window();
    assert_eq!(setup.refused_kernels(), [1, 3, 5]);
    assert_eq!(setup.agent.submissions(), replays + 1, "only the kernel that was not there is replayed");
}

#[test]
fn a_memory_operation_that_does_not_end_refuses_the_whole_window() {
    let setup = setup(batch(2), None);
    for _ in 0..2 {
        setup.agent.hang(setup.agent.submissions() + 1, 1);
        setup.launch(1);
        let work = add(setup.region, 0);
        drop(setup.engine.memory_operation(Operation::Repeatable { bytes: 0, record: &mut || Some(work.clone()) }));
        setup.launch(3);
        setup.engine.close_window();
        assert_eq!(setup.refused_kernels(), [1, 3]);
    }
    [1, 3, 5].iter().for_each(|key| setup.launch(*key));
    setup.engine.close_window();
    assert_eq!(setup.refused_kernels(), [1, 3]);
}

#[test]
fn a_launch_that_does_not_end_while_the_divergent_one_is_looked_for_is_known_at_once() {
    let rig = MemoryRig::make().unwrap();
    let agent = rig.agent();
    let mut world = World::new(&rig, Settings { verify: VerifyMode::All, ..batch(3) });
    let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
    let append = Kernel::Append { counter: world.hidden(), to, stride: 5 };
    world.launch(&Kernel::Add { at, value: 7 });
    world.launch_apart(&append);
    world.launch(&Kernel::Add { at, value: 1 });
    // Two passes of three, then the same three again, hashed one by one.
    agent.hang(2 * 3 + 1, 1);
    world.close_window();
    world.set_hidden(0);
    world.model_run(&append);
    world.check("what pass 0 left");
    let records = world.log.take_dispatches();
    assert!(records.iter().all(|record| {
        matches!(&record.outcome, Outcome::Declined { reason: Decline::PassFailed, detail }
            if detail.contains(append.name()))
    }));
    world.launch(&Kernel::Add { at, value: 1 });
    world.close_window();
    assert_eq!(world.record().outcome, Outcome::Replayed);
    world.launch(&append);
    assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
}
