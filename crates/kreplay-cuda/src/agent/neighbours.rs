//! Contexts that share a device: its counters that are sampled count them all, and only one of them counts at a time.

use super::bystanders::{Bystander, bystanders_of};
use super::whole::per_thread_used;
use super::{CONTEXTS, CudaAgent, Inner, locked};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

/// The agents of the process, by the order in which they came.
static AGENTS: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

impl CudaAgent {
    /// Its context may launch from now on.
    pub(super) fn enter_device(&self) {
        let mut agents = locked(&AGENTS);
        agents.retain(|agent| agent.strong_count() > 0);
        agents.push(Arc::downgrade(&self.0));
    }

    /// Its context goes.
    pub(super) fn leave_device(&self) {
        locked(&AGENTS).retain(|agent| !std::ptr::eq(agent.as_ptr(), Arc::as_ptr(&self.0)));
    }

    /// The agents of other contexts of its device.
    fn neighbours(&self) -> Vec<CudaAgent> {
        if CONTEXTS.load(Ordering::Relaxed) < 2 {
            return Vec::new();
        }
        let agents = locked(&AGENTS).clone();
        let others = agents.iter().filter_map(Weak::upgrade).filter(|other| !Arc::ptr_eq(other, &self.0));
        others.filter(|other| other.device == self.0.device).map(CudaAgent).collect()
    }

    /// Whether another context of the process launches on the same device, or may.
    pub(crate) fn shares_device(&self) -> bool {
        !self.neighbours().is_empty() || !self.bystanders().is_empty()
    }

    /// How much other contexts have launched on the device so far.
    pub(crate) fn launches_beside(&self) -> u64 {
        let of_agents: u64 = self.neighbours().iter().map(|other| other.launches() + other.graphs()).sum();
        of_agents + self.bystanders().iter().map(|other| other.launches()).sum::<u64>()
    }

    /// Waits until what other contexts have submitted to the device is done. `false`: it is not, by `deadline`, or nobody can tell.
    pub(crate) fn neighbours_rest(&self, deadline: Instant) -> bool {
        self.neighbours().iter().all(|other| other.rests(deadline))
            && self.bystanders().iter().all(|other| other.rests(deadline))
    }

    /// Waits for every stream of its context, those of other threads too. `false`: they are not idle by `deadline`.
    fn rests(&self, deadline: Instant) -> bool {
        let known = self.wait_every_stream(deadline, "waiting for another context");
        known.and_then(|()| if per_thread_used() { self.wait_whole(deadline) } else { Ok(()) }).is_ok()
    }

    /// Contexts of its device that have launched and have no agent.
    fn bystanders(&self) -> Vec<Arc<Bystander>> {
        if CONTEXTS.load(Ordering::Relaxed) < 2 {
            return Vec::new();
        }
        bystanders_of(self.0.device, self.0.context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fake_agent;
    use super::*;

    #[test]
    fn contexts_of_a_device_know_of_each_other_while_they_are_there() {
        CONTEXTS.store(2, Ordering::Relaxed);
        let (one, two) = (fake_agent(), fake_agent());
        assert!(one.shares_device() && two.shares_device());
        one.note_launch();
        assert_eq!((one.launches_beside(), two.launches_beside()), (0, 1));
        assert!(one.neighbours_rest(Instant::now()));
        two.close();
        assert!(!one.shares_device() && one.launches_beside() == 0);
    }

    #[test]
    fn graphs_of_another_context_are_launches_too() {
        CONTEXTS.store(2, Ordering::Relaxed);
        let (one, two) = (fake_agent(), fake_agent());
        two.note_graph();
        assert_eq!((one.launches_beside(), two.launches_beside()), (1, 0));
        assert_eq!(
            (two.launches(), two.submissions()),
            (0, 1),
            "it is no launch of a kernel that ranges count one by one"
        );
    }
}
