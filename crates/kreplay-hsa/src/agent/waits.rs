//! What the program's barriers wait for.
//!
//! A barrier packet waits for signals. What work lowers that was submitted before it falls by itself. Any other signal is
//! lowered by the host, another process, or something that is submitted later: perhaps only after the call in which a window
//! would wait for the barrier. Such a wait is *stuck* once it has stood in the way for a moment in all; then nobody
//! waits for it any more.

use super::queue_work::QueueWork;
use crate::abi::{Packet, Signal, Waiting};
use crate::tables::Api;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For how long the host is waited for: a function of its that the program has put between two kernels is called soon.
const HOST: Duration = Duration::from_millis(50);
/// Waits that are followed from one to the next.
const MOST_STEPS: u32 = 16;

/// Something submitted.
#[derive(Clone)]
pub(crate) enum Work {
    /// A submission, by its number on its queue.
    Queue(Arc<QueueWork>, u64),
    /// Anything else: whether it is over.
    Other(Arc<AtomicBool>),
}

impl Work {
    /// Something that is over when [`Work::end`] says so.
    pub(crate) fn other() -> Self {
        Self::Other(Arc::new(AtomicBool::new(false)))
    }

    /// It is over, and its signals have fallen.
    pub(crate) fn end(&self) {
        if let Self::Other(over) = self {
            over.store(true, Ordering::Release);
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Self::Queue(queue, number) => queue.is_over(*number),
            Self::Other(over) => over.load(Ordering::Acquire),
        }
    }
}

/// A barrier's wait, in the submission with this number on its queue.
struct Wait {
    queue: Arc<QueueWork>,
    number: u64,
    /// One of them is enough.
    any: bool,
    awaited: Vec<Awaited>,
    /// Since when somebody waits for it in vain.
    since: Option<Instant>,
}

/// A signal, what it must be, and what was submitted before that lowers it.
struct Awaited {
    wanted: Waiting,
    lowered_by: Vec<Work>,
}

impl Awaited {
    fn is_met(&self, api: &Api) -> bool {
        // SAFETY: a barrier that is not over keeps its signals; one that the program destroys is forgotten before.
        self.wanted.is_met(unsafe { (api.signal_load)(self.wanted.signal) })
    }
}

impl Wait {
    fn is_met(&self, api: &Api) -> bool {
        let mut awaited = self.awaited.iter();
        if self.any { awaited.any(|one| one.is_met(api)) } else { awaited.all(|one| one.is_met(api)) }
    }

    /// Whether everything before it on its queue is over.
    fn is_first(&self) -> bool {
        self.queue.is_over(self.number - 1)
    }
}

/// Every wait that is not over, of all GPUs. See the module.
pub(crate) struct Waits {
    api: Api,
    state: Mutex<State>,
    /// Waits that are known.
    known: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Which work lowers a signal.
    lowered_by: HashMap<u64, Vec<Work>>,
    waits: Vec<Wait>,
}

