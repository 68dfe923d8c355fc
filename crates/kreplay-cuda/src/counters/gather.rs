//! A window's readings come from several threads: they are delivered together, once.

use super::Guarded;
use super::beside::Owed;
use kreplay_engine::{CountersError, Deliver, Delivery, LostReadings, Reading};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Collects the parts of a window.
#[derive(Clone, Default)]
pub(super) struct Gather(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Parts that have not come yet.
    missing: usize,
    readings: Vec<Reading>,
    lost: Vec<LostReadings>,
    /// Passes whose readings are not to be believed.
    discarded: Vec<u32>,
    deliver: Option<Deliver>,
}

/// A part that is still to come. Dropped without [`Part::finish`] it is lost.
pub(super) struct Part {
    gather: Gather,
    owed: Owed,
    /// Of which dispatches it is; `None`: of all.
    dispatches: Option<Range<u32>>,
    finished: bool,
}

impl Gather {
    /// The readings of these passes are lost, those that have come and those that will. What was found to be lost before is likely to
    /// be so for the same reason.
    pub(super) fn discard(&self, passes: Vec<u32>, why: CountersError) {
        let mut state = self.0.guarded();
        state.discarded.extend(passes);
        state.lost = vec![LostReadings { dispatches: None, why }];
    }

    /// One more part is to come.
    pub(super) fn part(&self, owed: &Owed) -> Part {
        self.0.guarded().missing += 1;
        owed.add();
        Part { gather: self.clone(), owed: owed.clone(), dispatches: None, finished: false }
    }

    /// No part is added any more: everything is handed to `deliver` as soon as it is there.
    pub(super) fn close(self, deliver: Deliver) {
        self.0.guarded().deliver = Some(deliver);
        self.hand_over();
    }

    fn take(&self, part: Delivery) {
        {
            let mut state = self.0.guarded();
            state.missing -= 1;
            state.readings.extend(part.readings);
            state.lost.extend(part.lost);
        }
        self.hand_over();
    }

    fn hand_over(&self) {
        let mut state = self.0.guarded();
        if state.missing > 0 {
            return;
        }
        let Some(deliver) = state.deliver.take() else { return };
        let mut readings = std::mem::take(&mut state.readings);
        readings.retain(|reading| !state.discarded.contains(&reading.pass));
        let lost = std::mem::take(&mut state.lost);
        drop(state);
        readings.sort_by_key(|reading| reading.dispatch);
        // A recorder that panics must not end a thread that owes others.
        let _ = catch_unwind(AssertUnwindSafe(|| deliver(Delivery { readings, lost })));
    }
}

impl Part {
    /// It is of these dispatches of the window only.
    pub(super) fn of(mut self, dispatches: Range<u32>) -> Self {
        self.dispatches = Some(dispatches);
        self
    }

    /// The part has come.
    pub(super) fn finish(mut self, part: Result<Vec<Reading>, CountersError>) {
        let part = match part {
            Ok(readings) => Delivery { readings, lost: Vec::new() },
            Err(why) => self.without(why),
        };
        self.deliver(part);
    }

    /// The part has come, and some of it may be lost.
    pub(super) fn deliver(mut self, part: Delivery) {
        self.finished = true;
        self.gather.take(part);
        self.owed.done();
    }

    /// All of it is lost.
    fn without(&mut self, why: CountersError) -> Delivery {
        Delivery { readings: Vec::new(), lost: vec![LostReadings { dispatches: self.dispatches.take(), why }] }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.finished {
            let lost = self.without(CountersError::Discarded("what was counted was dropped on its way".into()));
            self.gather.take(lost);
            self.owed.done();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn delivery_waits_for_every_part_and_for_the_windows_end() {
        let (owed, gather) = (Owed::default(), Gather::default());
        let (first, second) = (gather.part(&owed), gather.part(&owed));
        let (sender, receiver) = channel();
        first.finish(Ok(Vec::new()));
        gather.close(Box::new(move |delivery| sender.send(delivery).expect("the test waits")));
        assert!(receiver.try_recv().is_err(), "a part is missing");
        second.finish(Ok(Vec::new()));
        assert_eq!(receiver.try_recv().expect("delivered"), Delivery::default());
        owed.wait();
    }

    #[test]
    fn what_is_lost_does_not_take_the_rest_with_it() {
        let gather = Gather::default();
        let owed = Owed::default();
        let reading = Reading {
            dispatch: 0,
            pass: 1,
            counter: "a".into(),
            unit: "".into(),
            value: kreplay_engine::Value::Count(1),
            derived: false,
            bound: None,
        };
        gather.part(&owed).of(3..5).finish(Err(CountersError::Discarded("a hole".into())));
        gather.part(&owed).finish(Ok(vec![reading.clone()]));
        let (sender, receiver) = channel();
        gather.close(Box::new(move |delivery| sender.send(delivery).expect("the test waits")));
        let lost = vec![LostReadings { dispatches: Some(3..5), why: CountersError::Discarded("a hole".into()) }];
        assert_eq!(receiver.try_recv().expect("delivered"), Delivery { readings: vec![reading], lost });
    }

    #[test]
    fn readings_of_passes_that_are_discarded_are_not_delivered() {
        let gather = Gather::default();
        let owed = Owed::default();
        let reading = |pass| Reading {
            dispatch: 0,
            pass,
            counter: "a".into(),
            unit: "".into(),
            value: kreplay_engine::Value::Count(1),
            derived: false,
            bound: None,
        };
        gather.part(&owed).finish(Ok(vec![reading(0), reading(1)]));
        let late = gather.part(&owed);
        gather.discard(vec![1, 2], CountersError::Discarded("somebody came".into()));
        late.finish(Ok(vec![reading(2), reading(3)]));
        let (sender, receiver) = channel();
        gather.close(Box::new(move |delivery| sender.send(delivery).expect("the test waits")));
        let delivered = receiver.try_recv().expect("delivered");
        assert_eq!(delivered.readings.iter().map(|reading| reading.pass).collect::<Vec<_>>(), [0, 3]);
        let why = CountersError::Discarded("somebody came".into());
        assert_eq!(delivered.lost, [LostReadings { dispatches: None, why }]);
    }

    #[test]
    fn a_dropped_part_is_told() {
        let (owed, gather) = (Owed::default(), Gather::default());
        let part = gather.part(&owed);
        let (sender, receiver) = channel();
        gather.close(Box::new(move |delivery| sender.send(delivery).expect("the test waits")));
        drop(part);
        let lost = receiver.try_recv().expect("delivered").lost;
        assert!(matches!(&lost[..], [LostReadings { dispatches: None, why: CountersError::Discarded(_) }]), "{lost:?}");
        owed.wait();
    }
}
