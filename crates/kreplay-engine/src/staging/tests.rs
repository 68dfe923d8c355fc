use super::*;
use crate::{AgentError, AgentId, Backing, Range, Tier};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const KIB: u64 = 1024;
const A: AgentId = AgentId(1);
const B: AgentId = AgentId(2);

/// Counts what it gives and takes; fails from the call numbered `fail_from` on.
struct Host {
    id: u64,
    next: AtomicU64,
    live: Mutex<BTreeSet<(u64, u64)>>,
    fail_from: AtomicU64,
}

impl Host {
    fn new(id: u64) -> Arc<Self> {
        Arc::new(Self { id, next: AtomicU64::new(0), live: Mutex::default(), fail_from: AtomicU64::new(u64::MAX) })
    }

    fn live_bytes(&self) -> u64 {
        self.live.lock().unwrap().iter().map(|(_, bytes)| bytes).sum()
    }
}

impl Storage for Host {
    fn allocate(&self, bytes: u64) -> Result<Backing, AgentError> {
        let count = self.next.fetch_add(1, Ordering::SeqCst);
        if count >= self.fail_from.load(Ordering::SeqCst) {
            return Err(AgentError::Exhausted { tier: Tier::Host, bytes });
        }
        let base = self.id << 48 | (count + 1) << 32;
        assert!(self.live.lock().unwrap().insert((base, bytes)));
        Ok(Backing { range: Range::new(base, bytes), tier: Tier::Host, token: base })
    }

    fn free(&self, backing: Backing) {
        assert_eq!(backing.token, backing.range.base);
        assert!(
            self.live.lock().unwrap().remove(&(backing.range.base, backing.range.bytes)),
            "freed twice, or by another agent"
        );
    }
}

fn pools(limit: u64) -> (Staging, Arc<Host>, Arc<Host>) {
    let (staging, a, b) = (Staging::new(limit), Host::new(1), Host::new(2));
    staging.open(A, a.clone());
    staging.open(B, b.clone());
    (staging, a, b)
}

#[test]
fn acquire_sizes_storage_to_the_request() {
    let (staging, host, _) = pools(u64::MAX);
    let buffer = staging.acquire(A, 4096).unwrap();
    assert_eq!(buffer.range().bytes, 4096);
    assert_eq!(host.live_bytes(), 4096);
    assert_eq!(staging.retained_bytes(A), 0);
}

#[test]
fn destroyed_storage_is_reused_by_the_next_acquire() {
    let (staging, host, _) = pools(u64::MAX);
    let first = staging.acquire(A, 64 * KIB).unwrap();
    let storage = first.range();
    drop(first);
    assert_eq!(staging.retained_bytes(A), 64 * KIB);
    let second = staging.acquire(A, 64 * KIB).unwrap();
    assert_eq!(second.range(), storage);
    assert_eq!((staging.retained_bytes(A), host.live_bytes()), (0, 64 * KIB));
}

#[test]
fn reuse_is_best_fit_within_twice_the_request() {
    let (staging, _, _) = pools(u64::MAX);
    let large = staging.acquire(A, 100 * KIB).unwrap();
    let storage = large.range().base;
    drop(large);
    let small = staging.acquire(A, 40 * KIB).unwrap();
    assert_ne!(small.range().base, storage, "100 KiB is more than twice 40 KiB");
    let fitting = staging.acquire(A, 60 * KIB).unwrap();
    assert_eq!(fitting.range(), Range::new(storage, 60 * KIB), "reused, sized to the request");
    // Of several that fit, the smallest.
    let (wide, tight) = (staging.acquire(A, 90 * KIB).unwrap(), staging.acquire(A, 70 * KIB).unwrap());
    let best = tight.range().base;
    drop((wide, tight));
    assert_eq!(staging.acquire(A, 65 * KIB).unwrap().range().base, best);
}

#[test]
fn pools_are_per_agent() {
    let (staging, a, b) = pools(u64::MAX);
    drop(staging.acquire(A, 8 * KIB).unwrap());
    let other = staging.acquire(B, 8 * KIB).unwrap();
    assert_eq!(other.range().base >> 48, 2, "storage of agent 1 was handed to agent 2");
    assert_eq!((staging.retained_bytes(A), staging.retained_bytes(B)), (8 * KIB, 0));
    drop(other);
    assert_eq!(staging.trim(A), 8 * KIB);
    assert_eq!((a.live_bytes(), b.live_bytes()), (0, 8 * KIB));
    assert_eq!((staging.retained_bytes(A), staging.retained_bytes(B)), (0, 8 * KIB));
}

#[test]
fn moves_return_storage_exactly_once() {
    let (staging, host, _) = pools(u64::MAX);
    let first = staging.acquire(A, KIB).unwrap();
    let moved = first;
    assert_eq!(staging.retained_bytes(A), 0, "a move returns nothing");
    let mut slot = Some(moved);
    // The old owner's storage returns when another buffer takes its place, and only that.
    slot.replace(staging.acquire(A, 3 * KIB).unwrap());
    assert_eq!(staging.retained_bytes(A), KIB);
    drop(slot);
    assert_eq!(staging.retained_bytes(A), 4 * KIB);
    assert_eq!(staging.trim(A), 4 * KIB);
    assert_eq!((host.live_bytes(), staging.used()), (0, 0));
}

