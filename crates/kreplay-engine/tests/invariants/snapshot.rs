//! Invariant 4: a snapshot is whole, and nothing is restored into a region of another generation.

use crate::setup::{modes, rig};
use crate::support::{allocate, info, launch, settings};
use kreplay_engine::conformance::{Kernel, Log, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent, Work};
use kreplay_engine::{
    Decline, DispatchInfo, Engine, EveryKernel, Outcome, PassEnd, Policy, Process, Range, Region, RegionKind,
    RestoreMode, Settings, VerifyMode, Writers,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

#[test]
fn invariant_4_a_snapshot_is_whole_or_the_dispatch_declines() {
    for settings in modes() {
        for (call, fault, reason) in [
            (Call::Copy, Fault::Fails, Decline::CaptureFailed),
            (Call::Copy, Fault::FailsLater, Decline::CaptureFailed),
            (Call::Allocate, Fault::Denied, Decline::NoBacking),
        ] {
            let rig = rig();
            let agent = rig.agent();
            let mut world = World::new(&rig, settings.clone());
            let a = world.allocate(9000);
            agent.fail_every(Some((call, fault)));
            world.launch(&Kernel::Add { at: a, value: 1 });
            agent.fail_every(None);
            let outcome = world.record().outcome;
            assert!(matches!(outcome, Outcome::Declined { reason: why, .. } if why == reason), "{outcome:?}");
            assert_eq!(agent.submissions(), 0, "no pass runs without a snapshot");
            world.check("the program's own launch");
        }
    }
}

/// A tool's callback that frees a region within the window, and has its address given out anew.
struct Frees {
    engine: Mutex<Option<Arc<Engine<MemoryAgent>>>>,
    victim: Mutex<Option<Range>>,
}

impl Policy for Frees {
    fn proceed(&self, _: &DispatchInfo, _: PassEnd) -> bool {
        if let Some(victim) = self.victim.lock().unwrap().take() {
            let engine = self.engine.lock().unwrap().clone().unwrap();
            let retired = engine.region_retire(victim.base).unwrap();
            // Work on the freed bytes is done before a real free returns.
            engine.agent().program_synchronise();
            engine.agent().with_memory(|memory| memory.bytes_mut(victim).fill(0));
            engine.agent().program_free(victim.base);
            drop(retired);
            engine.agent().program_allocate_at(victim.base, victim.bytes);
            engine.agent().with_memory(|memory| memory.bytes_mut(victim).fill(0x77));
            engine.region_born(Region { range: victim, kind: RegionKind::Device, writers: Writers::Seen });
        }
        true
    }
}

#[test]
fn invariant_4_nothing_is_restored_into_a_region_of_another_generation() {
    for (restore, verify) in [
        (RestoreMode::Observed, VerifyMode::Off),
        (RestoreMode::Observed, VerifyMode::Outputs),
        (RestoreMode::Observed, VerifyMode::All),
        (RestoreMode::Full, VerifyMode::Outputs),
    ] {
        for device_reserve in [0, u64::MAX] {
            let agent = MemoryAgent::builder(0).eager().build();
            let log = Log::new();
            let policy = Arc::new(Frees { engine: Default::default(), victim: Default::default() });
            let limits = Settings { restore, verify, device_reserve, ..settings(4) };
            let process = Process::new(limits, Arc::new(EveryKernel), policy.clone(), log.clone());
            let engine = Engine::new(agent.clone(), None, process).unwrap();
            let (a, b) = (allocate(&agent, &engine, 4096), allocate(&agent, &engine, 8192));
            *policy.engine.lock().unwrap() = Some(engine.clone());
            *policy.victim.lock().unwrap() = Some(b);
            // Pass 0 writes both, so that a restore would write the second one back.
            let first = Arc::new(AtomicBool::new(true));
            let work = Work::new(move |memory| {
                let value = memory.load(a.base) + 1;
                memory.store(a.base, value);
                if first.swap(false, Ordering::SeqCst) {
                    memory.store(b.base, 1);
                }
            });
            let before = agent.with_memory(|memory| memory.load(a.base));
            launch(&engine, &info(1), 0, &work).expect("a window");
            assert_eq!(agent.with_memory(|memory| memory.load(a.base)), before + 1);
            assert!(agent.program_read(b) == [0x77; 8192], "{restore:?} {verify:?}: a new region was written");
            let record = log.last_dispatch();
            assert_eq!(record.outcome, Outcome::Replayed);
            assert!(record.notes.iter().any(|note| note.contains("freed within the window")), "{:?}", record.notes);
            *policy.engine.lock().unwrap() = None;
            engine.finish(Instant::now());
            assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
        }
    }
}
