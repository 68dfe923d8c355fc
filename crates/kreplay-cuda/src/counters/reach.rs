//! Whose work is counted, and who else is on the GPU.
//!
//! Sampling counts the whole GPU, and so do ranges where that is known to be the same as counting the program: they are more than
//! twice as fast then. Who comes meanwhile costs the values of what was counted so.

use super::alone;
use super::count::CudaCounters;
use super::ranges::Ranges;
use super::ways::Window;
use crate::agent::CONTEXTS;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Whose work a session of the Range Profiler counts. CUPTI does not tell of this; it was found by measuring (H200, driver 580).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Its context's alone, whatever else runs on the GPU meanwhile. It is had where a context is current to the thread of the
    /// first start, and makes the driver take more than twice as long for every register.
    Context,
    /// Whatever runs on the GPU. It is had where no context is current to that thread.
    Device,
}

impl Reach {
    /// Of passes on a GPU, and what keeps them from counting all of it that somebody may change. It is the process's first one, since
    /// no other was seen to be counted so; the process has no other context; and `alone` says that there is no other process.
    fn of(
        device: i32,
        contexts: usize,
        alone: impl FnOnce() -> Result<(), &'static str>,
    ) -> (Self, Option<&'static str>) {
        if device != 0 || contexts > 1 {
            return (Self::Context, None);
        }
        alone().map_or_else(|why| (Self::Context, Some(why)), |()| (Self::Device, None))
    }
}

/// What a process needs at least from its first context to its first kernel.
const BEGINNING: Duration = Duration::from_millis(50);
/// How long other contexts of the device may take to rest before a pass is sampled.
const NEIGHBOURS: Duration = Duration::from_millis(100);

impl CudaCounters {
    /// How far the passes by ranges of a window may reach.
    pub(super) fn reach(&self, window: &mut Window) -> Reach {
        if let Some(known) = window.reach {
            return known;
        }
        window.beside.get_or_insert_with(|| self.agent.launches_beside());
        *window.reach.insert(self.reach_now())
    }

    /// How far passes by ranges may reach that begin now.
    pub(super) fn reach_now(&self) -> Reach {
        let alone = || alone::certainly(self.agent.uuid());
        let (reach, why) = Reach::of(self.agent.device(), CONTEXTS.load(Ordering::Relaxed), alone);
        if let Some(why) = why {
            let text = format!(
                "ranges count the context alone, which takes about twice as long as to count the whole GPU: {why}"
            );
            (self.warn)("context_counted", text);
        }
        reach
    }

    /// Waits until other contexts of the device rest: what they run would be sampled.
    pub(super) fn await_neighbours(&self, window: &mut Window) {
        // Before it is waited for, so that what comes meanwhile shows.
        window.beside.get_or_insert_with(|| self.agent.launches_beside());
        window.disturbed |= !self.agent.neighbours_rest(Instant::now() + NEIGHBOURS);
    }

    /// Looks who is on the GPU, where passes by ranges count whatever runs there and nobody has looked for a while.
    pub(super) fn look_beside(&self, window: &mut Window) {
        if Ranges::is_wide(&window.ranges) && window.company.is_none() && window.looked.elapsed() > BEGINNING {
            window.company = alone::company_at_once(self.agent.uuid());
            window.looked = Instant::now();
        }
    }

    /// The passes of a window that counted the whole GPU, and who else has used it meanwhile, if anybody did.
    pub(super) fn disturbed(&self, window: &Window) -> Option<(Vec<u32>, &'static str)> {
        let wide = Ranges::is_wide(&window.ranges);
        let by_ranges = window.planned.instances.iter().filter(|_| wide).map(|instance| instance.last());
        let passes: Vec<u32> = window.planned.sampled.iter().map(|sampled| sampled.pass).chain(by_ranges).collect();
        if passes.is_empty() {
            return None;
        }
        let company = match window.company {
            None if wide => alone::company_at_once(self.agent.uuid()),
            known => known,
        };
        let company = company.or_else(|| if window.planned.sampled.is_empty() { None } else { self.company() });
        let launched = || window.beside.is_some_and(|before| self.agent.launches_beside() != before);
        let beside = || window.disturbed || launched();
        let who = company.or_else(|| beside().then_some("another context of the program uses this GPU"))?;
        Some((passes, who))
    }

    /// Who else is on the GPU, if anybody; then nothing is sampled any more. Where nothing is anyway nobody is looked for.
    pub(super) fn company(&self) -> Option<&'static str> {
        let sampling = self.sampling.as_ref().filter(|sampling| sampling.given_up().is_none())?;
        let company = alone::company(self.agent.uuid())?;
        sampling.give_up(format!("{company}, and its work would be sampled too"));
        Some(company)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_the_whole_device_only_where_nobody_else_can_be_on_it() {
        let unasked = || panic!("that is settled without asking");
        assert_eq!(Reach::of(0, 1, || Ok(())), (Reach::Device, None));
        assert_eq!(Reach::of(0, 1, || Err("somebody is")), (Reach::Context, Some("somebody is")));
        assert_eq!(Reach::of(0, 2, unasked), (Reach::Context, None));
        assert_eq!(Reach::of(1, 1, unasked), (Reach::Context, None));
    }
}