impl Waits {
    /// No waits.
    pub(crate) fn new(api: Api) -> Self {
        Self { api, state: Mutex::default(), known: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These packets are about to be the submission with this number on their queue. Whether a barrier waits for them that was submitted
    /// before: then the order of submission is not that in which things run.
    pub(crate) fn submitted(&self, queue: &Arc<QueueWork>, number: u64, packets: &[Packet]) -> bool {
        let concerns = |packet: &Packet| packet.completion().handle != 0 || packet.waits().is_some();
        if !packets.iter().any(concerns) {
            return false;
        }
        let mut late = false;
        let work = Work::Queue(Arc::clone(queue), number);
        let mut state = self.lock();
        for packet in packets {
            if let Some((wanted, any)) = packet.waits() {
                let awaited = wanted
                    .into_iter()
                    .map(|wanted| Awaited { wanted, lowered_by: state.who_lowers(wanted.signal) })
                    .collect();
                state.waits.push(Wait { queue: Arc::clone(queue), number, any, awaited, since: None });
            }
            late |= state.lowers(&self.api, &work, packet.completion());
        }
        state.waits.retain(|wait| !wait.queue.is_over(wait.number));
        self.known.store(state.waits.len(), Ordering::Relaxed);
        late
    }

    /// This work lowers a signal before it is over. Whether it comes late, as [`Waits::submitted`] tells.
    pub(crate) fn lowers(&self, work: &Work, signal: Signal) -> bool {
        self.lock().lowers(&self.api, work, signal)
    }

    /// The program destroys a signal.
    pub(crate) fn forget(&self, signal: Signal) {
        let mut state = self.lock();
        state.lowered_by.remove(&signal.handle);
        state.waits.retain_mut(|wait| {
            let all = wait.awaited.len();
            wait.awaited.retain(|one| one.wanted.signal != signal);
            // Nobody destroys a signal that a barrier still needs.
            !(wait.awaited.is_empty() || wait.any && wait.awaited.len() != all)
        });
        self.known.store(state.waits.len(), Ordering::Relaxed);
    }

    /// A queue was destroyed.
    pub(crate) fn queue_ends(&self, queue: &Arc<QueueWork>) {
        let other = |work: &Work| !matches!(work, Work::Queue(own, _) if Arc::ptr_eq(own, queue));
        let mut state = self.lock();
        state.lowered_by.retain(|_, works| {
            works.retain(other);
            !works.is_empty()
        });
        state.waits.retain(|wait| !Arc::ptr_eq(&wait.queue, queue));
        for awaited in state.waits.iter_mut().flat_map(|wait| &mut wait.awaited) {
            awaited.lowered_by.retain(other);
        }
        self.known.store(state.waits.len(), Ordering::Relaxed);
    }

    /// Whether a queue does not get to the end of the submission with this number for a wait that is stuck, to the best of what is
    /// known.
    pub(crate) fn is_stuck(&self, queue: &Arc<QueueWork>, number: u64) -> bool {
        if self.known.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut state = self.lock();
        let api = &self.api;
        state.waits.retain(|wait| !wait.queue.is_over(wait.number) && !wait.is_met(api));
        self.known.store(state.waits.len(), Ordering::Relaxed);
        let stands = |wait: &Wait| state.stands(api, wait, MOST_STEPS);
        let (now, stand): (_, Vec<bool>) = (Instant::now(), state.waits.iter().map(stands).collect());
        for (wait, stands) in state.waits.iter_mut().zip(stand) {
            wait.since = stands.then(|| wait.since.unwrap_or(now));
        }
        let stuck = |wait: &Wait| wait.since.is_some_and(|since| now - since >= HOST);
        state.waits.iter().any(|wait| is_in_the_way(wait, queue, number) && stuck(wait))
    }
}

/// Whether a wait comes before the end of this submission.
fn is_in_the_way(wait: &Wait, queue: &Arc<QueueWork>, number: u64) -> bool {
    Arc::ptr_eq(&wait.queue, queue) && wait.number <= number
}

impl State {
    fn lowers(&mut self, api: &Api, work: &Work, signal: Signal) -> bool {
        if signal.handle == 0 {
            return false;
        }
        let known = self.lowered_by.entry(signal.handle).or_default();
        known.retain(|work| !work.is_over());
        known.push(work.clone());
        let mut late = false;
        for wait in self.waits.iter_mut().filter(|wait| !wait.queue.is_over(wait.number)) {
            for one in wait.awaited.iter_mut().filter(|one| one.wanted.signal == signal && one.lowered_by.is_empty()) {
                if !one.is_met(api) {
                    one.lowered_by.push(work.clone());
                    late = true;
                }
            }
        }
        late
    }

    fn who_lowers(&self, signal: Signal) -> Vec<Work> {
        let known = self.lowered_by.get(&signal.handle).map_or(&[][..], Vec::as_slice);
        known.iter().filter(|work| !work.is_over()).cloned().collect()
    }

    /// Whether a wait is next on its queue, and nothing that was submitted before it ends it.
    fn stands(&self, api: &Api, wait: &Wait, steps: u32) -> bool {
        let hopeless = |one: &Awaited| {
            // Looked at last: work that is over has lowered its signals before.
            !one.lowered_by.iter().any(|work| self.moves(api, work, steps)) && !one.is_met(api)
        };
        let mut awaited = wait.awaited.iter();
        wait.is_first() && if wait.any { awaited.all(hopeless) } else { awaited.any(hopeless) }
    }

    /// Whether work will be over by itself.
    fn moves(&self, api: &Api, work: &Work, steps: u32) -> bool {
        let stands = |queue, number| {
            steps > 0
                && self.waits.iter().any(|wait| is_in_the_way(wait, queue, number) && self.stands(api, wait, steps - 1))
        };
        !work.is_over() && !matches!(work, Work::Queue(queue, number) if stands(queue, *number))
    }
}
