//! The engine on the agent: memory is what one run leaves, whatever the settings.

use super::{Kernel, Rig, World};
use crate::{Outcome, Range, Reach, RestoreMode, Settings, ShadowMode, VerifyMode};

/// Every combination that changes what the engine does.
pub fn settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
            for (shadow, reach) in [
                (ShadowMode::Safe, Reach::All),
                (ShadowMode::Trusted, Reach::All),
                (ShadowMode::Safe, Reach::Arguments),
                (ShadowMode::Trusted, Reach::Arguments),
            ] {
                if restore == RestoreMode::Full && (shadow, reach) != (ShadowMode::Safe, Reach::All) {
                    continue;
                }
                for uncounted_passes in [1, 2, 3, 5] {
                    let settings = Settings { restore, verify, shadow, reach, uncounted_passes, ..Settings::default() };
                    all.push(Settings { record_write_sets: true, ..settings });
                }
            }
        }
    }
    all
}

/// A program of in-place, accumulating and copying kernels, with API writes, frees and allocations between them.
pub fn every_setting_leaves_what_one_run_leaves<R: Rig>(rig: &R) {
    for settings in settings() {
        let when = format!("{settings:?}");
        let passes = settings.uncounted_passes;
        let mut world = World::new(rig, settings);
        let (a, b) = (world.allocate(8196), world.allocate(4096));
        let c = world.allocate(9004);
        let program = |world: &mut World<'_, R>, d: Range| {
            world.launch(&Kernel::Add { at: a, value: 3 });
            world.launch(&Kernel::Accumulate { from: Range::new(a.base, 1000), to: b.base + 8 });
            world.write(Range::new(c.base + 5, 7), b"by call");
            world.launch(&Kernel::Copy { to: c.base + 4096, from: Range::new(b.base, 2048) });
            world.launch(&Kernel::Fill { to: Range::new(d.base + 4, 1000), value: 77 });
            world.launch(&Kernel::Accumulate { from: d, to: b.base + 8 });
            world.launch(&Kernel::Add { at: Range::new(a.base + 8192, 4), value: 1 });
        };
        let d = world.allocate(5000);
        program(&mut world, d);
        world.check(&when);
        world.free(d);
        let d = world.allocate(5000);
        program(&mut world, d);
        program(&mut world, d);
        world.check(&when);
        for record in world.log.take_dispatches() {
            let outcome = if passes == 1 { Outcome::Counted } else { Outcome::Replayed };
            assert_eq!(record.outcome, outcome, "{when}: {record:?}");
            assert_eq!((record.passes_asked, record.passes_done), (passes, passes), "{when}");
            assert_eq!(record.divergence, None, "{when}: {record:?}");
        }
    }
}

/// The test above can fail: without the restore, kernels that read what they write give other results, and only those.
pub fn leaving_the_restore_out_is_noticed<R: Rig>(rig: &R) {
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        let settings = Settings { restore, uncounted_passes: 3, ..Settings::default() };
        let mut world = World::new(rig, Settings { skip_restore_for_tests: true, ..settings });
        let (a, b, c) = (world.allocate(4096), world.allocate(64), world.allocate(4096));
        world.launch(&Kernel::Fill { to: c, value: 9 });
        world.launch(&Kernel::Copy { to: c.base, from: Range::new(a.base, 2048) });
        world.check("kernels that do not read what they write need no restore");
        for kernel in [Kernel::Add { at: a, value: 1 }, Kernel::Accumulate { from: a, to: b.base }] {
            world.launch_apart(&kernel);
            let [read, ran] = match kernel {
                Kernel::Add { .. } => [a, a],
                _ => [b, b],
            };
            let before = rig.read(read);
            world.model_run(&kernel);
            assert!(rig.read(ran) == before);
            let wrong = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.check("")));
            assert!(wrong.is_err(), "{restore:?}: {} ran three times and nobody noticed", kernel.name());
            // Set the world right again for the next one.
            for _ in 0..2 {
                world.model_run(&kernel);
            }
            world.check("three runs");
            if world.observes() {
                assert!(world.record().divergence.is_some(), "{restore:?}: {}", kernel.name());
            }
        }
    }
}

/// Chunk by chunk, cut at region ends.
pub fn the_write_set_is_what_was_written<R: Rig>(rig: &R) {
    let settings = Settings { record_write_sets: true, uncounted_passes: 3, ..Settings::default() };
    let mut world = World::new(rig, settings);
    if !world.observes_or_skips() {
        return;
    }
    let a = world.allocate(5 * 4096 + 100);
    let b = world.allocate(8192);
    world.launch(&Kernel::Add { at: Range::new(a.base + 4096 + 8, 4096), value: 1 });
    let write_set = |world: &World<'_, R>| world.record().write_set.expect("it was asked for").to_vec();
    assert_eq!(write_set(&world), [Range::new(a.base + 4096, 8192)]);
    world.launch(&Kernel::Add { at: Range::new(a.base + 5 * 4096 + 96, 4), value: 1 });
    assert_eq!(write_set(&world), [Range::new(a.base + 5 * 4096, 100)]);
    world.launch(&Kernel::Copy { to: b.base + 4, from: Range::new(a.base, 4) });
    assert_eq!(write_set(&world), [Range::new(b.base, 4096)]);
    let record = world.record();
    assert_eq!((record.bytes.footprint, record.bytes.write_set), (a.bytes + b.bytes, 4096));
    assert_eq!(record.bytes.restored_device, 2 * 4096, "put back after each pass but the last, and no more");
    // A kernel that writes what was there already writes nothing that needs a restore.
    world.launch(&Kernel::Add { at: b, value: 0 });
    assert_eq!(write_set(&world), []);
    world.check("write sets");
}

