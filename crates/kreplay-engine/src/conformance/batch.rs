//! Batch windows on the agent.

use super::{Kernel, Rig, World};
use crate::{
    BatchLimits, ClosingReason, Outcome, Range, Region, RegionKind, Settings, ShadowMode, VerifyMode, WindowKind,
    WindowMode, Writers,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// Memory is given back to its pool within the window, and allocated again: at the same place, at a part of it, and across
/// what was given back and what the window's start did not know.
pub fn memory_given_back_within_a_batch_window_is_put_back_for_each_pass<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
            let mut world = World::new(rig, Settings { verify, shadow, ..batch(3) });
            if !world.observes_or_skips() {
                return;
            }
            let when = format!("{verify:?} {shadow:?}");
            let out = world.allocate(8192);
            let pool = world.pool(32 << 10);
            let at = |from: u64, bytes: u64| Range::new(pool.base + from, bytes);
            let over = Arc::new(AtomicU32::new(0));
            let ended = || {
                let over = Arc::clone(&over);
                move || {
                    over.fetch_add(1, Ordering::Relaxed);
                }
            };
            for round in 0..3u32 {
                let (first, second) = (at(0, 8192), at(8192, 4096));
                world.allocate_within(first);
                world.allocate_within(second);
                world.launch(&Kernel::Fill { to: first, value: 7 + round });
                world.launch(&Kernel::Fill { to: second, value: 9 });
                world.close_window();
                // In place, and accumulating: what a pass leaves is seen by the next, unless it is put back.
                world.launch(&Kernel::Add { at: first, value: 3 });
                world.launch(&Kernel::Accumulate { from: first, to: out.base });
                world.give_back(first, ended());
                assert_eq!(over.load(Ordering::Relaxed), round * 4, "{when}: its window is open");
                // The same place, with what was left there.
                world.allocate_within(first);
                world.launch(&Kernel::Add { at: first, value: 5 });
                world.launch(&Kernel::Accumulate { from: first, to: out.base + 4 });
                world.give_back(first, ended());
                world.give_back(second, ended());
                // A part of it, and one that begins in it and ends where nothing was.
                let (part, across) = (at(1024, 2048), at(6144, 10 << 10));
                world.allocate_within(part);
                world.allocate_within(across);
                world.launch(&Kernel::Add { at: part, value: 11 });
                world.operate(&Kernel::Fill { to: across, value: round });
                world.check(&when);
                world.close_window();
                assert_eq!(over.load(Ordering::Relaxed), round * 4 + 3, "{when}: the window is over");
                world.check(&when);
                world.launch(&Kernel::Add { at: across, value: 1 });
                world.launch(&Kernel::Accumulate { from: across, to: out.base + 8 });
                world.close_window();
                world.check(&when);
                world.give_back(part, ended());
                assert_eq!(over.load(Ordering::Relaxed), round * 4 + 4, "{when}: no window needs it");
                world.give_back(across, || ());
                let records = world.log.take_dispatches();
                assert_eq!(records.len(), 9, "{when}");
                for record in &records {
                    assert_eq!(record.outcome, Outcome::Replayed, "{when}: {record:?}");
                    assert_eq!(record.divergence, None, "{when}: {record:?}");
                }
            }
            let windows = world.log.windows();
            assert!(windows.iter().all(|window| window.closing != ClosingReason::Freed), "{when}: {windows:?}");
        }
    }
}

/// The test above can fail: without restores later passes do other work.
pub fn memory_given_back_and_not_put_back_is_noticed<R: Rig>(rig: &R) {
    let mut world = World::new(rig, Settings { skip_restore_for_tests: true, ..batch(3) });
    if !world.observes_or_skips() {
        return;
    }
    let pool = world.pool(4096);
    world.allocate_within(pool);
    world.launch(&Kernel::Fill { to: pool, value: 1 });
    world.close_window();
    world.launch(&Kernel::Add { at: pool, value: 1 });
    world.give_back(pool, || ());
    world.allocate_within(pool);
    world.launch(&Kernel::Add { at: pool, value: 2 });
    world.close_window();
    assert!(world.record().divergence.is_some());
}

/// Memory that is given back and that another agent gets within the window: replays may not write it any more.
pub fn memory_that_goes_to_somebody_else_ends_the_window<R: Rig>(rig: &R) {
    let mut world = World::new(rig, batch(3));
    if !world.observes_or_skips() {
        return;
    }
    let pool = world.pool(4096);
    world.allocate_within(pool);
    world.launch(&Kernel::Add { at: pool, value: 1 });
    world.give_back(pool, || ());
    let elsewhere = Range::new(pool.base + 2048, 1024);
    world.engine.region_born(Region { range: elsewhere, kind: RegionKind::Imported, writers: Writers::Others });
    let windows = world.log.windows();
    assert_eq!(windows.iter().map(|window| window.closing).collect::<Vec<_>>(), [ClosingReason::Freed]);
    assert_eq!(world.record().outcome, Outcome::Replayed);
    drop(world.engine.region_retire(elsewhere.base));
}

/// A later pass writes where pass 0 did not.
pub fn an_escape_in_a_batch_window_is_found_and_undone<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        let mut world = World::new(rig, Settings { verify, ..batch(4) });
        if !world.observes_or_skips() {
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
    if !world.observes_or_skips() {
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
    if !world.observes_or_skips() {
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
