//! What the engine asks of an agent's counters.
//!
//! There are three ways. *Ranges*: the hardware is read around each dispatch. *Fenced sampling*: the hardware streams samples
//! all the time, and idle gaps between dispatches make the sums per dispatch exact. *Timing* counts nothing: dispatches have
//! their times. The planner takes the cheapest way that can count each counter; a pass has one way.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Names of counters, metrics or sets, as given.
    pub names: Vec<String>,
    /// How often each group is counted; 0 counts as 1. More than one shows the variance between passes.
    pub repeat: u32,
    /// How many dispatches a window is expected to hold; 0 counts as 1. The planner weighs with it what switching to a
    /// way of counting costs a window against what the way costs each dispatch.
    pub dispatches: u32,
}

/// Which counters in which pass: the cheapest passes that hold the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The passes, in order; their `index` is their place.
    pub passes: Vec<PlannedPass>,
}

/// One pass of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPass {
    /// From 0.
    pub index: u32,
    /// What it counts.
    pub counters: Vec<PlannedCounter>,
    /// How it counts.
    pub way: Way,
    /// What it is expected to cost for one dispatch in a window of [`Request::dispatches`], its share of the switching
    /// included.
    pub price: Duration,
}

/// A counter in a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCounter {
    /// The name in readings and reports.
    pub name: Arc<str>,
    /// The hardware block, or the layer that makes the value.
    pub block: Arc<str>,
    /// `B`, `ns`, `cycles`, `instructions`, … or empty.
    pub unit: Arc<str>,
}

/// How a pass counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The hardware is read around each dispatch.
    Ranges,
    /// The hardware streams samples, separated by idle gaps.
    Sampling,
    /// Only times are taken.
    Timing,
}

/// What there is to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterInfo {
    /// The name.
    pub name: Arc<str>,
    /// The hardware block.
    pub block: Arc<str>,
    /// The unit.
    pub unit: Arc<str>,
    /// One line.
    pub description: Arc<str>,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Which dispatch of the window, in dispatch order, from 0.
    pub dispatch: u32,
    /// In which pass.
    pub pass: u32,
    /// Of which counter.
    pub counter: Arc<str>,
    /// In which unit.
    pub unit: Arc<str>,
    /// The value.
    pub value: Value,
    /// Whether it was computed from other counters.
    pub derived: bool,
    /// `None`: exact as the hardware counts. Else it is approximate, and this bounds its error relative to the value
    /// (0.1: 10 %).
    pub bound: Option<f64>,
}

/// A counter's value: counts stay exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A ratio, a time, or any value that is not whole.
    Real(f64),
}

impl Value {
    /// The value as a real number.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Real(value) => value,
        }
    }
}

/// Why a request cannot be planned.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum PlanError {
    /// No such counter, metric or set.
    #[error("there is no counter, metric or set named {name}{}", near_text(near))]
    Unknown {
        /// As asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// The agent cannot count now.
    #[error("the counters of this device cannot be used: {0}")]
    Unavailable(String),
}

fn near_text(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

/// Why counting failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum CountersError {
    /// Nobody may count (permission, another profiler); with the remedy.
    #[error("the counters cannot be had: {0}")]
    Unavailable(String),
    /// Values of this window are lost (overflow, dropped samples, runs that do not match the dispatches).
    #[error("{0}")]
    Discarded(String),
    /// The vendor's call failed.
    #[error("{call} failed: {status}")]
    Failed {
        /// The vendor's function, or the step.
        call: &'static str,
        /// Its status: name, number and meaning.
        status: String,
    },
}

/// What was counted in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    /// Its readings, in dispatch order.
    pub readings: Vec<Reading>,
    /// What was to come and does not.
    pub lost: Vec<LostReadings>,
}

/// Readings that are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostReadings {
    /// Of these dispatches of the window, all of their readings or some; `None`: of any.
    pub dispatches: Option<Range<u32>>,
    /// For this reason.
    pub why: CountersError,
}

impl Delivery {
    /// The readings, where none is lost.
    ///
    /// # Errors
    /// Why some are.
    pub fn whole(self) -> Result<Vec<Reading>, CountersError> {
        self.lost.into_iter().next().map_or(Ok(self.readings), |lost| Err(lost.why))
    }
}

