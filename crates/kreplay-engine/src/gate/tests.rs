//! The gate among threads.

use super::*;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

#[test]
fn a_window_waits_for_shared_holds_until_its_deadline() {
    let gate = Arc::new(Gate::default());
    let hold = gate.share();
    let other = Arc::clone(&gate);
    let denied = std::thread::spawn(move || other.close(Instant::now()).is_none()).join().unwrap();
    assert!(denied);
    // The window that gave up keeps nobody out.
    drop(gate.share());
    let (waits, other) = (Arc::new(AtomicBool::new(true)), Arc::clone(&gate));
    let flag = Arc::clone(&waits);
    let window = std::thread::spawn(move || {
        let alone = other.close(soon());
        assert!(!flag.load(Ordering::SeqCst), "the window opened under a shared hold");
        drop(alone.expect("the gate became free"));
    });
    while gate.state.load(Ordering::SeqCst) & WAITING == 0 {
        std::thread::yield_now();
    }
    waits.store(false, Ordering::SeqCst);
    drop(hold);
    window.join().unwrap();
}

#[test]
fn a_thread_never_waits_for_itself() {
    let gate = Arc::new(Gate::default());
    let outer = gate.share();
    assert!(gate.entered());
    assert!(gate.close(soon()).is_none(), "a window inside a hold would wait for itself");
    let inner = gate.share();
    drop(outer);
    assert!(gate.entered());
    drop(inner);
    assert!(!gate.entered());
    let alone = gate.close(soon()).unwrap();
    assert!(gate.owned());
    drop(gate.share());
    assert!(gate.close(soon()).is_none());
    drop(alone);
    assert!(!gate.owned());
    assert_eq!(gate.state.load(Ordering::SeqCst), 0);
}

#[test]
fn a_window_may_go_on_as_a_shared_hold() {
    let gate = Arc::new(Gate::default());
    let shared = gate.close(soon()).unwrap().downgrade();
    assert!(gate.entered() && !gate.owned());
    let other = Arc::clone(&gate);
    let outcome = std::thread::spawn(move || (other.close(Instant::now()).is_none(), drop(other.share()))).join();
    assert!(outcome.unwrap().0, "no window beside the hold");
    drop(shared);
    assert!(!gate.entered());
    assert_eq!(gate.state.load(Ordering::SeqCst), 0);
}

#[test]
fn holds_may_move_to_another_thread() {
    let gate = Arc::new(Gate::default());
    let hold = gate.share();
    std::thread::spawn(move || drop(hold)).join().unwrap();
    assert!(!gate.entered());
    let alone = gate.close(soon()).unwrap();
    std::thread::spawn(move || drop(alone)).join().unwrap();
    drop(gate.share());
}

#[test]
fn nobody_is_let_in_beside_a_window_and_nobody_starves() {
    let gate = Arc::new(Gate::default());
    let (inside, alone) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    std::thread::scope(|scope| {
        for kind in 0..6 {
            let (gate, inside, alone) = (&gate, &inside, &alone);
            scope.spawn(move || {
                for _ in 0..300 {
                    if kind % 2 == 0 {
                        let hold = gate.share();
                        inside.fetch_add(1, Ordering::SeqCst);
                        assert!(!alone.load(Ordering::SeqCst));
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(hold);
                    } else {
                        let hold = gate.close(soon()).expect("every window gets its turn");
                        assert!(!alone.swap(true, Ordering::SeqCst));
                        std::thread::yield_now();
                        assert_eq!(inside.load(Ordering::SeqCst), 0);
                        alone.store(false, Ordering::SeqCst);
                        drop(hold);
                    }
                }
            });
        }
    });
    assert_eq!(gate.state.load(Ordering::SeqCst), 0);
}

#[test]
fn a_window_that_tries_takes_the_gate_from_nobody() {
    let gate = Arc::new(Gate::default());
    drop(gate.try_close().expect("nobody has it"));
    let shared = gate.share();
    assert!(gate.try_close().is_none(), "it is held");
    drop(shared);
    let alone = gate.try_close().unwrap();
    assert!(gate.owned() && gate.try_close().is_none());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| drop(gate.share()));
        while gate.state.load(Ordering::SeqCst) & QUEUED == 0 {
            std::thread::yield_now();
        }
        // Shared holds that wait go first, also before a window that does not wait.
        let mut queue = lock(&gate.queue);
        queue.admitted = queue.waiting;
        gate.state.fetch_and(!ALONE, Ordering::SeqCst);
        assert!(gate.try_close().is_none(), "a shared hold is to go first");
        gate.state.fetch_or(ALONE, Ordering::SeqCst);
        drop(queue);
        drop(alone);
        waits.join().unwrap();
    });
    assert_eq!(gate.state.load(Ordering::SeqCst), 0);
}

#[test]
fn holds_of_many_gates_are_told_apart() {
    let gates: Vec<Arc<Gate>> = (0..3 * REMEMBERED).map(|_| Arc::default()).collect();
    let first = gates[0].share();
    assert!(!first.is_nested());
    for gate in &gates[1..] {
        let (hold, within) = (gate.share(), gate.share());
        assert!(within.is_nested() && gate.entered());
        drop((hold, within));
        assert!(!gate.entered());
    }
    assert!(gates[0].entered(), "a hold that is held is not forgotten");
    assert!(HOLDS.with_borrow(Vec::len) <= REMEMBERED, "what is not held is forgotten");
    drop(first);
    assert!(gates.iter().all(|gate| gate.state.load(Ordering::SeqCst) == 0));
}
