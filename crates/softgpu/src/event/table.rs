//! The events of a device and the threads that wait on them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::MAX_EVENTS;
use super::looks::Looks;

/// What an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Raised by packets and by the program.
    Signal,
    /// Raised by memory faults, which it carries.
    Memory,
    /// Any other kind of the thunk's: can be raised by the program only.
    Other(u32),
}

/// What a memory event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// The address.
    pub address: u64,
    /// Whether it is not mapped at all; otherwise it is mapped read-only.
    pub not_present: bool,
    /// Not an access but a packet that the engine cannot go on from.
    pub hang: bool,
}

/// One event that ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// Its position in the list waited for.
    pub index: usize,
    /// What it carries.
    pub fault: Option<MemoryFault>,
}

/// Why an event call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// All [`MAX_EVENTS`] are in use.
    #[error("all events are in use")]
    TooMany,
    /// No such event.
    #[error("there is no event {0}")]
    Unknown(u32),
}

#[derive(Debug)]
struct Event {
    kind: EventKind,
    manual: bool,
    raised: bool,
    age: u64,
    looks: Looks,
    waiters: u32,
    fault: Option<MemoryFault>,
}

/// All events of a device.
#[derive(Debug, Default)]
pub struct Events {
    table: Mutex<BTreeMap<u32, Event>>,
    wake: Condvar,
}

impl Events {
    /// Creates an event and returns its number, which is never 0: that is "no event" in a signal.
    ///
    /// # Errors
    /// [`EventError::TooMany`].
    pub fn create(&self, kind: EventKind, manual: bool, raised: bool) -> Result<u32, EventError> {
        let mut table = self.lock();
        let free = (1..MAX_EVENTS).find(|id| !table.contains_key(id)).ok_or(EventError::TooMany)?;
        let age = next_age();
        table.insert(free, Event { kind, manual, raised, age, looks: Looks::new(age), waiters: 0, fault: None });
        Ok(free)
    }

    /// Removes an event; whoever waits on it wakes.
    ///
    /// # Errors
    /// [`EventError::Unknown`].
    pub fn destroy(&self, id: u32) -> Result<(), EventError> {
        self.lock().remove(&id).ok_or(EventError::Unknown(id))?;
        self.wake.notify_all();
        Ok(())
    }

    /// Raises an event.
    ///
    /// # Errors
    /// [`EventError::Unknown`].
    pub fn set(&self, id: u32) -> Result<(), EventError> {
        let mut table = self.lock();
        raise(table.get_mut(&id).ok_or(EventError::Unknown(id))?);
        drop(table);
        self.wake.notify_all();
        Ok(())
    }

    /// Takes an event's raise back.
    ///
    /// # Errors
    /// [`EventError::Unknown`].
    pub fn reset(&self, id: u32) -> Result<(), EventError> {
        let mut table = self.lock();
        let event = table.get_mut(&id).ok_or(EventError::Unknown(id))?;
        event.raised = false;
        event.looks = Looks::new(event.age);
        Ok(())
    }

    /// Whether an event stands raised.
    ///
    /// # Errors
    /// [`EventError::Unknown`].
    pub fn is_set(&self, id: u32) -> Result<bool, EventError> {
        Ok(self.lock().get(&id).ok_or(EventError::Unknown(id))?.raised)
    }

    /// Raises every memory event with what happened; returns how many there were.
    pub fn memory_fault(&self, fault: MemoryFault) -> usize {
        let mut table = self.lock();
        let mut told = 0;
        for event in table.values_mut().filter(|e| e.kind == EventKind::Memory) {
            event.fault.get_or_insert(fault);
            raise(event);
            told += 1;
        }
        drop(table);
        self.wake.notify_all();
        told
    }

    /// Waits until one of the events (or each of them, with `all`) is raised; `None` waits for ever. The events that
    /// were raised are returned, none when the time was up. Events destroyed meanwhile count as raised, and so do those that were
    /// raised since this thread waited for them last.
    ///
    /// # Errors
    /// [`EventError::Unknown`] for an event that does not exist at the start.
    pub fn wait(&self, ids: &[u32], all: bool, timeout: Option<Duration>) -> Result<Vec<Raised>, EventError> {
        self.wait_older(ids, all, timeout, None)
    }

