//! The Range Profiler's sessions: one at a time on each device.

use super::evaluate::failed;
use super::session::RangeProfiler;
use crate::agent::CudaAgent;
use crate::counters::Guarded;
use crate::counters::planning::range_group::Group;
use crate::counters::sharing::reach::Reach;
use crate::tables::{Context, Cupti};
use kreplay_engine::CountersError;
use std::sync::{Arc, Mutex};

/// A session, and what it was programmed with: the group, and how many ranges a pass may hold. It keeps its first
/// programming: of a pass with more ranges it reads only the first ones.
struct Session {
    device: i32,
    context: Context,
    programmed: Option<(usize, u32)>,
    profiler: RangeProfiler,
}

impl Session {
    fn is_programmed_on(&self, device: i32) -> bool {
        self.device == device && self.programmed.is_some()
    }
}

/// The sessions of the process.
static SESSIONS: Mutex<Vec<Session>> = Mutex::new(Vec::new());

fn key(group: &Arc<Group>) -> usize {
    Arc::as_ptr(group) as usize
}

/// An agent's way to its context's session.
#[derive(Clone)]
pub(in crate::counters) struct Sessions {
    cupti: Arc<Cupti>,
    agent: CudaAgent,
}

impl Sessions {
    pub(in crate::counters) fn new(cupti: Arc<Cupti>, agent: CudaAgent) -> Self {
        Self { cupti, agent }
    }

    /// Ends this context's session.
    pub(in crate::counters) fn end(&self) {
        let Ok(_entered) = self.agent.enter() else { return };
        SESSIONS.guarded().retain(|session| session.context != self.agent.context());
    }

    /// Ends the sessions on this device that were programmed: sampling is refused while there is one.
    pub(in crate::counters) fn end_programmed(&self) {
        let Ok(_entered) = self.agent.enter() else { return };
        let device = self.agent.device();
        SESSIONS.guarded().retain(|session| !session.is_programmed_on(device));
    }

    /// Whether no session on this device was programmed.
    pub(in crate::counters) fn nothing_programmed(&self) -> bool {
        let device = self.agent.device();
        !SESSIONS.guarded().iter().any(|session| session.is_programmed_on(device))
    }

    /// Runs `work` with this context's session, beginning it where there is none.
    ///
    /// # Errors
    /// CUPTI's where none can be begun, and that of `work`.
    pub(in crate::counters) fn with<T>(
        &self,
        work: impl FnOnce(&RangeProfiler) -> Result<T, CountersError>,
    ) -> Result<T, CountersError> {
        let (device, context) = (self.agent.device(), self.agent.context());
        let _entered = self.agent.enter().map_err(|error| CountersError::Unavailable(error.to_string()))?;
        let mut sessions = SESSIONS.guarded();
        if let Some(session) = sessions.iter().find(|session| session.context == context) {
            return work(&session.profiler);
        }
        sessions.retain(|session| session.device != device);
        let profiler = RangeProfiler::enable(Arc::clone(&self.cupti), device, context).map_err(failed)?;
        sessions.push(Session { device, context, programmed: None, profiler });
        work(&sessions[sessions.len() - 1].profiler)
    }

    /// Runs `work` with this context's session, if there is one.
    pub(in crate::counters) fn if_any<T>(&self, work: impl FnOnce(&RangeProfiler) -> Option<T>) -> Option<T> {
        let _entered = self.agent.enter().ok()?;
        let sessions = SESSIONS.guarded();
        sessions
            .iter()
            .find(|session| session.context == self.agent.context())
            .and_then(|session| work(&session.profiler))
    }

    /// What this context's session was programmed with, of this group: for how many ranges.
    fn programmed_ranges(&self, group: &Arc<Group>) -> Option<u32> {
        let context = self.agent.context();
        let sessions = SESSIONS.guarded();
        let session = sessions.iter().find(|session| session.context == context)?;
        session.programmed.filter(|(known, _)| *known == key(group)).map(|(_, ranges)| ranges)
    }

    /// Makes sure that the session counts no more than `reach`. What counts less goes on: another session takes long to begin.
    pub(in crate::counters) fn settle(&self, reach: Reach) {
        let context = self.agent.context();
        let wider = |session: &Session| session.context == context && session.profiler.reach() == Some(Reach::Device);
        if reach == Reach::Context && SESSIONS.guarded().iter().any(wider) {
            self.end();
        }
    }

    /// Makes sure that the session was programmed with this group for at least so many ranges, or not at all. Gives how many
    /// to program it for: one that was too small is followed by one of twice its size, `most` at most.
    pub(in crate::counters) fn fit(&self, group: &Arc<Group>, ranges: u32, most: u32) -> u32 {
        let context = self.agent.context();
        let known = self.programmed_ranges(group);
        if let Some(known) = known.filter(|known| *known >= ranges) {
            return known;
        }
        let other = SESSIONS.guarded().iter().any(|session| session.context == context && session.programmed.is_some());
        if other {
            self.end();
        }
        known.filter(|known| *known > 1).map_or(ranges, |known| (known * 2).min(most).max(ranges))
    }

    /// Notes what the session was programmed with.
    pub(in crate::counters) fn programmed(&self, group: &Arc<Group>, ranges: u32) {
        let context = self.agent.context();
        if let Some(session) = SESSIONS.guarded().iter_mut().find(|session| session.context == context) {
            session.programmed.get_or_insert((key(group), ranges));
        }
        crate::counters::exit::programmed(key(group));
    }
}
