//! Invariant 1: after any window device memory is what an unprofiled run leaves.

use crate::setup::{modes, rig};
use crate::support::{add, allocate, info, launch, settings};
use kreplay_engine::conformance::{Kernel, Log, Rig, World};
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    ByPlan, Engine, EveryKernel, ModuleVariable, Process, Range, Region, RegionKind, Settings, ShadowMode, Writers,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn invariant_1_memory_is_what_an_unprofiled_run_leaves() {
    for settings in modes() {
        let rig = rig();
        let mut world = World::new(&rig, settings);
        let (a, b) = (world.allocate(20_000), world.allocate(64));
        for round in 0..20 {
            world.launch(&Kernel::Add { at: a, value: round });
            world.launch(&Kernel::Accumulate { from: Range::new(a.base, 8000), to: b.base });
            world.write(Range::new(b.base + 8, 4), &[round as u8; 4]);
        }
        world.check("forty windows");
    }
}

#[test]
fn invariant_1_what_another_writer_put_there_between_windows_is_not_lost() {
    for settings in modes() {
        let rig = rig();
        let mut world = World::new(&rig, settings);
        let shared = world.allocate_as(20_000, RegionKind::Device, Writers::Others);
        for round in 0..20u8 {
            world.write_unseen(shared.base + 4096 + u64::from(round), &[round ^ 0x55; 8]);
            world.launch(&Kernel::Add { at: Range::new(shared.base + 4096 + 512, 256), value: 1 });
        }
        world.check("twenty foreign writes");
    }
}

/// A pass writes something else than pass 0 did, and elsewhere, long after the audits of trusted windows. Once that is
/// known, neither the program's own pass nor the next window builds on what was not looked at.
#[test]
fn invariant_1_what_divergent_passes_wrote_elsewhere_is_undone_or_kept_in_trusted_windows() {
    const PASSES: u32 = 4;
    const WINDOWS: u32 = 12;
    for escaping in [1, 2, PASSES - 1] {
        let agent = MemoryAgent::builder(0).build();
        let log = Log::new();
        let settings = Settings { shadow: ShadowMode::Trusted, ..settings(PASSES) };
        let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
        let engine = Engine::new(Arc::clone(&agent), None, process).expect("nothing is asked for");
        let (at, elsewhere) = (allocate(&agent, &engine, 8192), allocate(&agent, &engine, 8192));
        let read = |address| agent.with_memory(|memory| memory.load(address));
        let before = read(elsewhere.base);
        let runs = Arc::new(AtomicU32::new(0));
        let divergent = Work::new(move |memory| {
            let sum = memory.load(at.base) + 1;
            memory.store(at.base, sum);
            let run = runs.fetch_add(1, Ordering::Relaxed);
            if run / PASSES != WINDOWS - 1 {
                return;
            }
            // In the last of the windows pass 1 and the program's own differ, and one writes elsewhere.
            let pass = run % PASSES;
            if pass == 1 || pass == escaping {
                memory.store(at.base + 8, 7 + pass);
            }
            if pass == escaping {
                memory.store(elsewhere.base, 77);
            }
        });
        for _ in 0..WINDOWS {
            launch(&engine, &info(1), 0, &divergent).expect("a window");
        }
        let divergence = log.last_dispatch().divergence.expect("it is reported");
        assert_eq!((divergence.pass, divergence.range), (Some(1), Range::new(at.base, 4096)));
        let expected = if escaping == PASSES - 1 { 77 } else { before };
        assert_eq!(read(elsewhere.base), expected, "pass {escaping} wrote elsewhere");
        assert!(log.warnings().contains(&"trust_off"));
        // The next window writes beside it, in the same chunk.
        launch(&engine, &info(2), 0, &add(Range::new(elsewhere.base + 8, 4), 1)).expect("a window");
        assert_eq!(read(elsewhere.base), expected, "pass {escaping}, after the next window");
    }
}

#[test]
fn invariant_1_module_variables_are_captured_and_kernel_arguments_never_restored() {
    for settings in modes() {
        let rig = rig();
        let agent = rig.agent();
        let world = World::new(&rig, settings);
        let (variables, arguments) = (Range::new(rig.allocate(64), 64), Range::new(rig.allocate(64), 64));
        rig.write(variables.base, &[1; 64]);
        rig.write(arguments.base, &[2; 64]);
        let variable = |name: &str, at, constant| ModuleVariable {
            name: name.into(),
            range: Range::new(at, 8),
            constant,
            managed: false,
        };
        world.engine.code_loaded(
            9,
            vec![
                variable("count", variables.base, false),
                variable("__hip_cuid_1234", variables.base + 16, false),
                variable("table", variables.base + 32, true),
            ],
        );
        let kind = RegionKind::KernelArguments;
        world.engine.region_born(Region { range: arguments, kind, writers: Writers::Seen });
        // One kernel that adds 1 to everything: what is put back ran once, what is not ran three times.
        let both = [variables, arguments];
        let work = Work::new(move |memory| {
            for range in both {
                memory.bytes_mut(range).iter_mut().for_each(|byte| *byte += 1);
            }
        });
        launch(&world.engine, &info(77), 0, &work).expect("a window");
        let found = rig.read(variables);
        assert_eq!((&found[..8], &found[16..24], &found[32..40]), (&[2; 8][..], &[4; 8][..], &[4; 8][..]));
        assert_eq!(rig.read(arguments), [5; 64]);
        assert_eq!(world.record().bytes.footprint, 8);
        world.engine.code_unloaded(9);
        launch(&world.engine, &info(77), 0, &work).expect("a window");
        assert_eq!(world.record().bytes.footprint, 0);
        assert_eq!(agent.usage().device, 0, "nothing is kept for code that is gone");
    }
}
