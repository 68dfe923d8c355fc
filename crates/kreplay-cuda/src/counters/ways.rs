//! Beginning a pass, each in its way.

use super::Guarded;
use super::gather::Gather;
use super::planning::names::EVENT_TIME;
use super::planning::plan::Planned;
use super::planning::planner::Planner;
use super::ranges::{RangePass, RangeWindow};
use super::sampling::{Device, Events, SampledPass, Sampling, UnfencedPass};
use super::seam::CudaCounters;
use super::sharing::reach::Reach;
use super::timing::TimedPass;
use kreplay_engine::{CountersError, PlannedPass, Reading, Request, Way};
use std::sync::Arc;
use std::time::Instant;

/// A window of counters.
pub(super) struct Window {
    pub(super) planned: Arc<Planned>,
    /// Most dispatches that it may hold.
    pub(super) dispatches: u32,
    /// Which one it is.
    pub(super) number: u64,
    pub(super) gather: Gather,
    pub(super) ranges: RangeWindow,
    /// The GPU's lock is held: from the first counted pass on.
    pub(super) locked: bool,
    /// How far its passes by ranges may reach, once one has begun, and how many contexts there had been then.
    pub(super) reach: Option<(Reach, u64)>,
    /// What other contexts of the device had launched before the first pass that counts the whole device.
    pub(super) beside: Option<u64>,
    /// Another context's work ran as it was sampled.
    pub(super) disturbed: bool,
    /// The passes that begin are replays, on the agent's own stream.
    pub(super) replayed: bool,
    pub(super) current: Option<(u32, Current)>,
    pub(super) readings: Vec<Reading>,
}

/// The pass that runs, by its way of counting.
pub(super) enum Current {
    Ranges(RangePass),
    Sampling(Box<SampledPass>),
    Unfenced(Box<UnfencedPass>),
    Timing(TimedPass),
}

