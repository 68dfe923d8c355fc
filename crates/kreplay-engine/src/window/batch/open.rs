//! The start of a batch window: the snapshot, and pass 0 begins.

use super::{Batch, Mode, Wanted};
use crate::engine::{Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::shadow::Footprint;
use crate::window::core::{Core, Method};
use crate::window::counting::Counting;
use crate::{Agent, Decline, DispatchInfo, Generation, Phases};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most dispatches that room is made for when a window opens.
const MOST_ROOM: u32 = 4096;

impl<A: Agent> Batch<A> {
    /// Takes the snapshot and begins pass 0, for at least `count` dispatches. The gate is handed back, still held.
    pub(crate) fn open(
        engine: Arc<Engine<A>>,
        alone: Alone,
        footprint: Footprint,
        phases: Phases,
        wanted: Wanted,
        info: &DispatchInfo,
    ) -> Result<(Self, Option<Alone>), Refusal> {
        let Wanted { passes, count, mode, .. } = wanted;
        let in_line = mode == Mode::InLine;
        if in_line && !engine.counts_own_launches() {
            // The end of the window before this one has shown that they cannot after all.
            lock(&engine.shadow).window_cancelled();
            return Err(Refusal::new(Decline::CountersUnavailable, "the counters do not count in line any more"));
        }
        let most = engine.next_length().max(count);
        let counting = match Counting::open(engine.counters.as_ref(), &engine.plan, most) {
            Ok(counting) => counting,
            Err(error) => {
                lock(&engine.shadow).window_cancelled();
                return Err(Refusal::new(Decline::CountersUnavailable, error));
            }
        };
        // A single pass that is a replay cannot be pass 0 as well.
        let first_counted = match mode {
            Mode::InLine => true,
            Mode::Recording => engine.counters.is_none() || passes > 1 && engine.counts_own_launches(),
            Mode::Replays => engine.counters.is_none(),
        };
        let every_launch = engine.counters.as_ref().is_some_and(|counters| counters.counts_every_launch(&engine.plan));
        let mut core = Core::new(Arc::clone(&engine), alone, counting, (footprint, Looked::All), phases, !in_line);
        debug_assert!(in_line || core.method == Method::Observed, "batch windows need compare");
        let captured = if in_line { Ok(()) } else { core.capture() };
        core.lap(|phases| &mut phases.capture);
        let begun = captured.and_then(|()| {
            if first_counted {
                core.begin_counting(info, 0);
            }
            let running = core.counting.running();
            if running { core.agent().settle(core.deadline()) } else { Ok(()) }
        });
        if let Err(error) = begun {
            core.counting.abandon();
            let refusal = engine.refuse(Decline::CaptureFailed, &error);
            core.leave_settled();
            core.release();
            return Err(refusal);
        }
        core.lap(|phases| &mut phases.passes);
        let alone = core.alone.take();
        // Room for what will come in most windows, so that no launch waits for it to be moved.
        let room = most.min(MOST_ROOM) as usize;
        let batch = Self {
            core,
            entries: Vec::with_capacity(if in_line { 0 } else { room }),
            dispatches: Vec::with_capacity(room),
            unselected: 0,
            idle: 0,
            operations: 0,
            reached: Generation(0),
            lingers: false,
            every_launch,
            passes,
            mode,
            most,
            first_counted,
            opened: Instant::now(),
            replayed: Duration::ZERO,
            recorded_bytes: 0,
            frees: Vec::new(),
            spoiled: None,
            divergent: None,
            written: None,
        };
        Ok((batch, alone))
    }
}
