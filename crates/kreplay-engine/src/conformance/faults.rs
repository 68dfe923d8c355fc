//! The engine when something goes wrong: escaped writes, foreign writers, address reuse, failed and forgotten launches.

use super::kernel::ESCAPED;
use super::{Kernel, Rig, World};
use crate::{
    Arguments, Decision, Decline, LastPass, Outcome, Range, Region, RegionKind, RestoreMode, Settings, ShadowMode,
    VerifyMode, Writers,
};

fn observed(verify: VerifyMode, passes: u32) -> Settings {
    Settings { verify, uncounted_passes: passes, ..Settings::default() }
}

/// A pass of ours writes where pass 0 did not: named, undone, and nobody else's bytes are touched.
pub fn an_escape_in_a_middle_pass_is_found_and_undone<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        let mut world = World::new(rig, observed(verify, 4));
        if !world.observes_or_skips() {
            return;
        }
        let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
        let counter = world.hidden();
        let escape = Kernel::Escape { counter, pass: 1, at, to: to.base + 4096 + 12 };
        world.launch_apart(&escape);
        world.model_run(&Kernel::Add { at, value: 1 });
        world.check(&format!("{verify:?}"));
        let record = world.record();
        let divergence = record.divergence.expect("the escape is reported");
        assert!(divergence.escaped);
        assert_eq!((divergence.range, divergence.bytes), (Range::new(to.base + 4096, 4096), 4096));
        if verify == VerifyMode::All {
            assert_eq!(divergence.pass, Some(1), "checked after every pass");
        }
        assert_eq!((record.outcome, record.passes_done), (Outcome::Replayed, 4));
        // The next window is as good as the first.
        world.launch(&Kernel::Add { at: to, value: 1 });
        world.check("the window after an escape");
        assert_eq!(world.record().divergence, None);
    }
}

/// The program's own pass writes where pass 0 did not: that is what its one run did, so it stays, and is reported.
pub fn an_escape_in_the_last_pass_is_found<R: Rig>(rig: &R) {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for passes in [2, 3] {
            let mut world = World::new(rig, observed(verify, passes));
            if !world.observes_or_skips() {
                return;
            }
            let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
            let counter = world.hidden();
            let last = passes - 1;
            world.launch_apart(&Kernel::Escape { counter, pass: last, at, to: to.base + 8 });
            world.model_run(&Kernel::Add { at, value: 1 });
            world.model_run(&Kernel::Fill { to: Range::new(to.base + 8, 4), value: ESCAPED });
            world.check(&format!("{verify:?}, {passes} passes"));
            let divergence = world.record().divergence.expect("the escape is reported");
            assert!(divergence.escaped);
            assert_eq!((divergence.pass, divergence.range), (Some(last), Range::new(to.base, 4096)));
            world.launch(&Kernel::Add { at: to, value: 1 });
            world.check("the window after an escape");
            assert_eq!(world.record().divergence, None);
        }
    }
}

/// Somebody who tells nobody writes between two windows. By default that is kept; trust notices it and ends.
pub fn a_foreign_write_between_windows_is_kept<R: Rig>(rig: &R) {
    for (restore, shadow, writers) in [
        (RestoreMode::Full, ShadowMode::Safe, Writers::Seen),
        (RestoreMode::Observed, ShadowMode::Safe, Writers::Seen),
        (RestoreMode::Observed, ShadowMode::Trusted, Writers::Seen),
        (RestoreMode::Observed, ShadowMode::Trusted, Writers::Others),
    ] {
        let mut world = World::new(rig, Settings { restore, shadow, uncounted_passes: 3, ..Settings::default() });
        let a = world.allocate(8192);
        let shared = world.allocate_as(3 * 4096, RegionKind::Device, writers);
        world.launch(&Kernel::Add { at: a, value: 1 });
        world.write_unseen(shared.base + 4097, b"from elsewhere");
        // It writes beside the foreign bytes, in the same chunk.
        world.launch(&Kernel::Add { at: Range::new(shared.base + 4096 + 64, 64), value: 1 });
        world.check(&format!("{restore:?} {shadow:?} {writers:?}"));
        let surprised = shadow == ShadowMode::Trusted && writers == Writers::Seen && world.observes();
        assert_eq!(world.log.warnings().contains(&"trust_off"), surprised, "{restore:?} {shadow:?} {writers:?}");
    }
}

