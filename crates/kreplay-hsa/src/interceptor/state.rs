//! What the interceptor knows, once for the process.

use super::code::Code;
use super::code_objects::CodeObjects;
use super::counted_queues::CountedQueues;
use super::guard;
use super::in_flight::Copies;
use super::lending::Loans;
use super::live::Allocations;
use super::machine::Machine;
use super::queues::Queues;
use super::unit::Unit;
use crate::abi::AgentHandle;
use crate::agent::{PoolInfo, Waits};
use crate::tables::Api;
use kreplay_session::Session;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};

/// How long the windows and counters have at the program's end.
const FINISH: Duration = Duration::from_secs(30);
/// How long threads that are passing packets on, and the program's last packets, are waited for after that.
const LEAVE: Duration = Duration::from_secs(2);

/// The interceptor's state. It lives until the process ends.
pub(crate) struct Backend {
    /// The runtime's own functions.
    pub(crate) api: Api,
    /// The link to the command.
    pub(crate) session: Arc<Session>,
    /// How long a drain may take.
    pub(super) drain_deadline: Duration,
    /// How long a pass may take.
    pub(super) pass_deadline: Duration,
    /// Live allocations.
    pub(crate) allocations: Allocations,
    /// Loaded code.
    pub(crate) code: Code,
    /// What loaded code says of itself.
    pub(super) code_objects: CodeObjects,
    /// Copies in flight.
    pub(crate) copies: Copies,
    /// What the program's barriers wait for.
    pub(super) waits: Arc<Waits>,
    /// Queues of the program.
    pub(super) queues: Queues,
    /// Those of them that the program took for shared ones.
    pub(super) counted_queues: CountedQueues,
    /// Whether others may write memory in which variables lie.
    pub(super) variables_exported: AtomicBool,
    /// Host memory that windows capture.
    pub(super) loans: Loans,
    machine: OnceLock<Machine>,
    /// The process that was loaded into. Children that were not told that they are (a bare `clone`) are known by it.
    process: u32,
    /// Whether this is a forked child of that process.
    forked: AtomicBool,
    /// Whether nothing is to be intercepted any more.
    off: AtomicBool,
    /// Closes what is open when the command has gone.
    parting: Once,
    finished: AtomicBool,
    /// Threads that pass packets on.
    inside: AtomicUsize,
}

/// A thread is inside.
pub(super) struct Inside<'a>(&'a Backend);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

static BACKEND: OnceLock<Backend> = OnceLock::new();

thread_local! {
    /// Whether this thread is looking at the machine now: what the runtime is asked then is not the program's.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread is closing what is open, and calls of its own still have to be looked at.
    static PARTING: Cell<bool> = const { Cell::new(false) };
}

/// Nothing, for a thread that is looking.
static NOTHING: Machine = Machine { units: Vec::new(), pools: Vec::new() };

impl Backend {
    pub(crate) fn new(api: Api, session: Arc<Session>) -> Self {
        let settings = session.engine_settings();
        Self {
            api,
            session,
            drain_deadline: settings.drain_deadline,
            pass_deadline: settings.pass_deadline,
            process: std::process::id(),
            forked: AtomicBool::new(false),
            allocations: Allocations::default(),
            code: Code::default(),
            code_objects: CodeObjects::default(),
            copies: Copies::new(api),
            waits: Arc::new(Waits::new(api)),
            queues: Queues::default(),
            counted_queues: CountedQueues::default(),
            variables_exported: AtomicBool::new(false),
            loans: Loans::default(),
            machine: OnceLock::new(),
            off: AtomicBool::new(false),
            parting: Once::new(),
            finished: AtomicBool::new(false),
            inside: AtomicUsize::new(0),
        }
    }

    /// Whether calls are still looked at. Once false it stays false, but for the thread that is looking at the machine.
    pub(crate) fn is_on(&self) -> bool {
        if self.off.load(Ordering::SeqCst) || LOOKING.get() {
            return false;
        }
        self.session.alive() || PARTING.get() || {
            self.part();
            false
        }
    }

