//! The counters in a window: a failure of theirs costs values, never the program.

use crate::engine::Readings;
use crate::{Counters, CountersError, Plan, PlannedPass, Way};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Drives the counters of one window and notes what failed.
pub(crate) struct Counting {
    counters: Option<Arc<dyn Counters>>,
    /// A pass is being counted.
    running: bool,
    /// The pass being counted has lost values.
    spoiled: bool,
    counted: u32,
    /// A pass was begun that reads the hardware's counters.
    read: bool,
    /// Beginning and ending each counted pass, in order.
    switches: Vec<Duration>,
    notes: Vec<String>,
}

impl Counting {
    /// Opens a window of at most `dispatches` dispatches.
    pub(crate) fn open(
        counters: Option<&Arc<dyn Counters>>,
        plan: &Plan,
        dispatches: u32,
    ) -> Result<Self, CountersError> {
        if let Some(counters) = counters {
            counters.open(plan, dispatches)?;
        }
        Ok(Self {
            counters: counters.cloned(),
            running: false,
            spoiled: false,
            counted: 0,
            read: false,
            switches: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The passes that follow are replays of so many launches that are counted.
    pub(crate) fn replays(&self, launches: u32) {
        if let Some(counters) = &self.counters {
            counters.replays(launches);
        }
    }

    /// Pass `number` begins. `planned` is what it counts; `None` runs it uncounted.
    pub(crate) fn begin(&mut self, number: u32, planned: Option<&PlannedPass>) {
        let Some(counters) = &self.counters else { return };
        let Some(planned) = planned else { return };
        let start = Instant::now();
        match counters.begin(planned) {
            Ok(()) => {
                (self.running, self.spoiled) = (true, false);
                self.read |= planned.way != Way::Timing;
                self.switches.push(start.elapsed());
            }
            Err(error) => self.notes.push(format!("pass {number} ran uncounted: {error}")),
        }
    }

    /// Whether a pass is being counted.
    pub(crate) fn running(&self) -> bool {
        self.running
    }

    /// Dispatch `index` follows.
    pub(crate) fn before(&mut self, index: u32) {
        self.mark(|counters| counters.before(index));
    }

    /// Dispatch `index` was submitted. Returns whether that could be told, or was of no interest.
    pub(crate) fn after(&mut self, index: u32) -> bool {
        self.mark(|counters| counters.after(index))
    }

    fn mark(&mut self, call: impl FnOnce(&Arc<dyn Counters>) -> Result<(), CountersError>) -> bool {
        if !self.running || self.spoiled {
            return true;
        }
        if let Some(Err(error)) = self.counters.as_ref().map(call) {
            self.spoiled = true;
            self.notes.push(format!("values of a pass are lost: {error}"));
            return false;
        }
        true
    }

    /// The pass ends. Where what was submitted has ended before, the times tell what switching costs.
    pub(crate) fn end(&mut self) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let start = Instant::now();
        let ended = self.counters.as_ref().map(|counters| counters.end());
        if let Some(switch) = self.switches.last_mut() {
            *switch += start.elapsed();
        }
        match ended {
            Some(Err(error)) => self.notes.push(format!("values of a pass are lost: {error}")),
            _ if self.spoiled => {}
            _ => self.counted += 1,
        }
    }

    /// The window ended well: its readings go to `readings`. Returns whether there will be any.
    pub(crate) fn collect(&mut self, readings: &Arc<Readings>) -> bool {
        let Some(counters) = self.counters.take() else { return false };
        if self.counted == 0 {
            counters.abandon();
            return false;
        }
        counters.collect(readings.deliver());
        true
    }

    /// The window ended without readings. Legal at any time, also twice.
    pub(crate) fn abandon(&mut self) {
        self.running = false;
        if let Some(counters) = self.counters.take() {
            counters.abandon();
        }
    }

    /// Whether a pass was begun that reads the hardware's counters, and not times alone.
    pub(crate) fn has_read(&self) -> bool {
        self.read
    }

    /// How long beginning and ending took, for each counted pass.
    pub(crate) fn switches(&self) -> &[Duration] {
        &self.switches
    }

    /// What failed.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
