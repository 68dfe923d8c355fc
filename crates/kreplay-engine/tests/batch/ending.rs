//! The end of a window that fails, and of one that is open at the program's end.

use crate::setup::{batch, setup};
use crate::support::{Scripted, Setup, limits};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{
    BatchLimits, ClosingReason, CounterInfo, Counters, CountersError, Decline, Deliver, Engine, Operation, Outcome,
    Plan, PlanError, PlannedPass, Request, RunGuard, Settings,
};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// What a thread does while a call of another one reads memory; `reads` is that call, until it lets go.
fn while_another_reads(
    engine: &Arc<Engine<MemoryAgent>>,
    meanwhile: impl FnOnce(),
    reads: impl FnOnce(RunGuard<MemoryAgent>) + Send,
) {
    std::thread::scope(|scope| {
        let (holds, held) = mpsc::channel();
        scope.spawn(move || {
            let guard = engine.memory_operation(Operation::Reads);
            holds.send(()).unwrap();
            reads(guard);
        });
        held.recv().unwrap();
        meanwhile();
    });
}

/// Counters that take their time to abandon a window, and look whether another is opened meanwhile.
struct Slow {
    inner: Arc<Scripted>,
    abandoning: Mutex<mpsc::Sender<()>>,
    opened: (Mutex<mpsc::Sender<()>>, Mutex<mpsc::Receiver<()>>),
}

impl Counters for Slow {
    fn list(&self) -> Vec<CounterInfo> {
        self.inner.list()
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        self.inner.plan(request)
    }

    fn open(&self, plan: &Plan, dispatches: u32) -> Result<(), CountersError> {
        self.opened.0.lock().unwrap().send(()).unwrap();
        self.inner.open(plan, dispatches)
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        self.inner.begin(pass)
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        self.inner.before(index)
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
        self.inner.after(index)
    }

    fn end(&self) -> Result<(), CountersError> {
        self.inner.end()
    }

    fn collect(&self, deliver: Deliver) {
        self.inner.collect(deliver);
    }

    fn abandon(&self) {
        let opened = self.opened.1.lock().unwrap();
        while opened.try_recv().is_ok() {}
        self.abandoning.lock().unwrap().send(()).unwrap();
        // Time for the other thread to show itself; a sound engine passes at any speed.
        let overtaken = opened.recv_timeout(Duration::from_millis(200)).is_ok();
        self.inner.abandon();
        assert!(!overtaken, "another window was opened beside this one");
    }

    fn flush(&self) {
        self.inner.flush();
    }
}

#[test]
fn no_window_opens_beside_one_that_is_given_up() {
    let (sender, abandoning) = mpsc::channel();
    let (opens, opened) = mpsc::channel();
    let inner = Scripted::new();
    let opened = (Mutex::new(opens), Mutex::new(opened));
    let counters = Arc::new(Slow { inner: Arc::clone(&inner), abandoning: Mutex::new(sender), opened });
    let request = Request { names: vec!["a".into(), "b".into()], ..Request::default() };
    let setup = Setup::new(Settings { request, ..batch(1) }, Some(counters));
    let before = setup.word();
    setup.launch(1);
    inner.take();
    setup.agent.fail_every(Some((Call::Drain, Fault::Fails)));
    std::thread::scope(|scope| {
        let setup = &setup;
        scope.spawn(move || {
            abandoning.recv().unwrap();
            setup.agent.fail_every(None);
            setup.launch(1);
        });
        setup.engine.close_window();
    });
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.word(), before + 2);
    assert_eq!(inner.take()[..2], ["abandon".to_owned(), "open 50".to_owned()]);
    let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert!(matches!(outcomes[0], Outcome::Declined { reason: Decline::DrainTimeout, .. }), "{outcomes:?}");
    assert_eq!(outcomes[1], Outcome::Replayed);
}

/// It waits as long as for any drain, once, and then runs as it is.
#[test]
fn a_launch_whose_window_is_full_does_not_wait_for_ever_for_the_agent() {
    let limits = BatchLimits { dispatches: 1, ..limits() };
    let setup = setup(Settings { drain_deadline: Duration::from_millis(400), batch: limits, ..batch(3) }, None);
    let before = setup.word();
    setup.launch(1);
    // It ends once the launch was made, as a copy behind a kernel that waits for that launch.
    let (ends, end) = mpsc::channel::<()>();
    let meanwhile = || {
        setup.launch(3);
        drop(ends);
    };
    while_another_reads(&setup.engine, meanwhile, move |guard| {
        let _ = end.recv();
        drop(guard);
    });
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.word(), before + 2);
    let records = setup.log.take_dispatches();
    let declined = |key| records.iter().find(|record| record.kernel.key == key).map(|record| record.outcome.clone());
    assert!(matches!(declined(3), Some(Outcome::Declined { reason: Decline::DrainTimeout, .. })), "{records:?}");
    // Something ran within it that it has not recorded.
    assert!(matches!(declined(1), Some(Outcome::Declined { reason: Decline::PassFailed, .. })), "{records:?}");
}

/// A copy to the host may wait behind a long kernel for longer than the program's end does.
#[test]
fn a_window_that_cannot_be_closed_at_the_end_is_told_of() {
    let setup = setup(Settings { drain_deadline: Duration::from_millis(50), ..batch(3) }, None);
    let before = setup.word();
    setup.launch(1);
    let submitted = setup.agent.submissions();
    let engine = &setup.engine;
    let (ends, end) = mpsc::channel::<()>();
    let meanwhile = || {
        engine.finish(Instant::now());
        drop(ends);
    };
    while_another_reads(engine, meanwhile, move |guard| {
        let _ = end.recv();
        drop(guard);
        // It is over: what comes is neither recorded nor kept waiting.
        drop(engine.memory_operation(Operation::Other));
    });
    assert_eq!(setup.word(), before + 1);
    assert_eq!(setup.agent.submissions(), submitted, "nothing was replayed");
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Failed)]);
    let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert!(matches!(outcomes[..], [Outcome::Declined { reason: Decline::DrainTimeout, .. }]), "{outcomes:?}");
}

#[test]
fn the_end_waits_for_its_deadline_before_it_leaves_a_window() {
    let setup = setup(Settings { drain_deadline: Duration::ZERO, ..batch(3) }, None);
    let before = setup.word();
    setup.launch(1);
    let meanwhile = || setup.engine.finish(Instant::now() + Duration::from_secs(20));
    while_another_reads(&setup.engine, meanwhile, |guard| {
        // Longer than a drain may take.
        std::thread::sleep(Duration::from_millis(30));
        drop(guard);
    });
    assert_eq!(setup.word(), before + 1);
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Exit)]);
    assert_eq!(setup.log.last_dispatch().outcome, Outcome::Replayed);
    assert_eq!((setup.agent.usage().device, setup.agent.usage().host), (0, 0));
}
