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
mod open;
mod overdue;
mod passes;
mod post;
mod put_back;
mod record;
mod replay;
mod room;
mod tell;

pub(crate) use length::Length;
#[cfg(any(test, feature = "test-agent"))]
pub(crate) use length::WindowCost;

use super::core::Core;
use crate::engine::Refusal;
use crate::{Agent, DispatchId, DispatchInfo, Generation, KernelInfo, Range};
use overdue::Overdue;
use std::time::{Duration, Instant};

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
    /// Host memory that is kept for them, in bytes, where that may be much.
    pub(crate) bytes: u64,
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
    /// What it launches, when that is not selected.
    unselected: Option<KernelInfo>,
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
    /// A pass did not end in time, and what is known of that.
    overdue: Option<Overdue>,
    /// The entry that does other work each time, once it was found.
    divergent: Option<usize>,
    /// What it wrote, when that is kept.
    written: Option<Written>,
}

/// What a window wrote: its write set, and behind it as many ranges as were born within the window.
#[derive(Clone)]
struct Written {
    ranges: Vec<Range>,
    born: usize,
}

impl<A: Agent> Batch<A> {
    /// Whether it records what goes by; a window of a single pass does not.
    pub(crate) fn records(&self) -> bool {
        self.mode != Mode::InLine
    }

    /// Whether the program's own launches are being counted.
    pub(crate) fn counts_now(&self) -> bool {
        self.core.counting.running()
    }

    /// Passes of each dispatch in it.
    pub(crate) fn passes(&self) -> u32 {
        self.passes
    }

    /// Whether a launch was recorded since this generation was born.
    pub(crate) fn launched_since(&self, born: Generation) -> bool {
        self.reached > born
    }

    /// Whether something lingers.
    pub(crate) fn lingers(&self) -> bool {
        self.lingers
    }
}