impl CudaCounters {
    /// Begins a pass; the context is idle where its way needs that.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn begin_pass(
        &self,
        window: &mut Window,
        pass: &PlannedPass,
        stuck: &mut bool,
        events: &mut Events,
    ) -> Result<Current, CountersError> {
        Ok(match pass.way {
            Way::Ranges | Way::Sampling if window.planned.place(pass.index).is_some() => {
                self.hold(window)?;
                if let Some(sampling) = &self.sampling {
                    // While sampling is enabled ranges answer that the hardware is busy.
                    sampling.release();
                }
                let reach = self.reach(window);
                Current::Ranges(self.ranges.begin(&mut window.ranges, pass.index, reach)?)
            }
            Way::Timing => Current::Timing(TimedPass::default()),
            Way::Sampling if window.planned.sampled.is_empty() => {
                return Err(CountersError::Unavailable(
                    "nothing is sampled any more, and these counters take several passes by ranges".into(),
                ));
            }
            Way::Ranges => return Err(CountersError::Discarded(format!("pass {} is not in the plan", pass.index))),
            Way::Sampling if !self.conduct.fence => {
                self.hold(window)?;
                self.await_neighbours(window);
                Current::Unfenced(Box::new(self.begin_unfenced(window, pass.index, events)?))
            }
            Way::Sampling => {
                self.hold(window)?;
                self.await_neighbours(window);
                Current::Sampling(Box::new(self.begin_sampling(window, pass.index, stuck)?))
            }
        })
    }

    /// What a sampled pass stands on: waits end with `stuck` set when a dispatch does not end in time. The first pass may
    /// be the program's own, on any stream.
    pub(super) fn ground<'s>(
        &'s self,
        pass: u32,
        stuck: &'s mut bool,
    ) -> Device<impl FnMut() -> Result<(), CountersError> + 's> {
        let wait = move || {
            const WHAT: &str = "waiting for a sampled dispatch";
            let deadline = Instant::now() + self.conduct.pass_deadline;
            let waited = match pass {
                0 => self.agent.wait_every_stream(deadline, WHAT),
                _ => self.agent.wait_pass(deadline, WHAT, true),
            };
            waited.map_err(|error| {
                *stuck = true;
                CountersError::Failed { call: WHAT, status: error.to_string() }
            })
        };
        Device { wait, cupti: Arc::clone(&self.cupti), agent: self.agent.clone() }
    }

    /// Whether the sampled groups of this window run in the opposite order.
    pub(super) fn turned(window: u64) -> bool {
        window % 2 == 1
    }

    /// A pass that samples begins; the context is idle.
    fn begin_sampling(&self, window: &Window, pass: u32, stuck: &mut bool) -> Result<SampledPass, CountersError> {
        let sampling = self.sampling()?;
        let backwards = Self::turned(window.number);
        let sampled = window
            .planned
            .sampled(pass, backwards)
            .ok_or_else(|| CountersError::Discarded(format!("pass {pass} is not in the plan")))?;
        if !sampling.is_enabled() {
            self.ranges.end_programmed();
        }
        let what = (&sampled.group, &sampled.counters);
        sampling.begin(
            what,
            sampled.pass,
            (window.dispatches, (self.agent.id(), window.number)),
            &window.gather,
            &mut self.ground(pass, stuck),
        )
    }

    /// As [`CudaCounters::begin_sampling`], without fences.
    fn begin_unfenced(&self, window: &Window, pass: u32, events: &mut Events) -> Result<UnfencedPass, CountersError> {
        let sampling = self.sampling()?;
        if !sampling.is_enabled() {
            self.ranges.end_programmed();
        }
        let sampled = window
            .planned
            .sampled(pass, false)
            .ok_or_else(|| CountersError::Discarded(format!("pass {pass} is not in the plan")))?;
        let what = (&sampled.group, &sampled.counters);
        sampling.begin_unfenced(what, (pass, window.replayed), &window.gather, (&self.agent, &self.cupti, events))
    }

    pub(super) fn sampling(&self) -> Result<&Sampling, CountersError> {
        self.sampling.as_deref().ok_or_else(|| CountersError::Unavailable("nothing can be sampled here".into()))
    }

    /// Why nothing is sampled, if so.
    fn unsampled(&self) -> Option<Arc<str>> {
        match (&self.availability.sampling, &self.sampling) {
            (Err(why), _) => Some(Arc::clone(why)),
            (Ok(_), None) => Some("no thread can be had for it".into()),
            (Ok(_), Some(sampling)) => sampling.given_up().map(Arc::from),
        }
    }

    /// Says once why everything is counted by ranges, where something is counted that might be sampled.
    pub(super) fn tell_unsampled(&self, request: &Request) {
        let times_alone = request.names.iter().all(|name| name == EVENT_TIME);
        if times_alone || self.availability.refused.is_some() {
            return;
        }
        if let Some(why) = self.unsampled() {
            (self.warn)("sampling_unavailable", format!("nothing is sampled, so ranges count everything: {why}"));
        }
    }

    pub(super) fn planner(&self) -> Planner<'_> {
        let unsampled = self.unsampled();
        let sampling = self.availability.sampling.as_deref().ok().filter(|_| unsampled.is_none());
        let mut planner = Planner::new(&self.cupti, &self.availability.chip, &self.availability.image, sampling);
        planner.unsampled = unsampled;
        planner.reach = self.reach_and_why().0;
        planner
    }

    /// The plan, or once sampling was given up the one that uses ranges instead.
    pub(super) fn usable(&self, planned: Arc<Planned>) -> Arc<Planned> {
        let Some(why) = self.sampling.as_ref().and_then(|sampling| sampling.given_up()) else { return planned };
        if planned.sampled.is_empty() {
            return planned;
        }
        let mut instead = self.instead.guarded();
        if let Some((_, known)) = instead.iter().find(|(of, _)| Arc::ptr_eq(of, &planned)) {
            return Arc::clone(known);
        }
        (self.warn)(
            "sampling_given_up",
            format!("nothing is sampled any more: {why}. What fits one pass of ranges is counted so."),
        );
        let made = Arc::new(planned.without_sampling(&self.planner()));
        instead.push((planned, Arc::clone(&made)));
        made
    }

    /// Waits for what was submitted to a stream, so that the next step of the counters meets an idle context.
    pub(super) fn wait(&self, stuck: &mut bool, what: &'static str, program: bool) -> Result<(), CountersError> {
        let waited = self.wait_until(Instant::now() + self.conduct.pass_deadline, what, program);
        *stuck |= waited.is_err();
        waited
    }

    /// As [`CudaCounters::wait`], where it does not matter to what follows that it takes longer.
    pub(super) fn wait_until(&self, deadline: Instant, what: &'static str, program: bool) -> Result<(), CountersError> {
        let waited = self.agent.wait_pass(deadline, what, program);
        waited.map_err(|error| CountersError::Failed { call: what, status: error.to_string() })
    }

    /// Takes the GPU's lock for the window.
    pub(super) fn hold(&self, window: &mut Window) -> Result<(), CountersError> {
        if !window.locked {
            self.lock
                .acquire(Instant::now() + self.conduct.lock_deadline)
                .map_err(|error| CountersError::Unavailable(error.to_string()))?
                .keep();
            window.locked = true;
        }
        Ok(())
    }
}
