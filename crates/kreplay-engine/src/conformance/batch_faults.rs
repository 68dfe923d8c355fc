//! Batch windows when something goes wrong: escaped writes, foreign writers, address reuse, failed launches.

use super::batch::batch;
use super::{Kernel, Rig, World};
use crate::{
    ClosingReason, Decision, Decline, Operation, Outcome, Range, Region, RegionKind, Settings, ShadowMode, VerifyMode,
    Writers,
};

/// Whichever of the replays writes where pass 0 did not: named, undone, and nobody else's bytes are touched.
pub fn an_escape_in_any_pass_of_a_batch_window_is_found_and_undone<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for pass in 1..4 {
            let mut world = World::new(rig, Settings { verify, ..batch(4) });
            if !world.observes_or_skips() {
                return;
            }
            let when = format!("{verify:?}, pass {pass}");
            let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
            let counter = world.hidden();
            world.launch_apart(&Kernel::Escape { counter, pass, at, to: to.base + 8 });
            world.model_run(&Kernel::Add { at, value: 1 });
            world.launch(&Kernel::Add { at, value: 2 });
            world.close_window();
            world.check(&when);
            for record in world.log.take_dispatches() {
                let divergence = record.divergence.expect("the escape is reported");
                assert!(divergence.escaped, "{when}");
                assert_eq!(divergence.range, Range::new(to.base, 4096), "{when}");
                assert!(verify != VerifyMode::All || divergence.pass == Some(pass), "{when}: {divergence:?}");
                assert_eq!(record.outcome, Outcome::Replayed);
            }
        }
    }
}

/// Somebody who tells nobody writes between two windows. By default that is kept; trust notices it and ends.
pub fn a_foreign_write_between_batch_windows_is_kept<R: Rig>(rig: &R) {
    for (shadow, writers) in [
        (ShadowMode::Safe, Writers::Seen),
        (ShadowMode::Trusted, Writers::Seen),
        (ShadowMode::Trusted, Writers::Others),
    ] {
        let mut world = World::new(rig, Settings { shadow, ..batch(3) });
        let a = world.allocate(8192);
        let shared = world.allocate_as(3 * 4096, RegionKind::Device, writers);
        world.launch(&Kernel::Add { at: a, value: 1 });
        world.close_window();
        world.write_unseen(shared.base + 4097, b"from elsewhere");
        // Two launches beside the foreign bytes, in the same chunk.
        for value in [1, 2] {
            world.launch(&Kernel::Add { at: Range::new(shared.base + 4096 + 64, 64), value });
        }
        world.close_window();
        world.check(&format!("{shadow:?} {writers:?}"));
        let surprised = shadow == ShadowMode::Trusted && writers == Writers::Seen && world.observes();
        assert_eq!(world.log.warnings().contains(&"trust_off"), surprised, "{shadow:?} {writers:?}");
    }
}

/// Memory that was freed, and memory that came to its address, are not written when a window closes: freed while it
/// records, or retired within an operation, where the window cannot be closed first.
pub fn a_region_freed_around_batch_windows_is_never_written<R: Rig>(rig: &R) {
    for within in [false, true] {
        let mut world = World::new(rig, batch(3));
        let (a, b) = (world.allocate(8192), world.allocate(8192));
        world.launch(&Kernel::Add { at: b, value: 1 });
        world.launch(&Kernel::Add { at: a, value: 1 });
        let guard = within.then(|| world.engine.memory_operation(Operation::Reads));
        let retired = world.engine.region_retire(b.base).expect("it is known");
        let born = Region { range: b, kind: RegionKind::Device, writers: Writers::Seen };
        assert_ne!(retired.generation(), world.engine.region_born(born));
        drop(guard);
        world.write_unseen(b.base, &[7; 8192]);
        world.launch(&Kernel::Add { at: a, value: 1 });
        world.close_window();
        world.check(&format!("within an operation: {within}"));
        let records = world.log.take_dispatches();
        assert_eq!(records.len(), 3);
        for record in &records[..2] {
            // What ran between recorded launches without being recorded is never taken for a good replay.
            let declined = matches!(record.outcome, Outcome::Declined { reason: Decline::PassFailed, .. });
            assert_eq!(declined, within && world.observes(), "{record:?}");
        }
        assert_eq!(records[2].outcome, Outcome::Replayed);
        world.launch(&Kernel::Add { at: Range::new(b.base, 64), value: 1 });
        world.close_window();
        world.check("the new region's first window");
    }
}

/// The vendor's launch call fails while a window records: the replays would do what the program did not.
pub fn a_failed_launch_in_a_batch_window_costs_its_values_only<R: Rig>(rig: &R) {
    let mut world = World::new(rig, batch(3));
    if !world.observes_or_skips() {
        return;
    }
    let a = world.allocate(8192);
    let kernel = Kernel::Add { at: a, value: 1 };
    world.launch(&kernel);
    let Decision::Recorded(guard) = world.engine.dispatch(&world.info(&kernel), || Ok(rig.work(&kernel))) else {
        panic!("it is not recorded");
    };
    guard.failed("invalid configuration");
    // The window is over; the next launch has another.
    world.launch(&kernel);
    world.close_window();
    world.check("two launches ran");
    let windows = world.log.windows();
    assert_eq!(windows[0].closing, ClosingReason::Failed);
    assert_eq!(windows.iter().map(|window| window.dispatches).collect::<Vec<_>>(), [2, 1]);
    let records = world.log.take_dispatches();
    for record in &records[..2] {
        let Outcome::Declined { reason: Decline::PassFailed, detail } = &record.outcome else {
            panic!("{record:?}");
        };
        assert!(detail.contains("invalid configuration"), "{detail}");
    }
    assert_eq!(records[2].outcome, Outcome::Replayed);
}

/// What is written elsewhere in each run stays as the program's own run left it, wherever in the window it ran.
pub fn a_launch_that_writes_elsewhere_each_time_leaves_one_real_run_in_a_batch_window<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        let mut world = World::new(rig, Settings { verify, ..batch(3) });
        let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
        let append = Kernel::Append { counter: world.hidden(), to, stride: 1031 };
        world.launch(&Kernel::Add { at, value: 7 });
        world.launch_apart(&append);
        world.launch(&Kernel::Add { at, value: 2 });
        world.close_window();
        if !world.observes_or_skips() {
            return;
        }
        world.set_hidden(0);
        world.model_run(&append);
        world.check(&format!("{verify:?}"));
        // An append is an escape: whatever is checked, the passes are seen to differ.
        assert!(world.log.take_dispatches().iter().any(|record| record.divergence.is_some()), "{verify:?}");
    }
}
