//! Threads that share a window.

use crate::setup::batch;
use crate::support::{info, launch, limits};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    BatchLimits, ByPlan, Engine, EveryKernel, Outcome, Process, Range, Region, RegionKind, Settings, VerifyMode,
    Writers,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn threads_share_a_window() {
    for verify in [VerifyMode::Outputs, VerifyMode::All] {
        let limits = BatchLimits { dispatches: 16, ..limits() };
        let agent = MemoryAgent::builder(0).build();
        let log = Log::new();
        let settings = Settings { verify, batch: limits, ..batch(3) };
        let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
        let engine = Engine::new(agent.clone(), None, process).unwrap();
        let regions: Vec<Range> = (0..4)
            .map(|_| {
                let own = Range::new(agent.program_allocate(1024), 1024);
                agent.with_memory(|memory| memory.bytes_mut(own).fill(0));
                engine.region_born(Region { range: own, kind: RegionKind::Device, writers: Writers::Seen });
                own
            })
            .collect();
        std::thread::scope(|scope| {
            for (thread, own) in (0..).zip(regions) {
                let (agent, engine) = (&agent, &engine);
                scope.spawn(move || {
                    let mut expected = 0u32;
                    for round in 0..100 {
                        let kernel = Work::new(move |memory| {
                            for address in (own.base..own.end()).step_by(4) {
                                let value = memory.load(address).wrapping_mul(3).wrapping_add(1);
                                memory.store(address, value);
                            }
                        });
                        launch(engine, &info(thread), 0, &kernel);
                        expected = expected.wrapping_mul(3).wrapping_add(1);
                        if round % 40 == 9 {
                            drop(engine.operation());
                        }
                    }
                    agent.program_synchronise();
                    assert_eq!(agent.with_memory(|memory| memory.load(own.base + 512)), expected);
                });
            }
        });
        engine.finish(Instant::now() + Duration::from_secs(20));
        let records = log.take_dispatches();
        assert_eq!(records.len(), 400);
        let odd = records.iter().find(|r| r.outcome != Outcome::Replayed || r.divergence.is_some());
        assert!(odd.is_none(), "{odd:?}");
        assert!(log.windows().iter().any(|window| window.dispatches == 16));
        assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
    }
}