    /// As [`Events::wait`], but an event whose age is another than `seen` says counts as raised at once (0 says nothing). On return
    /// `seen` holds the ages as they are now, for the next wait.
    ///
    /// # Errors
    /// As [`Events::wait`].
    pub fn wait_older(
        &self,
        ids: &[u32],
        all: bool,
        timeout: Option<Duration>,
        mut seen: Option<&mut [u64]>,
    ) -> Result<Vec<Raised>, EventError> {
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut table = self.lock();
        if let Some(&missing) = ids.iter().find(|id| !table.contains_key(id)) {
            return Err(EventError::Unknown(missing));
        }
        // What stands raised already is taken at once; of the rest the age tells.
        let ages: Vec<u64> = ids.iter().map(|id| table[id].age).collect();
        let mut done: Vec<bool> = ids.iter().map(|id| take(&mut table, *id)).collect();
        for (i, &mut age) in seen.iter_mut().flat_map(|s| s.iter_mut()).enumerate().take(ids.len()) {
            done[i] |= age != 0 && age != ages[i];
        }
        let enough = |done: &[bool]| if all { done.iter().all(|&d| d) } else { done.iter().any(|&d| d) };
        let mut waiting = false;
        while !enough(&done) {
            if !waiting {
                each(&mut table, ids, |e| e.waiters += 1);
                waiting = true;
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left.is_some_and(|l| l.is_zero()) {
                break;
            }
            table = match left {
                None => self.wake.wait(table).unwrap_or_else(PoisonError::into_inner),
                Some(left) => self.wake.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0,
            };
            for (i, id) in ids.iter().enumerate() {
                done[i] |= table.get(id).is_none_or(|e| e.age != ages[i]);
            }
        }
        if waiting {
            each(&mut table, ids, |e| e.waiters -= 1);
        }
        each(&mut table, ids, |e| e.looks.saw(e.age));
        for (i, age) in seen.iter_mut().flat_map(|s| s.iter_mut()).enumerate().take(ids.len()) {
            *age = table.get(&ids[i]).map_or(*age, |e| e.age);
        }
        if !enough(&done) {
            return Ok(Vec::new());
        }
        let fault = |id: &u32| table.get(id).and_then(|e| e.fault);
        let raised = ids.iter().enumerate().filter(|(i, _)| done[*i]);
        Ok(raised.map(|(index, id)| Raised { index, fault: fault(id) }).collect())
    }

    /// Live events.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.lock().len() as u64
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Event>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ages are never used twice, so that an event made under the number of a destroyed one is not taken for it.
fn next_age() -> u64 {
    static AGE: AtomicU64 = AtomicU64::new(1);
    AGE.fetch_add(1, Ordering::Relaxed)
}

fn raise(event: &mut Event) {
    event.age = next_age();
    event.raised = event.manual || event.waiters == 0;
}

/// Whether the event stands raised, or was since this thread looked last; an auto-reset one is taken down.
fn take(table: &mut BTreeMap<u32, Event>, id: u32) -> bool {
    table.get_mut(&id).is_none_or(|e| {
        let was = e.raised || e.looks.is_news(e.age);
        e.raised &= e.manual;
        was
    })
}

fn each(table: &mut BTreeMap<u32, Event>, ids: &[u32], change: impl Fn(&mut Event)) {
    for id in ids {
        if let Some(event) = table.get_mut(id) {
            change(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const NOW: Option<Duration> = Some(Duration::ZERO);

    fn is(events: &Events, id: u32) -> bool {
        !events.wait(&[id], false, NOW).unwrap().is_empty()
    }

    #[test]
    fn auto_reset_is_taken_once_and_manual_stays() {
        let events = Events::default();
        let auto = events.create(EventKind::Signal, false, false).unwrap();
        let manual = events.create(EventKind::Signal, true, true).unwrap();
        assert_ne!(auto, 0);
        assert!(!is(&events, auto));
        events.set(auto).unwrap();
        assert!(is(&events, auto) && !is(&events, auto));
        assert!(is(&events, manual) && is(&events, manual));
        events.reset(manual).unwrap();
        assert!(!is(&events, manual));
        events.destroy(auto).unwrap();
        assert_eq!(events.set(auto), Err(EventError::Unknown(auto)));
        assert_eq!(events.count(), 1);
    }

    #[test]
    fn one_raise_wakes_every_waiter_of_that_time() {
        let events = Arc::new(Events::default());
        let id = events.create(EventKind::Signal, false, false).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let events = Arc::clone(&events);
                std::thread::spawn(move || events.wait(&[id], false, None).unwrap().len())
            })
            .collect();
        while events.lock()[&id].waiters < 4 {
            std::thread::yield_now();
        }
        events.set(id).unwrap();
        assert!(threads.into_iter().all(|t| t.join().unwrap() == 1));
        assert!(!events.is_set(id).unwrap());
    }

    /// A thread that destroys a queue looks at the queue's signal; ROCr's own thread stores to that, raises the event that all
    /// queues share, and waits for that event itself; then the first thread begins to wait for it.
    #[test]
    fn a_raise_that_another_thread_takes_is_not_lost() {
        let events = Events::default();
        let id = events.create(EventKind::Signal, false, false).unwrap();
        let elsewhere =
            |what: &(dyn Fn() -> bool + Sync)| std::thread::scope(|scope| scope.spawn(what).join().unwrap());
        for _ in 0..2 {
            assert!(!is(&events, id));
            assert!(elsewhere(&|| {
                events.set(id).unwrap();
                is(&events, id) && !is(&events, id)
            }));
            assert!(is(&events, id), "it would be waited for for ever");
        }
        // One that was taken back is nobody's.
        events.set(id).unwrap();
        events.reset(id).unwrap();
        assert!(!is(&events, id) && !elsewhere(&|| is(&events, id)));
    }

    #[test]
    fn all_waits_for_each() {
        let events = Events::default();
        let a = events.create(EventKind::Signal, false, true).unwrap();
        let b = events.create(EventKind::Signal, false, false).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| events.wait(&[a, b], true, None).unwrap().len());
            while events.lock()[&b].waiters < 1 {
                std::thread::yield_now();
            }
            events.set(b).unwrap();
            assert_eq!(waiter.join().unwrap(), 2);
        });
    }