#[test]
fn snap_frees_retained_storage_it_does_not_reuse() {
    // What the pool does when a capture ends. That the engine's captures do end so, declined ones too, is tested on
    // the engine (`a_capture_trims_the_pool_even_when_it_declines`).
    let (staging, host, _) = pools(u64::MAX);
    drop([staging.acquire(A, 8 * KIB).unwrap(), staging.acquire(A, 64 * KIB).unwrap()]);
    let kept = staging.acquire(A, 8 * KIB).unwrap();
    assert_eq!(staging.trim(A), 64 * KIB);
    assert_eq!((staging.retained_bytes(A), host.live_bytes()), (0, 8 * KIB));
    drop(kept);
    assert_eq!(staging.retained_bytes(A), 8 * KIB, "what was in use is retained for the next capture");
}

#[test]
fn failing_allocation_changes_nothing() {
    let (staging, host, _) = pools(100 * KIB);
    host.fail_from.store(1, Ordering::SeqCst);
    let held = staging.acquire(A, 10 * KIB).unwrap();
    assert!(matches!(staging.acquire(A, 20 * KIB), Err(AgentError::Exhausted { .. })));
    assert_eq!((staging.used(), staging.retained_bytes(A)), (10 * KIB, 0));
    drop(held);
    assert!(staging.acquire(A, 10 * KIB).is_ok(), "what is retained needs no allocation");
}

#[test]
fn the_budget_covers_all_agents() {
    let (staging, _, b) = pools(10 * KIB);
    let a = staging.acquire(A, 8 * KIB).unwrap();
    assert!(staging.acquire(B, 4 * KIB).is_err());
    assert_eq!(b.live_bytes(), 0, "the agent was not asked");
    drop(a);
    assert!(staging.acquire(B, 4 * KIB).is_err(), "retained storage counts");
    staging.trim(A);
    assert!(staging.acquire(B, 4 * KIB).is_ok());
}

#[test]
fn a_late_return_during_process_exit_is_safe() {
    let (staging, host, _) = pools(u64::MAX);
    let (late, retained) = (staging.acquire(A, KIB).unwrap(), staging.acquire(A, 2 * KIB).unwrap());
    drop(retained);
    staging.close(A);
    assert_eq!(host.live_bytes(), KIB, "what was retained is freed");
    let frees = host.next.load(Ordering::SeqCst);
    drop(late);
    assert_eq!((host.live_bytes(), host.next.load(Ordering::SeqCst)), (KIB, frees), "the agent is not called any more");
    assert!(staging.acquire(A, KIB).is_err());
    // The pools themselves may go first.
    let late = staging.acquire(B, KIB).unwrap();
    drop(staging);
    drop(late);
}

#[test]
fn storage_may_return_from_any_thread() {
    let (staging, host, _) = pools(u64::MAX);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..200 {
                    let buffer = staging.acquire(A, (round % 7 + 1) * KIB).unwrap();
                    std::thread::yield_now();
                    drop(buffer);
                    if round % 50 == 0 {
                        staging.trim(A);
                    }
                }
            });
        }
    });
    staging.trim(A);
    assert_eq!((host.live_bytes(), staging.used(), staging.retained_bytes(A)), (0, 0, 0));
}

#[derive(Clone, Debug)]
enum Step {
    Acquire(u64),
    Drop(usize),
    Trim,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u64..5000).prop_map(Step::Acquire),
        3 => any::<usize>().prop_map(Step::Drop),
        1 => Just(Step::Trim),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #[test]
    fn storage_is_conserved_and_fits(steps in steps(), fail_from in 0u64..100) {
        let (staging, host, _) = pools(50_000);
        host.fail_from.store(fail_from, Ordering::SeqCst);
        let mut held: Vec<Buffer> = Vec::new();
        for step in steps {
            match step {
                Step::Acquire(size) => {
                    let retained = staging.retained_bytes(A);
                    match staging.acquire(A, size) {
                        Ok(buffer) => {
                            let taken = retained - staging.retained_bytes(A);
                            prop_assert!(taken == 0 || (size..=2 * size).contains(&taken));
                            prop_assert_eq!(buffer.range().bytes, size);
                            held.push(buffer);
                        }
                        Err(_) => prop_assert_eq!(staging.retained_bytes(A), retained),
                    }
                }
                Step::Drop(index) if !held.is_empty() => drop(held.swap_remove(index % held.len())),
                Step::Drop(_) => {}
                Step::Trim => {
                    staging.trim(A);
                    prop_assert_eq!(staging.retained_bytes(A), 0);
                }
            }
            let mut ranges: Vec<_> = held.iter().map(Buffer::range).collect();
            ranges.sort();
            prop_assert!(ranges.windows(2).all(|pair| !pair[0].overlaps(pair[1])), "storage handed out twice");
            prop_assert_eq!(host.live_bytes(), staging.used());
            prop_assert!(staging.used() <= 50_000);
            prop_assert!(staging.high_water(A) >= host.live_bytes());
        }
        drop(held);
        staging.trim(A);
        prop_assert_eq!((host.live_bytes(), staging.used()), (0, 0));
    }
}
