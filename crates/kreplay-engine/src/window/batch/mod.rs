//! Batch windows: many dispatches behind one reprogramming of the counters.
//!
//! ```text
//!  open: gate alone, drain, capture, gate open again
//!    │
//!    ├── launch, memory operation, launch, …      recorded, in the order of their submission; they are pass 0
//!    │
//!  close: gate alone, drain
//!    ├── compare: the write set of the whole window
//!    ├── post image: what pass 0 left in the write set, and in regions born within the window
//!    ├── restore, run the list, check              once for each further pass
//!    ├── memory ← shadow: what escaped the write set
//!    ├── memory and shadow ← post image
//!    └── gate open: records
//! ```
//!
//! Pass 0 is the program's own run, so whatever the program reads meanwhile is right, and memory at the end is what
//! pass 0 left, whatever the passes did. A window closes when it is full or old, before anything that cannot be recorded,
//! and at the program's end. If it cannot be replayed (no room for the post image, a launch that went by unrecorded)
//! nothing is lost but the counters: its dispatches decline.
//!
//! A window of a single pass has neither snapshot nor list: its pass 0 is counted, and that is all.
//!
//! A region that the program frees within the window *lingers* where its memory stays mapped, in a pool: it keeps its place
//! in the footprint, and its content is put back for each pass, whatever region was born over it since. What was born over
//! memory of the footprint so begins each pass with the same bytes as in pass 0.
//!
//! The content of any other region born within the window is not defined at its birth, so it is not put back between the
//! passes; only pass 0's content is, at the end.

mod close;
mod find;
mod length;
mod post;

pub(crate) use length::Length;
#[cfg(any(test, feature = "test-agent"))]
pub(crate) use length::WindowCost;

use super::core::{Core, Method};
use super::counting::Counting;
use crate::engine::{Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::inventory::generations_so_far;
use crate::shadow::Footprint;
use crate::{Agent, ClosingReason, Decline, DispatchId, DispatchInfo, Generation, Phases, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Launches in a row that are not selected before a window is closed whose counters count them all the same: about as many
/// as cost what another reprogramming does.
const MOST_IDLE: u32 = 16;

/// Most dispatches that room is made for when a window opens.
const MOST_ROOM: u32 = 4096;

/// What pass 0 of a batch window is to its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The only pass: the program's own launches are counted, nothing is recorded.
    InLine,
    /// The first pass of the plan where the counters can count the program's own launches, else uncounted.
    Recording,
    /// Uncounted: what is recorded cannot be counted one by one as it runs. Every pass of the plan is a replay.
    Replays,
}

/// What a launch, or several that belong together, need of a batch window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) passes: u32,
    /// Dispatches that go in together.
    pub(crate) count: u32,
    pub(crate) mode: Mode,
    /// When it came: the clock is read once a launch.
    pub(crate) at: Instant,
}

/// A recorded dispatch that is counted.
pub(crate) struct Recorded {
    pub(crate) id: DispatchId,
    pub(crate) start: Duration,
    pub(crate) info: DispatchInfo,
    pub(crate) thread: u64,
}

/// Something to run again.
struct Entry<W> {
    work: W,
    /// Its place among the dispatches, when it is counted.
    dispatch: Option<u32>,
}

/// A free that the program made and that happens when the window is over.
pub(crate) type HeldFree = Box<dyn FnOnce() + Send>;

/// A batch window that records.
pub(crate) struct Batch<A: Agent> {
    core: Core<A>,
    entries: Vec<Entry<A::Work>>,
    dispatches: Vec<Recorded>,
    /// Launches that are not selected: all, and since the last dispatch.
    unselected: u32,
    idle: u32,
    /// Memory operations.
    operations: u32,
    /// Generations that were born when the last launch was recorded: it may reach whatever there was.
    reached: Generation,
    /// Something was freed whose memory stays.
    lingers: bool,
    /// The counters count those too.
    every_launch: bool,
    passes: u32,
    mode: Mode,
    /// Most dispatches that it holds.
    most: u32,
    /// Pass 0 is the first pass of the plan; else it is not counted and every pass of the plan is a replay.
    first_counted: bool,
    opened: Instant,
    /// Running the list, in all passes that were replays.
    replayed: Duration,
    recorded_bytes: u64,
    frees: Vec<HeldFree>,
    /// Why it will not be replayed.
    spoiled: Option<Refusal>,
    /// The entry that does other work each time, once it was found.
    divergent: Option<usize>,
    /// What it wrote, when that is kept.
    written: Option<Written>,
}

