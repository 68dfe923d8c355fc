//! Who else is on the GPU: how far counting may reach for them, and what they cost a window.
//!
//! Sampling counts the whole GPU, and so do ranges where that is known to be the same as counting the program: programming a pass
//! takes a third to half as long then, and reading the multiprocessors two thirds. Who comes meanwhile costs the values of what was
//! counted so.

use super::alone;
use super::reach::Reach;
use crate::agent::{CONTEXTS, CONTEXTS_MADE};
use crate::counters::ranges::Ranges;
use crate::counters::seam::CudaCounters;
use crate::counters::ways::Window;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long other contexts of the device may take to rest before a pass is sampled.
const NEIGHBOURS: Duration = Duration::from_millis(100);

impl CudaCounters {
    /// How far the passes by ranges of a window may reach.
    pub(in crate::counters) fn reach(&self, window: &mut Window) -> Reach {
        if let Some((known, _)) = window.reach {
            return known;
        }
        // Before it is looked who is there, so that who comes meanwhile shows.
        let contexts = CONTEXTS_MADE.load(Ordering::Acquire);
        let reach = match self.reach_now() {
            Reach::Device if self.watch.begin() => Reach::Device,
            _ => Reach::Context,
        };
        window.reach = Some((reach, contexts));
        reach
    }

    /// How far passes by ranges may reach that begin now, and what keeps them from more, where somebody may change that.
    pub(in crate::counters) fn reach_and_why(&self) -> (Reach, Option<&'static str>) {
        let alone = || alone::certainly(self.agent.uuid());
        Reach::of(self.agent.device(), CONTEXTS.load(Ordering::Relaxed), alone)
    }

    /// The first of these; the second is told.
    pub(in crate::counters) fn reach_now(&self) -> Reach {
        let (reach, why) = self.reach_and_why();
        if let Some(why) = why {
            let text = format!(
                "ranges count the context alone, which takes up to three times as long as to count the whole GPU: {why}"
            );
            (self.warn)("context_counted", text);
        }
        reach
    }

    /// Waits until other contexts of the device rest: what they run would be sampled.
    pub(in crate::counters) fn await_neighbours(&self, window: &mut Window) {
        // Before it is waited for, so that what comes meanwhile shows.
        window.beside.get_or_insert_with(|| self.agent.launches_beside());
        window.disturbed |= !self.agent.neighbours_rest(Instant::now() + NEIGHBOURS);
    }

    /// The passes of a window that counted the whole GPU, and who else may have used it meanwhile, if anybody.
    pub(in crate::counters) fn disturbed(&self, window: &Window) -> Option<(Vec<u32>, &'static str)> {
        let wide = Ranges::is_wide(&window.ranges);
        let seen = self.watch.end().filter(|_| wide);
        let by_ranges = window.planned.instances.iter().filter(|_| wide).map(|instance| instance.last());
        let passes: Vec<u32> = window.planned.sampled.iter().map(|sampled| sampled.pass).chain(by_ranges).collect();
        if passes.is_empty() {
            return None;
        }
        let there = || if wide { alone::certainly(self.agent.uuid()).err() } else { None };
        let sampled = || if window.planned.sampled.is_empty() { None } else { self.came() };
        let company = seen.or_else(there).or_else(sampled);
        let launched = || window.beside.is_some_and(|before| self.agent.launches_beside() != before);
        // A context that launches nothing by which it would be known may copy, and launch graphs.
        let made = || window.reach.is_some_and(|(_, before)| wide && CONTEXTS_MADE.load(Ordering::Acquire) != before);
        let beside = || window.disturbed || launched();
        let who = company
            .or_else(|| beside().then_some("another context of the program uses this GPU"))
            .or_else(|| made().then_some("the program made another context, which may be on this GPU"))?;
        Some((passes, who))
    }

    /// Who else is on the GPU, if anybody; then nothing is sampled any more. Where nothing is anyway nobody is looked for.
    pub(in crate::counters) fn company(&self) -> Option<&'static str> {
        self.sampling.as_ref().filter(|sampling| sampling.given_up().is_none())?;
        self.look()
    }

    /// Who came since a window opened that samples, if anybody. Another context may have found him, and that nothing is sampled any
    /// more, for this reason or another, does not help what was.
    fn came(&self) -> Option<&'static str> {
        let known = self.sampling.as_ref().and_then(|sampling| sampling.company());
        known.or_else(|| self.look())
    }

    fn look(&self) -> Option<&'static str> {
        let sampling = self.sampling.as_ref()?;
        let company = alone::company(self.agent.uuid())?;
        sampling.give_up_for(company);
        Some(company)
    }
}
