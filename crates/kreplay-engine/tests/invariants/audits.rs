//! Full looks that faster modes make: what they would have missed is recorded.

use crate::support::{add, allocate, info, launch, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    Arguments, Audit, AuditKind, ByPlan, DispatchInfo, Engine, EveryKernel, Process, Range, Reach, Settings, ShadowMode,
};
use std::sync::Arc;

const CHUNK: u64 = 4096;

fn audit(kind: AuditKind, surprise_bytes: u64) -> Option<Audit> {
    Some(Audit { kind, surprise_bytes })
}

#[test]
fn an_audit_of_a_trusted_shadow_tells_what_was_written_unseen() {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let settings = Settings { shadow: ShadowMode::Trusted, ..settings(3) };
    let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).expect("nothing is asked for");
    let region = allocate(&agent, &engine, 8 * CHUNK);
    let step = add(Range::new(region.base, 64), 1);
    let mut audits = Vec::new();
    for round in 0..3 {
        if round == 2 {
            // Nobody tells the engine of these two chunks.
            for at in [2, 5] {
                agent.with_memory(|memory| memory.store(region.base + at * CHUNK, 77));
            }
        }
        launch(&engine, &info(1), 0, &step).expect("a window");
        audits.push(log.last_dispatch().audit);
    }
    let quiet = audit(AuditKind::Shadow, 0);
    // There is no shadow before the first window.
    assert_eq!(audits, [None, quiet, audit(AuditKind::Shadow, 2 * CHUNK)]);
    assert!(log.warnings().contains(&"trust_off"));
    launch(&engine, &info(1), 0, &step).expect("a window");
    assert_eq!(log.last_dispatch().audit, None, "everything is looked at, so there is nothing to audit");
}

#[test]
fn an_audit_of_what_arguments_reach_tells_what_was_written_elsewhere() {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let settings = Settings { reach: Reach::Arguments, ..settings(3) };
    let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).expect("nothing is asked for");
    let (at, elsewhere) = (allocate(&agent, &engine, CHUNK), allocate(&agent, &engine, 4 * CHUNK));
    let launch_on = |key, work: &Work| {
        let arguments = Arguments::Known(at.base.to_le_bytes().to_vec().into());
        launch(&engine, &DispatchInfo { arguments, ..info(key) }, 0, work).expect("a window");
        log.last_dispatch().audit
    };
    assert_eq!(launch_on(1, &add(at, 1)), audit(AuditKind::Reach, 0));
    let both = Work::new(move |memory| {
        for address in [at.base, elsewhere.base + 2 * CHUNK] {
            let sum = memory.load(address) + 1;
            memory.store(address, sum);
        }
    });
    assert_eq!(launch_on(2, &both), audit(AuditKind::Reach, CHUNK));
    assert_eq!(launch_on(2, &both), None, "every region is looked at for it");
}
