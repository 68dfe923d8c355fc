//! What replays write outside of what pass 0 wrote, where the shadow is believed.

use crate::setup::{batch, setup};
use crate::support::{add, allocate, info, launch, limits};
use kreplay_engine::memory_agent::Work;
use kreplay_engine::{BatchLimits, Outcome, Range, Settings, ShadowMode, VerifyMode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Long after the audits a pass writes something else than pass 0 did, and elsewhere: neither memory nor the next window
/// has it.
#[test]
fn invariant_1_what_divergent_passes_wrote_elsewhere_is_undone_in_trusted_batch_windows() {
    const PASSES: u32 = 4;
    const WINDOWS: u32 = 12;
    for verify in [VerifyMode::Outputs, VerifyMode::All] {
        for escaping in 1..PASSES {
            let limits = BatchLimits { dispatches: 1, ..limits() };
            let settings = Settings { shadow: ShadowMode::Trusted, verify, batch: limits, ..batch(PASSES) };
            let setup = setup(settings, None);
            let (at, elsewhere) = (setup.region, allocate(&setup.agent, &setup.engine, 8192));
            let read = |address| setup.agent.with_memory(|memory| memory.load(address));
            let (first, before) = (setup.word(), read(elsewhere.base));
            let runs = Arc::new(AtomicU32::new(0));
            let divergent = Work::new(move |memory| {
                let sum = memory.load(at.base).wrapping_add(1);
                memory.store(at.base, sum);
                // The runs of the last window that are its replays.
                let run = runs.fetch_add(1, Ordering::Relaxed);
                if run / PASSES == WINDOWS - 1 && run % PASSES == escaping {
                    memory.store(at.base + 8, 7);
                    memory.store(elsewhere.base, 77);
                }
            });
            for _ in 0..WINDOWS {
                launch(&setup.engine, &info(1), 0, &divergent);
                setup.engine.close_window();
            }
            let when = format!("{verify:?}, pass {escaping}");
            let record = setup.log.last_dispatch();
            assert_eq!((record.outcome, record.divergence.is_some()), (Outcome::Replayed, true), "{when}");
            assert_eq!((setup.word(), read(elsewhere.base)), (first + WINDOWS, before), "{when}");
            // Where everything is looked at after each pass, nothing had to be believed.
            let surprised = setup.log.warnings().contains(&"trust_off");
            assert_eq!(surprised, verify == VerifyMode::Outputs, "{when}");
            // The next window writes beside it, in the same chunk.
            launch(&setup.engine, &info(3), 0, &add(Range::new(elsewhere.base + 8, 4), 1));
            setup.engine.finish(Instant::now() + Duration::from_secs(20));
            assert_eq!(read(elsewhere.base), before, "{when}, after the next window");
        }
    }
}