    /// The command has gone. What it is told of is over, but a batch window may be open, whose work needs memory that the
    /// program is going to free unseen: it is closed first. Other threads wait.
    fn part(&self) {
        self.parting.call_once(|| {
            PARTING.set(true);
            let close = || {
                for unit in self.machine.get().map_or(&[][..], |machine| &machine.units) {
                    unit.engine.finish(Instant::now() + FINISH);
                }
            };
            guard("the end of the command", close, || ());
            PARTING.set(false);
        });
    }

    /// This is a forked child: nothing is to be intercepted, closed or told, and no lock to be taken. Only sets flags.
    pub(super) fn forked(&self) {
        self.forked.store(true, Ordering::SeqCst);
        self.off.store(true, Ordering::SeqCst);
        self.session.alive_flag().store(false, Ordering::Relaxed);
    }

    /// Whether this is a forked child. Calls that look at state of ours without [`Backend::is_on`] leave it alone then.
    pub(crate) fn is_forked(&self) -> bool {
        self.forked.load(Ordering::Relaxed)
    }

    /// The GPUs and pools. They are looked at when the program makes its first call of interest: inside `OnLoad` the
    /// runtime is not ready for queues and libraries.
    fn machine(&self) -> &Machine {
        if LOOKING.get() || self.is_forked() {
            return &NOTHING;
        }
        self.machine.get_or_init(|| {
            LOOKING.set(true);
            let machine = guard(
                "the look at the machine",
                || Machine::look(self.api, &self.session, &self.waits),
                Machine::default,
            );
            LOOKING.set(false);
            machine
        })
    }

    /// The GPUs.
    pub(crate) fn units(&self) -> &[Unit] {
        &self.machine().units
    }

    /// All pools of global memory, those of the host too.
    pub(crate) fn pools(&self) -> &[PoolInfo] {
        &self.machine().pools
    }

    /// The GPU with this handle.
    pub(crate) fn unit(&self, handle: AgentHandle) -> Option<&Unit> {
        self.units().iter().find(|unit| unit.handle() == handle)
    }

    /// The program ends: windows close, counters are flushed, the command hears the end. Only the first call does it.
    pub(crate) fn finish(&self) {
        if std::process::id() != self.process || self.finished.swap(true, Ordering::AcqRel) {
            return;
        }
        let deadline = Instant::now() + FINISH;
        let units = self.machine.get().map_or(&[][..], |machine| &machine.units);
        if !self.off.load(Ordering::Relaxed) {
            for unit in units {
                unit.engine.finish(deadline);
            }
        }
        self.off.store(true, Ordering::SeqCst);
        // Whoever is passing packets on still needs the counters.
        let leave = Instant::now() + LEAVE;
        while self.inside.load(Ordering::SeqCst) != 0 && Instant::now() < leave {
            std::thread::yield_now();
        }
        if self.inside.load(Ordering::SeqCst) == 0 {
            for unit in units {
                unit.agent.close(deadline.min(Instant::now() + LEAVE));
            }
            self.copies.close();
        }
        self.session.finish();
    }

    /// Goes in, to pass packets on; `None` when nothing is intercepted any more. While somebody is inside, what he uses
    /// is not given back.
    pub(super) fn enter(&self) -> Option<Inside<'_>> {
        self.inside.fetch_add(1, Ordering::SeqCst);
        let inside = Inside(self);
        self.is_on().then_some(inside)
    }
}

/// The state, once the library is in place.
pub(crate) fn backend() -> Option<&'static Backend> {
    BACKEND.get()
}

/// Puts the state in place. `false` when there is one already.
pub(crate) fn put(backend: Backend) -> bool {
    BACKEND.set(backend).is_ok()
}

/// Something of ours went wrong beyond repair: nothing is intercepted any more.
pub(super) fn turn_off(place: &'static str) {
    if let Some(backend) = backend() {
        backend.off.store(true, Ordering::Release);
        let message = format!("an internal error in {place}: this process goes on unprofiled; please report it");
        backend.session.warn("internal_error", message);
    }
}