impl From<Result<Vec<Reading>, CountersError>> for Delivery {
    fn from(counted: Result<Vec<Reading>, CountersError>) -> Self {
        match counted {
            Ok(readings) => Self { readings, lost: Vec::new() },
            Err(why) => Self { readings: Vec::new(), lost: vec![LostReadings { dispatches: None, why }] },
        }
    }
}

/// Takes what was counted in a window, possibly later and on another thread.
pub type Deliver = Box<dyn FnOnce(Delivery) + Send>;

/// The counters of an agent. For each window the order of calls is
/// `open`, then for each pass `begin`, for each dispatch `before` and `after`, `end`; then `collect`, or `abandon` from
/// any point. Between two passes `replays` may tell how many launches follow. All take effect on the agent's queue in the order of the calls, among the agent's own work.
pub trait Counters: Send + Sync + 'static {
    /// Everything that can be counted, in a stable order.
    fn list(&self) -> Vec<CounterInfo>;

    /// Packs a request into passes.
    ///
    /// # Errors
    /// [`PlanError`].
    fn plan(&self, request: &Request) -> Result<Plan, PlanError>;

    /// Whether `pass`, a plan's first, can be the program's own: dispatches that it submits to its own queues are counted
    /// too, between `begin` and `end`, each between its `before` and `after`. These may wait for every queue of the
    /// device: nothing else is submitted between the two. Then pass 0 of a batch window is counted, and a plan of this
    /// pass alone needs no replay at all; else pass 0 runs uncounted, and every pass of the plan is a replay.
    fn counts_program_queues(&self, pass: &PlannedPass) -> bool {
        let _ = pass;
        false
    }

    /// Whether launches between the dispatches of a window are counted too, though nobody asked for them, and so take up
    /// room. Then a batch window holds at most as many launches in all as `open` is told, and is closed when many follow
    /// that are not selected.
    fn counts_every_launch(&self, plan: &Plan) -> bool {
        let _ = plan;
        false
    }

    /// Most dispatches that a window of this plan should hold: images of counters grow with it.
    fn most_dispatches(&self, plan: &Plan) -> u32 {
        let _ = plan;
        u32::MAX
    }

    /// Most dispatches that a window of this plan may hold alone where the program submits them as one, as a graph does, and they
    /// cannot be divided.
    fn most_together(&self, plan: &Plan) -> u32 {
        self.most_dispatches(plan)
    }

    /// How many dispatches every window of this plan should be opened for, where another number costs another programming of
    /// the hardware; `None`: as many as their costs ask for.
    fn steady_dispatches(&self, plan: &Plan) -> Option<u32> {
        let _ = plan;
        None
    }

    /// A window of at most `dispatches` dispatches begins.
    ///
    /// # Errors
    /// [`CountersError`]; the window then declines `counters_unavailable`.
    fn open(&self, plan: &Plan, dispatches: u32) -> Result<(), CountersError>;

    /// The passes that begin from now on in this window are replays, each of so many launches that are counted: storage and
    /// hardware need no more room than that. Not called where that is not known before a pass.
    fn replays(&self, launches: u32) {
        let _ = launches;
    }

    /// A pass begins. Passes begin in order of their index; one may be left out.
    ///
    /// # Errors
    /// [`CountersError`]; the pass then runs uncounted and the window reports it.
    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError>;

    /// Dispatch `index` of the window follows.
    ///
    /// # Errors
    /// [`CountersError`].
    fn before(&self, index: u32) -> Result<(), CountersError>;

    /// Dispatch `index` was submitted.
    ///
    /// # Errors
    /// [`CountersError`].
    fn after(&self, index: u32) -> Result<(), CountersError>;

    /// The pass ends. May wait for the device.
    ///
    /// # Errors
    /// [`CountersError`].
    fn end(&self) -> Result<(), CountersError>;

    /// The window ended: `deliver` is called once with what was counted, perhaps later and on a thread of the counters'
    /// own. The device may already be in the next window.
    fn collect(&self, deliver: Deliver);

    /// The window ended without readings.
    fn abandon(&self);

    /// The clock of the compute units now, in MHz; `None` where the vendor does not tell. Asked when a window is
    /// over in which a pass was counted.
    fn clock_mhz(&self) -> Option<u32> {
        None
    }

    /// Waits until every `deliver` that is still owed was called, at the program's end.
    fn flush(&self);
}
