//! Threads of ours in the program.

use std::thread::Builder;
use std::time::Duration;

/// Starts one that takes no signals: they are for the program's own threads. `false`: none can be had.
pub(crate) fn start(name: &'static str, work: Box<dyn FnOnce() + Send>) -> bool {
    let blocked = Signals::block();
    let thread = Builder::new().name(name.to_owned()).spawn(work);
    drop(blocked);
    thread.is_ok()
}

/// Blocks all signals on this thread, for threads that it begins, until it is dropped. A thread that blocked its own would take some
/// before it came to that.
pub(crate) struct Signals {
    before: libc::sigset_t,
}

impl Signals {
    pub(crate) fn block() -> Option<Self> {
        // SAFETY: plain sets of bits, filled before use; they live on this stack.
        unsafe {
            let mut all = std::mem::zeroed::<libc::sigset_t>();
            let mut before = std::mem::zeroed::<libc::sigset_t>();
            libc::sigfillset(&raw mut all);
            let status = libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            (status == 0).then_some(Self { before })
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set that this thread had before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

/// A set of CPUs, and how many it can name.
type Cpus = libc::cpu_set_t;
const MOST_CPUS: usize = libc::CPU_SETSIZE as usize;

/// The CPU that this thread is on now, if the kernel tells.
pub(crate) fn cpu() -> Option<usize> {
    // SAFETY: it takes nothing and changes nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// How long a thread that leaves its CPU sleeps. Where it is moved to somebody may be at work; where it wakes up nobody is, if there is
/// such a CPU.
const NAP: Duration = Duration::from_micros(50);

/// Moves this thread to another CPU of those that it may run on, but not to `shunned`. It may go anywhere again then, and stays as
/// long as the scheduler has no reason to move it. `false`: there is no other, or it may not be moved.
pub(crate) fn leave_cpu(shunned: Option<usize>) -> bool {
    let Some(current) = cpu() else { return false };
    go_elsewhere([Some(current), shunned].into_iter().flatten(), || std::thread::sleep(NAP))
}

/// Moves this thread away from these CPUs, does something there, and lets it run wherever it might before.
fn go_elsewhere(from: impl Iterator<Item = usize>, there: impl FnOnce()) -> bool {
    let Some(allowed) = allowed() else { return false };
    let mut others = allowed;
    for cpu in from.filter(|cpu| *cpu < MOST_CPUS) {
        // SAFETY: the set has this bit.
        unsafe { libc::CPU_CLR(cpu, &mut others) };
    }
    // The kernel refuses an empty set.
    if !allow(&others) {
        return false;
    }
    there();
    allow(&allowed);
    true
}

/// Where this thread may run.
fn allowed() -> Option<Cpus> {
    // SAFETY: plain bits, which the call fills; it lives on this stack, and is as large as is said.
    unsafe {
        let mut allowed = std::mem::zeroed::<Cpus>();
        (libc::sched_getaffinity(0, size_of::<Cpus>(), &raw mut allowed) == 0).then_some(allowed)
    }
}

/// Lets this thread run there; `false`: the kernel refuses.
fn allow(cpus: &Cpus) -> bool {
    // SAFETY: a set that is as large as is said, and is only read.
    unsafe { libc::sched_setaffinity(0, size_of::<Cpus>(), std::ptr::from_ref(cpus)) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Whether this thread blocks a signal.
    fn blocks(signal: i32) -> bool {
        // SAFETY: a set that the call fills; nothing is changed.
        unsafe {
            let mut now = std::mem::zeroed::<libc::sigset_t>();
            assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut now), 0);
            libc::sigismember(&raw const now, signal) == 1
        }
    }

    #[test]
    fn a_thread_of_ours_takes_no_signals_and_the_programs_go_on_to() {
        let signals = [libc::SIGALRM, libc::SIGUSR1, libc::SIGTERM, libc::SIGPROF];
        let before = signals.map(blocks);
        let (sender, receiver) = channel();
        assert!(start("kreplay-test", Box::new(move || sender.send(signals.map(blocks)).expect("the test waits"))));
        assert_eq!(receiver.recv(), Ok([true; 4]));
        assert_eq!(signals.map(blocks), before);
    }

    /// The CPUs that this thread may run on.
    fn known() -> Vec<usize> {
        let allowed = allowed().expect("the kernel tells");
        // SAFETY: the set has these bits.
        (0..MOST_CPUS).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &allowed) }).collect()
    }

    #[test]
    fn a_thread_goes_where_it_is_not_told_to_leave_and_may_go_anywhere_again() {
        let before = known();
        for wanted in before.iter().take(8) {
            let mut reached = None;
            assert!(go_elsewhere(before.iter().copied().filter(|cpu| cpu != wanted), || reached = cpu()));
            assert_eq!((reached, known()), (Some(*wanted), before.clone()));
        }
    }

    #[test]
    fn a_thread_without_another_cpu_stays() {
        let before = known();
        assert!(!go_elsewhere(before.iter().copied(), || unreachable!("there is nowhere to go")));
        assert_eq!(known(), before);
        assert_eq!(leave_cpu(None), before.len() > 1);
        assert_eq!(known(), before);
    }
}
