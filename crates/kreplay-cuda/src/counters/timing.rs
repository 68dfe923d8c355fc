//! Timing alone: events before and after each dispatch. A pause on the device before them lets the host get ahead, so that the
//! dispatch follows its event at once.

use super::no_window;
use super::planning::names::EVENT_TIME;
use crate::agent::{CudaAgent, Pause};
use crate::tables::Event;
use kreplay_engine::{AgentError, CountersError, Reading, Value};

/// Pairs of events, one for each dispatch of a pass; kept for the next pass.
#[derive(Default)]
pub(super) struct Timing {
    events: Vec<(Event, Event)>,
    pause: Pause,
}

/// A pass that runs.
#[derive(Default)]
pub(super) struct TimedPass {
    /// Within a dispatch.
    within: bool,
    /// The end of the dispatch was marked when it was launched.
    marked: bool,
    ran: u32,
}

impl Timing {
    /// Dispatch `index` follows on the agent's stream.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn before(&mut self, agent: &CudaAgent, pass: &mut TimedPass, index: u32) -> Result<(), CountersError> {
        while self.events.len() <= index as usize {
            self.events.push(agent.timing_events().map_err(failed)?);
        }
        self.pause.on(agent).map_err(failed)?;
        agent.mark_pass(self.events[index as usize].0, false).map_err(failed)?;
        pass.within = true;
        Ok(())
    }

    /// The program's own launch was submitted: its end is marked at once, where nothing else of the program's follows yet.
    pub(super) fn launched(&self, agent: &CudaAgent, pass: &mut TimedPass) {
        if !pass.within {
            return;
        }
        pass.marked = true;
        // The event that is missing shows when its time is read.
        if let Some((_, end)) = self.events.first() {
            let _ = agent.mark_pass(*end, true);
        }
    }

    /// Dispatch `index` was submitted.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn after(&self, agent: &CudaAgent, pass: &mut TimedPass, index: u32) -> Result<(), CountersError> {
        if !std::mem::take(&mut pass.marked) {
            let events = *self.events.get(index as usize).ok_or_else(no_window)?;
            agent.mark_pass(events.1, true).map_err(failed)?;
        }
        pass.within = false;
        pass.ran = pass.ran.max(index + 1);
        Ok(())
    }

    /// The times of a pass whose work is done, in ns. Returns the longest.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn end(
        &self,
        agent: &CudaAgent,
        pass: &TimedPass,
        number: u32,
        readings: &mut Vec<Reading>,
    ) -> Result<u64, CountersError> {
        let mut longest = 0.0f64;
        for dispatch in 0..pass.ran {
            let (start, end) = self.events[dispatch as usize];
            let time = f64::from(agent.elapsed(start, end).map_err(failed)?) * 1e6;
            longest = longest.max(time);
            readings.push(Reading {
                dispatch,
                pass: number,
                counter: EVENT_TIME.into(),
                unit: "ns".into(),
                value: Value::Real(time),
                derived: false,
                bound: None,
            });
        }
        Ok(longest as u64)
    }
}

fn failed(error: AgentError) -> CountersError {
    CountersError::Failed { call: "timing by events", status: error.to_string() }
}