    #[test]
    fn an_age_that_was_not_seen_counts_as_raised() {
        let events = Events::default();
        let id = events.create(EventKind::Signal, false, false).unwrap();
        let mut age = [1 << 60];
        let older = |age: &mut [u64]| !events.wait_older(&[id], false, NOW, Some(age)).unwrap().is_empty();
        assert!(older(&mut age) && !older(&mut age));
        events.set(id).unwrap();
        assert!(is(&events, id), "somebody else takes it down");
        assert!(older(&mut age) && !older(&mut age));
        let mut nothing = [0];
        assert!(!older(&mut nothing) && nothing == age);
    }

    #[test]
    fn a_memory_event_carries_its_first_fault() {
        let events = Events::default();
        let id = events.create(EventKind::Memory, false, false).unwrap();
        let fault = |address| MemoryFault { address, not_present: true, hang: false };
        assert_eq!(events.memory_fault(fault(0x1000)), 1);
        events.memory_fault(fault(0x2000));
        let raised = events.wait(&[id], false, NOW).unwrap();
        assert_eq!(raised, [Raised { index: 0, fault: Some(fault(0x1000)) }]);
    }

    #[test]
    fn events_run_out_at_the_drivers_limit() {
        let events = Events::default();
        let mut made = 0;
        while events.create(EventKind::Signal, false, false).is_ok() {
            made += 1;
        }
        assert_eq!(made, MAX_EVENTS - 1);
    }
}
