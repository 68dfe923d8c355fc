//! Contexts that launch and have no agent: none of their launches was selected. What they run on a device that is sampled is counted
//! all the same.

use super::guard::{Current, Depth};
use super::locked;
use super::whole::Whole;
use crate::tables::{Context, Driver};
use kreplay_engine::AgentError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// Those that there are.
static BYSTANDERS: Mutex<Vec<Arc<Bystander>>> = Mutex::new(Vec::new());

/// See the module.
#[derive(Debug)]
pub(crate) struct Bystander {
    driver: Arc<Driver>,
    context: Context,
    /// `None` inside: the driver does not tell.
    device: OnceLock<Option<i32>>,
    launches: AtomicU64,
    /// How many of these were done when that was last asked.
    rested: AtomicU64,
    /// Its context is about to go, or has an agent: nobody asks about it any more.
    gone: Mutex<bool>,
    whole: Whole,
}

/// The bystanders of a device, but for a context itself. One of which it is not known may be on it.
pub(super) fn bystanders_of(device: i32, context: Context) -> Vec<Arc<Bystander>> {
    let all = locked(&BYSTANDERS).clone();
    let on = |other: &Arc<Bystander>| other.context != context && other.device().is_none_or(|own| own == device);
    all.into_iter().filter(on).collect()
}

impl Bystander {
    /// A context is about to launch for the first time, and gets no agent for that.
    pub(crate) fn enter(driver: &Arc<Driver>, context: Context) -> Arc<Self> {
        let made = Arc::new(Self {
            driver: Arc::clone(driver),
            context,
            device: OnceLock::new(),
            launches: AtomicU64::new(0),
            rested: AtomicU64::new(0),
            gone: Mutex::new(false),
            whole: Whole::default(),
        });
        locked(&BYSTANDERS).push(Arc::clone(&made));
        made
    }

    /// Its context goes, or has an agent from now on.
    pub(crate) fn leave(&self) {
        locked(&BYSTANDERS).retain(|other| !std::ptr::eq(Arc::as_ptr(other), self));
        // Who asks about it has done so then.
        *locked(&self.gone) = true;
    }

    /// It launches something.
    pub(crate) fn note_launch(&self) {
        self.launches.fetch_add(1, Ordering::Relaxed);
    }

    /// How much it has launched.
    pub(super) fn launches(&self) -> u64 {
        self.launches.load(Ordering::Relaxed)
    }

    /// The ordinal of its device, where the driver tells.
    pub(crate) fn device(&self) -> Option<i32> {
        *self.device.get_or_init(|| {
            let gone = locked(&self.gone);
            let _depth = Depth::enter();
            let _current = (!*gone).then(|| Current::enter(&self.driver, self.context)).and_then(Result::ok)?;
            self.driver.current_device().ok()
        })
    }

    /// Waits until what it has launched is done. `false`: it is not, by `deadline`, or nobody can tell.
    pub(super) fn rests(&self, deadline: Instant) -> bool {
        let launches = self.launches();
        if self.rested.load(Ordering::Relaxed) == launches {
            return true;
        }
        let gone = locked(&self.gone);
        if *gone {
            return true;
        }
        let failed = |error| AgentError::Failed { call: "waiting for another context", status: format!("{error}") };
        let rests = self.whole.wait(&self.driver, self.context, deadline, failed).is_ok();
        if rests {
            self.rested.store(launches, Ordering::Relaxed);
        }
        rests
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fake_agent, soon};
    use super::super::{CONTEXTS, CudaAgent};
    use super::*;
    use crate::fake;
    use std::time::Duration;

    fn other(agent: &CudaAgent) -> Arc<Bystander> {
        CONTEXTS.store(2, Ordering::Relaxed);
        Bystander::enter(&agent.0.driver, Context(0xB00 as *mut std::ffi::c_void))
    }

    #[test]
    fn a_context_without_an_agent_shares_the_device_from_its_first_launch_on() {
        let agent = fake_agent();
        assert!(!agent.shares_device());
        let other = other(&agent);
        assert!(agent.shares_device());
        other.note_launch();
        other.note_launch();
        assert_eq!(agent.launches_beside(), 2);
        other.leave();
        assert!(!agent.shares_device() && agent.launches_beside() == 0);
    }

    #[test]
    fn it_is_waited_for_where_it_has_launched() {
        let agent = fake_agent();
        let other = other(&agent);
        fake::set_busy_unseen(true);
        assert!(agent.neighbours_rest(Instant::now()), "it has launched nothing");
        other.note_launch();
        assert!(!agent.neighbours_rest(Instant::now() + Duration::from_millis(20)));
        fake::set_busy_unseen(false);
        assert!(agent.neighbours_rest(soon()));
        fake::set_busy_unseen(true);
        assert!(agent.neighbours_rest(Instant::now()), "nothing since");
        fake::set_busy_unseen(false);
    }
}