/// An atomic append lands elsewhere in every pass: what remains is the program's own append alone.
pub fn a_moving_write_set_leaves_one_real_run<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for passes in [2, 3, 5] {
            let mut world = World::new(rig, Settings { verify, uncounted_passes: passes, ..Settings::default() });
            let to = world.allocate(64 * 4096);
            let counter = world.hidden();
            // One append a chunk: pass n writes chunk 9n + 3, so the passes' write sets are apart.
            world.set_hidden(3);
            world.launch_apart(&Kernel::Append { counter, to, stride: 1024 * 9 });
            // The model's one run is the program's own, the last.
            world.set_hidden(3 + passes - 1);
            world.model_run(&Kernel::Append { counter, to, stride: 1024 * 9 });
            world.check(&format!("{verify:?}, {passes} passes"));
            let record = world.record();
            assert_eq!(record.outcome, Outcome::Replayed);
            if world.observes() {
                let divergence = record.divergence.expect("every pass wrote elsewhere");
                assert!(divergence.escaped || verify != VerifyMode::Off, "{divergence:?}");
            }
        }
    }
}

/// What the host-tier fallback does.
pub fn host_staging_carries_a_footprint_too<R: Rig>(rig: &R) {
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        for passes in [2, 3] {
            // A reserve that nothing can meet sends every region to host staging.
            let settings = Settings { restore, uncounted_passes: passes, ..Settings::default() };
            let mut world = World::new(rig, Settings { device_reserve: u64::MAX, ..settings });
            let (a, b) = (world.allocate(10_000), world.allocate(64));
            for _ in 0..3 {
                world.launch(&Kernel::Add { at: a, value: 5 });
                world.launch(&Kernel::Accumulate { from: a, to: b.base });
            }
            world.check("host staging");
            let record = world.record();
            assert_eq!((record.outcome.clone(), record.divergence.clone()), (Outcome::Replayed, None));
            assert_eq!((record.bytes.captured_device, record.bytes.restored_device), (0, 0));
            assert!(record.bytes.host_high_water >= a.bytes + b.bytes);
            assert_eq!(record.bytes.device_held, 0);
        }
    }
}

/// Of a snapshot in the host tier too it is known what was written, and only that crosses the link.
pub fn snapshots_on_the_host_tell_what_was_written<R: Rig>(rig: &R) {
    for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
        let settings = Settings { shadow, uncounted_passes: 3, device_reserve: u64::MAX, ..Settings::default() };
        let mut world = World::new(rig, settings);
        if !world.observes() {
            return;
        }
        let (a, b) = (world.allocate(10_000), world.allocate(64));
        let (middle, end) = (Range::new(a.base + 4100, 8), Range::new(a.end() - 4, 4));
        // Beyond the windows that look at everything.
        for round in 0..12 {
            let when = format!("{shadow:?}, round {round}");
            for (kernel, written) in [
                (Kernel::Accumulate { from: a, to: b.base }, b.bytes),
                (Kernel::Add { at: middle, value: 5 }, 4096),
                (Kernel::Add { at: end, value: 7 }, a.bytes - 8192),
            ] {
                // What the program writes by calls is not what a kernel wrote.
                world.write(Range::new(a.base + 4000, 200), &[round; 200]);
                world.launch(&kernel);
                world.check(&when);
                let record = world.record();
                assert_eq!((record.outcome, record.divergence), (Outcome::Replayed, None), "{when}");
                assert_eq!(record.bytes.write_set, written, "{when}: {}", kernel.name());
                assert_eq!(record.bytes.restored_host, written * 2, "{when}: {}", kernel.name());
                let first = round == 0 && matches!(kernel, Kernel::Accumulate { .. });
                let most = if first { a.bytes + b.bytes } else { 2 * 4096 };
                assert!(record.bytes.captured_host <= most + written, "{when}: {:?}", record.bytes);
            }
        }
    }
}

/// One pass: the program's own, and no backing.
pub fn counted_once_is_not_snapshotted<R: Rig>(rig: &R) {
    let mut world = World::new(rig, Settings { uncounted_passes: 1, ..Settings::default() });
    let a = world.allocate(10_000);
    let status = world.launch(&Kernel::Add { at: a, value: 1 }).expect("a window");
    assert_eq!((status.outcome, status.passes_done), (Outcome::Counted, 1));
    world.check("counted once");
    let record = world.record();
    assert_eq!(record.bytes, crate::Bytes { host_high_water: record.bytes.host_high_water, ..Default::default() });
    assert_eq!(world.engine.shadow_bytes(), 0);
}
