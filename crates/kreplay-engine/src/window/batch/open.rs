//! The start of a batch window: the snapshot, and pass 0 begins.

use super::{Batch, Mode, Wanted};
use crate::engine::{Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::shadow::Footprint;
use crate::window::core::{Core, Method};
use crate::window::counting::Counting;
use crate::{Agent, AgentError, Decline, DispatchInfo, Generation, Phases};
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
        let in_line = wanted.mode == Mode::InLine;
        if in_line && !engine.counts_own_launches() {
            // The end of the window before this one has shown that they cannot after all.
            return Err(cancelled(&engine, "the counters do not count in line any more"));
        }
        let most = engine.next_length().max(wanted.count);
        let counting = Counting::open(engine.counters.as_ref(), &engine.plan, most);
        let counting = counting.map_err(|error| cancelled(&engine, error))?;
        let first_counted = counts_first(&engine, &wanted);
        let mut core = Core::new(Arc::clone(&engine), alone, counting, (footprint, Looked::All), phases, !in_line);
        debug_assert!(in_line || core.method == Method::Observed, "batch windows need compare");
        if let Err(error) = begin(&mut core, in_line, first_counted.then_some(info)) {
            core.counting.abandon();
            let refusal = engine.refuse(Decline::CaptureFailed, &error);
            core.leave_settled();
            core.release();
            return Err(refusal);
        }
        let alone = core.alone.take();
        Ok((Self::empty(core, &wanted, most, first_counted), alone))
    }

    /// One that holds nothing yet, and at most `most` dispatches.
    fn empty(core: Core<A>, wanted: &Wanted, most: u32, first_counted: bool) -> Self {
        let every_launch = core.engine.counts_every_launch();
        // Room for what will come in most windows, so that no launch waits for it to be moved.
        let room = most.min(MOST_ROOM) as usize;
        Self {
            core,
            entries: Vec::with_capacity(if wanted.mode == Mode::InLine { 0 } else { room }),
            dispatches: Vec::with_capacity(room),
            unselected: 0,
            idle: 0,
            operations: 0,
            reached: Generation(0),
            lingers: false,
            every_launch,
            passes: wanted.passes,
            mode: wanted.mode,
            most,
            first_counted,
            opened: Instant::now(),
            replayed: Duration::ZERO,
            recorded_bytes: 0,
            frees: Vec::new(),
            spoiled: None,
            overdue: None,
            divergent: None,
            written: None,
        }
    }
}

/// Whether pass 0 is the plan's first. A single pass that is a replay cannot be pass 0 as well.
fn counts_first<A: Agent>(engine: &Engine<A>, wanted: &Wanted) -> bool {
    match wanted.mode {
        Mode::InLine => true,
        Mode::Recording => engine.counters.is_none() || wanted.passes > 1 && engine.counts_own_launches(),
        Mode::Replays => engine.counters.is_none(),
    }
}

/// Takes the snapshot, but not in line, and begins pass 0, counted where it is given a dispatch. Both are done then.
fn begin<A: Agent>(core: &mut Core<A>, in_line: bool, counted: Option<&DispatchInfo>) -> Result<(), AgentError> {
    let captured = if in_line { Ok(()) } else { core.capture() };
    core.lap(|phases| &mut phases.capture);
    captured?;
    if let Some(info) = counted {
        core.begin_counting(info, 0);
    }
    if core.counting.running() {
        core.agent().settle(core.deadline())?;
    }
    core.lap(|phases| &mut phases.passes);
    Ok(())
}

/// The counters do not open: the window does not, though room for its snapshot was found.
fn cancelled<A: Agent>(engine: &Engine<A>, why: impl ToString) -> Refusal {
    lock(&engine.shadow).window_cancelled();
    Refusal::new(Decline::CountersUnavailable, why)
}
