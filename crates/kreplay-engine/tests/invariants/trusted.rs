//! Invariant 1 where the shadow is believed: what may have been written counts as written until a window has looked at it.

use crate::support::{Told, add, allocate, info, launch, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    ByPlan, Decision, DispatchInfo, Engine, EveryKernel, LastPass, Outcome, PassEnd, Passes, Plan, Policy, Process,
    Range, Settings, ShadowMode,
};
use std::sync::Arc;

/// Windows before a shadow is believed.
const AUDITED: u32 = 8;

struct Trusted {
    agent: Arc<MemoryAgent>,
    engine: Arc<Engine<MemoryAgent>>,
    log: Arc<Log>,
    /// What the windows before wrote, and what they left alone.
    region: Range,
    other: Range,
}

/// An engine whose next window believes the shadow.
fn trusted(policy: Arc<dyn Policy>) -> Trusted {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let settings = Settings { shadow: ShadowMode::Trusted, ..settings(3) };
    let process = Process::new(settings, Arc::new(EveryKernel), policy, log.clone());
    let engine = Engine::new(agent.clone(), None, process).expect("nothing is asked for");
    let (region, other) = (allocate(&agent, &engine, 4096), allocate(&agent, &engine, 4096));
    for _ in 0..AUDITED {
        launch(&engine, &info(1), 0, &add(region, 1)).expect("a window");
    }
    Trusted { agent, engine, log, region, other }
}

impl Trusted {
    fn word(&self, at: u64) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.other.base + at))
    }

    /// Windows on memory beside what `expected` tells of, in the same chunk, leave it alone.
    fn keeps(&self, expected: &[(u64, u32)], when: &str) {
        for _ in 0..2 {
            launch(&self.engine, &info(1), 0, &add(Range::new(self.other.base + 64, 4), 1)).expect("a window");
            assert_eq!(self.log.last_dispatch().outcome, Outcome::Replayed);
            assert_eq!(self.log.last_dispatch().audit, None, "it believes");
            for (at, value) in expected {
                assert_eq!(self.word(*at), *value, "{when}: the word at {at}");
            }
        }
    }
}

/// Runs kernels with an even key once.
struct Odd;

impl Policy for Odd {
    fn passes(&self, info: &DispatchInfo, plan: &Plan) -> Passes {
        if info.kernel.key.is_multiple_of(2) { Passes::Once } else { ByPlan.passes(info, plan) }
    }

    fn proceed(&self, _: &DispatchInfo, _: PassEnd) -> bool {
        true
    }
}

/// A window of one pass looks at nothing, whatever becomes of its launch.
#[test]
fn invariant_1_a_failed_launch_that_was_to_be_counted_once_makes_nothing_known() {
    let setup = trusted(Arc::new(Odd));
    // Its writes are not seen.
    launch(
        &setup.engine,
        &info(2),
        0,
        &Work::new({
            let at = setup.other.base;
            move |memory| memory.store(at, 77)
        }),
    );
    let Decision::Window(mut window) = setup.engine.dispatch(&info(2), || panic!("nothing is replayed")) else {
        panic!("no window");
    };
    window.run_until_last();
    window.close(LastPass::Failed("invalid configuration".into()));
    setup.keeps(&[(0, 77)], "after a failed launch");
}

/// What the thread of a window does within it, beside its launch, is not the window's.
#[test]
fn invariant_1_what_a_thread_writes_within_its_own_window_is_kept() {
    for (call, fails) in [(true, false), (false, false), (true, true), (false, true)] {
        let setup = trusted(Arc::new(Told::new(Passes::Exactly(3))));
        let work = add(setup.region, 1);
        let Decision::Window(mut window) = setup.engine.dispatch(&info(1), || Ok(work.clone())) else {
            panic!("no window");
        };
        window.run_until_last();
        let at = setup.other.base;
        if call {
            let guard = setup.engine.operation();
            setup.engine.region_written(Range::new(at, 4));
            setup.agent.with_memory(|memory| memory.store(at, 77));
            drop(guard);
        } else {
            assert!(launch(&setup.engine, &info(3), 0, &Work::new(move |memory| memory.store(at, 77))).is_none());
        }
        let last = if fails {
            LastPass::Failed("invalid configuration".into())
        } else {
            setup.agent.program_launch(0, &work);
            LastPass::Submitted
        };
        window.close(last);
        setup.keeps(&[(0, 77)], &format!("a call: {call}, the launch fails: {fails}"));
    }
}