/// What a window wrote: its write set, and behind it as many ranges as were born within the window.
struct Written {
    ranges: Vec<Range>,
    born: usize,
}

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
            crate::lock::lock(&engine.shadow).window_cancelled();
            return Err(Refusal::new(Decline::CountersUnavailable, "the counters do not count in line any more"));
        }
        let most = engine.next_length().max(count);
        let counting = match Counting::open(engine.counters.as_ref(), &engine.plan, most) {
            Ok(counting) => counting,
            Err(error) => {
                crate::lock::lock(&engine.shadow).window_cancelled();
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

    /// Whether it records what goes by; a window of a single pass does not.
    pub(crate) fn records(&self) -> bool {
        self.mode != Mode::InLine
    }

    /// Why it does not take these, if so.
    pub(crate) fn refuses(&self, wanted: &Wanted) -> Option<ClosingReason> {
        let other_passes = self.passes != wanted.passes || self.records() == (wanted.mode == Mode::InLine);
        if other_passes {
            return Some(ClosingReason::Policy);
        }
        if wanted.mode == Mode::Replays && self.first_counted && self.core.engine.counters.is_some() {
            return Some(ClosingReason::Together);
        }
        self.full_for(wanted.count, wanted.at)
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.dispatches.is_empty()
    }

    /// Passes of each dispatch in it.
    pub(crate) fn passes(&self) -> u32 {
        self.passes
    }

    /// Why it takes nothing more `at` this time, if so. It takes one entry at least.
    fn full(&self, at: Instant) -> Option<ClosingReason> {
        if self.is_empty() {
            return None;
        }
        if self.spoiled.is_some() {
            return Some(ClosingReason::Failed);
        }
        let limits = self.core.engine.process.settings.batch;
        if self.room_taken() >= u64::from(self.most) || self.entries.len() as u64 >= u64::from(limits.entries.max(1)) {
            return Some(ClosingReason::Full);
        }
        if self.recorded_bytes >= limits.bytes {
            return Some(ClosingReason::Bytes);
        }
        (at.saturating_duration_since(self.opened) >= limits.time).then_some(ClosingReason::Time)
    }

    /// Why it does not take `count` dispatches more, if so.
    fn full_for(&self, count: u32, at: Instant) -> Option<ClosingReason> {
        let fits = self.is_empty() || self.room_taken() + u64::from(count) <= u64::from(self.most);
        self.full(at).or((!fits).then_some(ClosingReason::Full))
    }

    /// Why it does not take a launch that is not selected, if so.
    pub(crate) fn full_for_unselected(&self) -> Option<ClosingReason> {
        let sparse = self.every_launch && self.idle >= MOST_IDLE;
        self.full(Instant::now()).or(sparse.then_some(ClosingReason::Sparse))
    }

    /// Why it does not take a memory operation, if so: where something lingers these take room too.
    pub(crate) fn full_for_operation(&self) -> Option<ClosingReason> {
        let full = self.lingers && self.every_launch && self.room_taken() >= u64::from(self.most);
        full.then_some(ClosingReason::Full)
    }

    /// Launches that the counters' room is taken by.
    fn room_taken(&self) -> u64 {
        self.room_with(self.lingers)
    }

    /// The same, where something `lingers`: memory operations of what was freed may need a launch each in the replays.
    fn room_with(&self, lingers: bool) -> u64 {
        let beside = self.unselected + if lingers { self.operations } else { 0 };
        self.dispatches.len() as u64 + if self.every_launch { u64::from(beside) } else { 0 }
    }

    /// Whether a launch was recorded since this generation was born.
    pub(crate) fn launched_since(&self, born: Generation) -> bool {
        self.reached > born
    }

    /// Whether something lingers.
    pub(crate) fn lingers(&self) -> bool {
        self.lingers
    }

    /// Lets a region linger that was freed, until the window is over.
    ///
    /// # Errors
    /// `over`, where the counters have no room for the launches that this may take.
    pub(crate) fn linger(&mut self, over: HeldFree) -> Result<(), HeldFree> {
        if self.room_with(true) > u64::from(self.most) {
            return Err(over);
        }
        self.lingers = true;
        self.frees.push(over);
        Ok(())
    }

    /// A counted dispatch of the program follows, with what runs it again where the window records. Returns its place, where the
    /// counters count the program's own launch and [`Batch::submitted`] is to tell them.
    pub(crate) fn record_dispatch(&mut self, work: Option<A::Work>, dispatch: Recorded) -> Option<u32> {
        let index = self.dispatches.len() as u32;
        self.dispatches.push(dispatch);
        self.idle = 0;
        if let Some(work) = work {
            self.reached = generations_so_far();
            self.push(work, Some(index));
        }
        let counted = self.first_counted && self.core.counting.running();
        counted.then(|| {
            self.core.counting.before(index);
            index
        })
    }

    /// The dispatch was submitted. Where the counters could not go on: its kernel, and how long they waited.
    pub(crate) fn submitted(&mut self, index: u32) -> Option<(u64, Duration)> {
        let start = Instant::now();
        if self.core.counting.after(index) {
            return None;
        }
        self.dispatches.get(index as usize).map(|dispatch| (dispatch.info.kernel.key, start.elapsed()))
    }

    /// Whether launches that are not selected take up room.
    pub(crate) fn counts_every_launch(&self) -> bool {
        self.every_launch
    }

    /// A launch that is not selected goes by.
    pub(crate) fn passed_by(&mut self) {
        self.unselected += 1;
        self.idle += 1;
    }

    /// A launch that is not selected follows.
    pub(crate) fn record_unselected(&mut self, work: A::Work) {
        self.passed_by();
        self.reached = generations_so_far();
        self.push(work, None);
    }

    /// A memory operation follows.
    pub(crate) fn record_operation(&mut self, work: A::Work) {
        self.operations += 1;
        self.push(work, None);
    }

    fn push(&mut self, work: A::Work, dispatch: Option<u32>) {
        self.recorded_bytes += self.core.engine.agent.work_bytes(&work);
        self.entries.push(Entry { work, dispatch });
    }

    /// Something went by that is not in the list: the passes would not do the same.
    pub(crate) fn spoil(&mut self, reason: Decline, detail: &str) {
        self.spoiled.get_or_insert_with(|| Refusal::new(reason, detail));
    }

    /// Holds a free back until the window is over.
    pub(crate) fn hold_free(&mut self, free: HeldFree) {
        self.frees.push(free);
    }
}
