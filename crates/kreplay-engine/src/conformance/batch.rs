//! Batch windows on the agent.

use super::{Kernel, Rig, World};
use crate::{BatchLimits, ClosingReason, Outcome, Range, Settings, ShadowMode, VerifyMode, WindowKind, WindowMode};

pub(super) fn batch(passes: u32) -> Settings {
    let batch = BatchLimits { dispatches: 6, ..BatchLimits::default() };
    Settings { window: WindowMode::Batch, uncounted_passes: passes, batch, ..Settings::default() }
}

/// Launches, recorded memory operations, reads, API writes, births and deaths; windows full and cut short.
pub fn batch_windows_leave_what_one_run_leaves<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
            for passes in [2, 3, 5] {
                for device_reserve in [1, u64::MAX] {
                    let mut world = World::new(rig, Settings { verify, shadow, device_reserve, ..batch(passes) });
                    let when = format!("{verify:?} {shadow:?} {passes} passes, reserve {device_reserve}");
                    let (a, b) = (world.allocate(8512), world.allocate(4096));
                    for round in 0..3 {
                        world.launch(&Kernel::Add { at: a, value: 3 });
                        world.operate(&Kernel::Fill { to: Range::new(b.base + 2048, 512), value: round });
                        world.launch(&Kernel::Accumulate { from: Range::new(a.base, 1000), to: b.base + 8 });
                        world.check(&when);
                        let c = world.allocate(4500);
                        world.operate(&Kernel::Fill { to: c, value: round + 1 });
                        world.launch(&Kernel::Add { at: c, value: 1 });
                        world.launch(&Kernel::Copy { to: b.base + 1024, from: Range::new(c.base, 800) });
                        if round == 1 {
                            world.write(Range::new(a.base + 100, 3), b"api");
                        }
                        world.launch(&Kernel::Add { at: Range::new(a.base + 8192, 64), value: 1 });
                        if round > 0 {
                            world.free(c);
                        }
                        world.check(&when);
                    }
                    world.close_window();
                    world.check(&when);
                    let records = world.log.take_dispatches();
                    assert_eq!(records.len(), 15, "{when}");
                    for record in &records {
                        assert_eq!(record.outcome, Outcome::Replayed, "{when}: {record:?}");
                        assert_eq!(record.divergence, None, "{when}: {record:?}");
                        assert_eq!((record.passes_asked, record.passes_done), (passes, passes), "{when}");
                    }
                    let windows = world.log.windows();
                    if world.observes() {
                        assert!(windows.iter().any(|w| w.kind == WindowKind::Batch && w.dispatches > 1), "{windows:?}");
                        assert!(windows.iter().any(|w| w.closing == ClosingReason::Full), "{windows:?}");
                        assert!(windows.iter().all(|w| w.dispatches <= 6), "{windows:?}");
                    }
                }
            }
        }
    }
}

/// The content of a region that was born within the window is what pass 0 left in it.
pub fn memory_born_within_a_batch_window_keeps_its_content<R: Rig>(rig: &R) {
    let mut world = World::new(rig, batch(3));
    let a = world.allocate(4096);
    world.launch(&Kernel::Add { at: a, value: 1 });
    let b = world.allocate(8192);
    // In place, on content that came by a write the engine did not see: every pass changes it once more.
    world.launch(&Kernel::Add { at: b, value: 1 });
    world.close_window();
    world.check("born within the window");
    world.launch(&Kernel::Add { at: b, value: 1 });
    world.close_window();
    world.check("the window after it");
    assert_eq!(world.record().outcome, Outcome::Replayed);
    assert_eq!(world.record().divergence, None);
}

/// A later pass writes where pass 0 did not.
pub fn an_escape_in_a_batch_window_is_found_and_undone<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        let mut world = World::new(rig, Settings { verify, ..batch(4) });
        if !world.observes() {
            println!("skipped: this agent does not compare on the device");
            return;
        }
        let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
        let counter = world.hidden();
        world.launch(&Kernel::Add { at, value: 7 });
        world.launch_apart(&Kernel::Escape { counter, pass: 2, at, to: to.base + 4096 });
        world.model_run(&Kernel::Add { at, value: 1 });
        world.launch(&Kernel::Add { at, value: 2 });
        world.close_window();
        world.check(&format!("{verify:?}"));
        let records = world.log.take_dispatches();
        assert_eq!(records.len(), 3);
        for record in records {
            let divergence = record.divergence.expect("every dispatch of the window is marked");
            assert!(divergence.escaped);
            assert_eq!(divergence.range, Range::new(to.base + 4096, 4096));
            if verify == VerifyMode::All {
                assert_eq!(divergence.pass, Some(2));
            }
        }
        world.launch(&Kernel::Add { at: to, value: 1 });
        world.close_window();
        world.check("the window after an escape");
        assert_eq!(world.record().divergence, None);
    }
}

/// The tests above can fail.
pub fn a_batch_window_without_restores_is_noticed<R: Rig>(rig: &R) {
    let mut world = World::new(rig, Settings { skip_restore_for_tests: true, ..batch(3) });
    if !world.observes() {
        println!("skipped: this agent does not compare on the device");
        return;
    }
    let a = world.allocate(4096);
    world.launch(&Kernel::Add { at: a, value: 1 });
    world.close_window();
    for _ in 0..2 {
        world.model_run(&Kernel::Add { at: a, value: 1 });
    }
    world.check("three runs, and none undone");
    assert!(world.record().divergence.is_some());
}

/// With `--verify all` only the launch that does other work each time is marked.
pub fn the_dispatch_that_diverges_is_found<R: Rig>(rig: &R) {
    let mut world = World::new(rig, Settings { verify: VerifyMode::All, ..batch(3) });
    if !world.observes() {
        println!("skipped: this agent does not compare on the device");
        return;
    }
    let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
    let counter = world.hidden();
    world.launch(&Kernel::Add { at, value: 7 });
    let append = Kernel::Append { counter, to, stride: 5 };
    world.launch_apart(&append);
    world.launch(&Kernel::Add { at, value: 2 });
    world.close_window();
    // Pass 0 is the program's own, and it ran first.
    world.set_hidden(0);
    world.model_run(&append);
    world.check("what pass 0 left");
    let records = world.log.take_dispatches();
    let marked: Vec<bool> = records.iter().map(|record| record.divergence.is_some()).collect();
    assert_eq!(marked, [false, true, false], "{records:?}");
    assert!(records[2].notes.iter().any(|note| note.contains("earlier launch")), "{:?}", records[2].notes);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed));
}
