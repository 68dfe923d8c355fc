//! Fenced sampling: a group of counters as a stream of samples, with an idle gap around each dispatch.
//!
//! ```text
//!  source   what gives samples: the software GPU's own interface, found by name in the process
//!  prices   what each way of counting costs: the planner's choice
//!  device   what the engine's fences stand on: before and after each dispatch it is idle, and a gap passes
//!  segment  from samples and fences to sums, or why they do not fit
//!  pass     one pass: segments, one after the other
//!  pace     how long an interval is
//! ```
//!
//! AMD's hardware has no such interface; only the software GPU has (`docs/softgpu.md`). What does not fit is discarded with
//! the reason, and after [`PATIENCE`] windows in a row with such a pass ranges are used instead.

mod device;
mod pace;
mod pass;
pub(super) mod prices;
mod segment;
mod source;

pub(super) use device::Device;
pub(super) use pass::{SampledPass, Sums};
pub use source::{SampleSource, Samples, SoftGpu};

use pace::Pace;
use std::sync::Mutex;

/// Windows in a row whose samples did not fit before sampling is given up.
const PATIENCE: u32 = 2;

/// What sampling knows from window to window.
pub(super) struct Sampling {
    pub(super) source: Box<dyn SampleSource>,
    state: Mutex<State>,
}

/// What is programmed.
struct Programmed {
    events: Vec<(u32, u32)>,
    interval: u64,
    /// What the device calls it.
    number: u64,
}

#[derive(Default)]
struct State {
    programmed: Option<Programmed>,
    pace: Pace,
    /// Windows in a row in which a pass did not fit.
    misfits: u32,
    /// Whether one did in this window.
    misfit: bool,
    given_up: Option<String>,
}

impl Sampling {
    pub(super) fn new(source: Box<dyn SampleSource>) -> Self {
        Self { source, state: Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Why ranges are used instead, if so.
    pub(super) fn given_up(&self) -> Option<String> {
        self.lock().given_up.clone()
    }

    /// A pass of the window did not fit. The programming is not believed any more.
    fn misfits(&self, why: &str) {
        let mut state = self.lock();
        state.misfit = true;
        state.programmed = None;
        if state.misfits + 1 >= PATIENCE {
            state.given_up.get_or_insert_with(|| format!("{why}, in {PATIENCE} windows in a row"));
        }
    }

    /// The window is over.
    pub(super) fn window_ends(&self) {
        let mut state = self.lock();
        state.misfits = if std::mem::take(&mut state.misfit) { state.misfits + 1 } else { 0 };
    }
}