/// Memory that was freed, and memory that came to its address, are not written by a restore, between windows or inside.
pub fn a_freed_region_is_never_written<R: Rig>(rig: &R) {
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        let mut world = World::new(rig, Settings { restore, uncounted_passes: 3, ..Settings::default() });
        let (a, b) = (world.allocate(8192), world.allocate(8192));
        world.launch(&Kernel::Add { at: b, value: 1 });
        // The region is retired and born anew at the same address inside the window, as a callback on the launching
        // thread may do; what it holds then is not the snapshot's business.
        let kernel = Kernel::Add { at: a, value: 1 };
        let Decision::Window(mut window) = world.engine.dispatch(&world.info(&kernel), || Ok(rig.work(&kernel))) else {
            panic!("{restore:?}: no window");
        };
        window.run_until_last();
        world.rig.launch(&kernel);
        let retired = world.engine.region_retire(b.base).expect("it is known");
        let generation =
            world.engine.region_born(Region { range: b, kind: RegionKind::Device, writers: Writers::Seen });
        assert_ne!(retired.generation(), generation);
        world.write_unseen(b.base, &[7; 8192]);
        window.close(LastPass::Submitted);
        world.model_run(&kernel);
        world.check(&format!("{restore:?}, within a window"));
        world.launch(&Kernel::Add { at: Range::new(b.base, 64), value: 1 });
        world.check(&format!("{restore:?}, the new region's first window"));
    }
}

/// The vendor's launch call fails: nothing ran, memory is the snapshot, the dispatch declines.
pub fn a_failed_launch_of_the_program_leaves_the_snapshot<R: Rig>(rig: &R) {
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        for passes in [1, 2, 4] {
            let mut world = World::new(rig, Settings { restore, uncounted_passes: passes, ..Settings::default() });
            let a = world.allocate(8192);
            let kernel = Kernel::Add { at: a, value: 1 };
            let Decision::Window(mut window) = world.engine.dispatch(&world.info(&kernel), || Ok(rig.work(&kernel)))
            else {
                panic!("no window");
            };
            window.run_until_last();
            let status = window.close(LastPass::Failed("invalid configuration".into()));
            world.check(&format!("{restore:?}, {passes} passes, nothing ran"));
            assert!(matches!(status.outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
            assert_eq!(status.passes_done, passes - 1);
            world.launch(&kernel);
            world.check("the launch after it");
            let outcome = if passes == 1 { Outcome::Counted } else { Outcome::Replayed };
            assert_eq!(world.record().outcome, outcome);
        }
    }
}

/// A window that nobody closes: before it ran, and after.
pub fn a_dropped_window_leaves_memory_alone<R: Rig>(rig: &R) {
    for ran in [false, true] {
        let mut world = World::new(rig, observed(VerifyMode::Outputs, 3));
        let a = world.allocate(8192);
        let kernel = Kernel::Add { at: a, value: 1 };
        let Decision::Window(mut window) = world.engine.dispatch(&world.info(&kernel), || Ok(rig.work(&kernel))) else {
            panic!("no window");
        };
        if ran {
            window.run_until_last();
        }
        drop(window);
        world.check("a dropped window");
        assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
        // The agent is free again.
        world.launch(&kernel);
        world.check("the launch after it");
        assert_eq!(world.record().outcome, Outcome::Replayed);
        // What the interceptor knows nothing of declines only when it matters.
        let unknown = crate::DispatchInfo { arguments: Arguments::Unknown, ..world.info(&kernel) };
        let window = world.engine.dispatch(&unknown, || Ok(rig.work(&kernel)));
        assert!(matches!(window, Decision::Window(_)));
        drop(window);
        world.allocate_as(64, RegionKind::Untracked, Writers::Others);
        let run = world.engine.dispatch(&unknown, || panic!("not recorded when it declines"));
        assert!(matches!(run, Decision::Run(_)));
        let reason = Decline::UnknownArguments;
        assert!(matches!(world.record().outcome, Outcome::Declined { reason: why, .. } if why == reason));
    }
}
