//! What the recorder and the policy are told, once no lock of the engine is held.

use super::Engine;
use crate::lock::lock;
use crate::{
    Agent, Deliver, Delivery, DispatchId, DispatchInfo, DispatchRecord, LostReadings, Recorder, WindowRecord,
    WindowStatus,
};
use crate::{Reading, process::Process};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Something to tell.
pub(crate) enum Event {
    Dispatch(Box<DispatchRecord>),
    Window(Box<WindowRecord>),
    Warn(&'static str, String),
    Ended(Box<DispatchInfo>, WindowStatus),
    Readings(Arc<Readings>),
}

/// What waits until the gate is open.
#[derive(Default)]
pub(crate) struct Outbox(Mutex<Vec<Event>>);

impl<A: Agent> Engine<A> {
    /// Tells the recorder and the policy; from within a window of this thread, once the window is closed.
    pub(crate) fn tell(&self, events: Vec<Event>) {
        let mut waiting = lock(&self.outbox.0);
        if self.gate.owned() {
            waiting.extend(events);
            return;
        }
        let before = std::mem::take(&mut *waiting);
        drop(waiting);
        for event in before.into_iter().chain(events) {
            let Process { recorder, policy, .. } = &*self.process;
            match event {
                Event::Dispatch(record) => recorder.dispatch(*record),
                Event::Window(record) => recorder.window(*record),
                Event::Warn(key, message) => recorder.warn(key, message),
                Event::Ended(info, status) => policy.ended(&info, &status),
                Event::Readings(readings) => readings.release(recorder),
            }
        }
    }
}

/// Readings on their way: they come from the counters at any time, and go to the recorder after the dispatch's record.
pub(crate) struct Readings {
    dispatches: Vec<DispatchId>,
    state: Mutex<State>,
}

enum State {
    /// Neither the record was told nor have the readings come.
    Waiting,
    /// The readings came first.
    Came(Delivery),
    /// The record was told first.
    Told(Arc<dyn Recorder>),
    Delivered,
}

impl Readings {
    /// For a window of these dispatches, in order.
    pub(crate) fn new(dispatches: Vec<DispatchId>) -> Arc<Self> {
        Arc::new(Self { dispatches, state: Mutex::new(State::Waiting) })
    }

    /// What the counters call.
    pub(crate) fn deliver(self: &Arc<Self>) -> Deliver {
        let readings = Arc::clone(self);
        Box::new(move |delivery| {
            let mut state = lock(&readings.state);
            match std::mem::replace(&mut *state, State::Delivered) {
                State::Told(recorder) => {
                    drop(state);
                    readings.hand_over(delivery, &recorder);
                }
                State::Waiting | State::Came(_) => *state = State::Came(delivery),
                State::Delivered => {}
            }
        })
    }

    /// The dispatches' records were told.
    fn release(&self, recorder: &Arc<dyn Recorder>) {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Told(Arc::clone(recorder))) {
            State::Came(delivery) => {
                *state = State::Delivered;
                drop(state);
                self.hand_over(delivery, recorder);
            }
            State::Waiting | State::Told(_) => {}
            State::Delivered => *state = State::Delivered,
        }
    }

    fn hand_over(&self, delivery: Delivery, recorder: &Arc<dyn Recorder>) {
        let mut own: Vec<Vec<Reading>> = self.dispatches.iter().map(|_| Vec::new()).collect();
        for reading in delivery.readings {
            if let Some(own) = own.get_mut(reading.dispatch as usize) {
                own.push(reading);
            }
        }
        for (dispatch, own) in self.dispatches.iter().zip(own) {
            recorder.readings(*dispatch, own);
        }
        let mut lost: BTreeMap<String, Vec<DispatchId>> = BTreeMap::new();
        for LostReadings { dispatches, why } in delivery.lost {
            let whole = 0..self.dispatches.len();
            let range = dispatches.map_or(whole, |range| range.start as usize..range.end as usize);
            let those = self.dispatches.get(range).unwrap_or(&self.dispatches);
            lost.entry(format!("values are lost: {why}")).or_default().extend(those);
        }
        for (why, dispatches) in lost {
            recorder.lost(&dispatches, why);
            recorder.warn("counters_lost", "values of some dispatches are lost; their notes say why".to_owned());
        }
    }
}
