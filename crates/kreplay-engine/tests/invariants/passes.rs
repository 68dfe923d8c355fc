//! Invariants 2 and 3: the program launches once, and every pass starts from the same memory.

use crate::setup::rig;
use crate::support::{allocate, info, launch, settings};
use kreplay_engine::conformance::{Kernel, Log, Rig, World};
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{ByPlan, Engine, EveryKernel, Process, RestoreMode, Settings, VerifyMode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn invariant_2_the_program_launches_once_and_each_dispatch_has_one_id() {
    let rig = rig();
    let agent = rig.agent();
    let mut world = World::new(&rig, Settings { uncounted_passes: 5, ..Settings::default() });
    let a = world.allocate(64);
    for _ in 0..3 {
        world.launch(&Kernel::Add { at: a, value: 1 });
    }
    assert_eq!(agent.submissions(), 3 * 4, "the fifth pass of each is the program's own");
    let records = world.log.take_dispatches();
    assert_eq!(records.iter().map(|record| record.id.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(world.log.windows().iter().map(|window| window.dispatches).collect::<Vec<_>>(), [1, 1, 1]);
}

/// What each pass of a kernel saw.
fn inputs(settings: Settings) -> (Vec<u32>, Arc<Log>) {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    let (region, secret) = (allocate(&agent, &engine, 9000), allocate(&agent, &engine, 9000));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log_input, runs) = (seen.clone(), AtomicU32::new(0));
    let work = Work::new(move |memory| {
        log_input.lock().unwrap().push(memory.load(region.base).wrapping_add(memory.load(secret.base + 8000)));
        memory.store(region.base, 7 + memory.load(region.base));
        if runs.fetch_add(1, Ordering::SeqCst) == 1 {
            memory.store(secret.base + 8000, 1);
        }
    });
    launch(&engine, &info(1), 0, &work).expect("a window");
    let inputs = seen.lock().unwrap().clone();
    (inputs, log)
}

#[test]
fn invariant_3_every_pass_starts_from_the_same_memory_or_is_reported() {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for restore in [RestoreMode::Observed, RestoreMode::Full] {
            // Pass 1 writes where pass 0 did not.
            let (inputs, log) = inputs(Settings { verify, restore, ..settings(4) });
            let same = inputs.iter().all(|input| *input == inputs[0]);
            let record = log.last_dispatch();
            let hashed = verify != VerifyMode::Off;
            match restore {
                RestoreMode::Full => {
                    assert!(same, "{verify:?}: {inputs:?}");
                    assert_eq!(record.divergence.is_some(), hashed);
                }
                RestoreMode::Observed => {
                    assert_eq!(same, verify == VerifyMode::All, "checked after every pass, it is undone at once");
                    assert!(record.divergence.is_some_and(|divergence| divergence.escaped));
                }
            }
            assert_eq!(inputs[0], *inputs.last().unwrap(), "the program's own pass sees what it would have seen");
        }
    }
}
