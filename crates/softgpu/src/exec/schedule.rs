//! Work-groups over host threads, and the waves of a work-group on one of them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::launch::Launch;
use super::order::{Permutation, Random};
use super::stats::add;
use super::step::{Cx, run_wave};
use super::wave::{LANES, State, Wave};
use crate::contract::{ExecOptions, ExecStats, Fault, Memory};

/// Instructions a wave runs before another gets its turn.
const TURN: u64 = 4096;
/// Instructions of a work-group before others get their turn.
const RESIDENCE: u64 = 200_000;
/// Work-groups that a worker keeps at most, the running one included.
const RESIDENT: usize = 1024;
/// Work-groups that are worth another thread.
const GROUPS_PER_THREAD: u64 = 4;

/// What the workers share.
struct Shared<'a> {
    launch: &'a Launch,
    options: &'a ExecOptions,
    order: Permutation,
    next: AtomicU64,
    stop: AtomicBool,
}

/// Runs all work-groups.
pub(super) fn run(launch: &Launch, memory: &dyn Memory, options: &ExecOptions) -> Result<ExecStats, Fault> {
    let count = launch.group_count();
    let order = match options.seed {
        Some(seed) => Permutation::seeded(count, &mut Random::new(seed)),
        None => Permutation::natural(count),
    };
    let shared = Shared { launch, options, order, next: AtomicU64::new(0), stop: AtomicBool::new(false) };
    let threads = match options.seed {
        Some(_) => 1,
        None => options.threads.min(usize::try_from(count / GROUPS_PER_THREAD).unwrap_or(usize::MAX)).max(1),
    };
    if threads == 1 {
        return Worker::new(&shared, memory).run();
    }
    let results = std::thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| Worker::new(&shared, memory).run());
        let others: Vec<_> = (1..threads).map(spawn).collect();
        let mut results = vec![Worker::new(&shared, memory).run()];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    let mut total = ExecStats::default();
    let mut fault = None;
    for result in results {
        match result {
            Ok(stats) => add(&mut total, &stats),
            // A worker that another one's fault stopped says that it was cancelled.
            Err(Fault::Cancelled) => fault = fault.or(Some(Fault::Cancelled)),
            Err(other) => match fault {
                None | Some(Fault::Cancelled) => fault = Some(other),
                Some(_) => {}
            },
        }
    }
    fault.map_or(Ok(total), Err)
}

/// A work-group: its waves, LDS and scratch. Kept and used again for the next one.
pub(super) struct Group {
    waves: Vec<Wave>,
    /// Waves of this work-group; the rest of `waves` is spare.
    count: usize,
    lds: Vec<u32>,
    scratch: Vec<u32>,
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    cx: Cx<'a>,
    random: Option<Random>,
    spare: Vec<Group>,
    aside: VecDeque<Group>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, memory: &'a dyn Memory) -> Worker<'a> {
        Worker {
            shared,
            cx: Cx::new(shared.launch, memory, shared.options.seed.is_some()),
            random: shared.options.seed.map(|seed| Random::new(!seed)),
            spare: Vec::new(),
            aside: VecDeque::new(),
        }
    }

    fn run(mut self) -> Result<ExecStats, Fault> {
        let result = self.run_groups();
        if result.is_err() {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        result.map(|()| self.cx.counts.total())
    }

    fn run_groups(&mut self) -> Result<(), Fault> {
        loop {
            let fresh = if self.aside.len() < RESIDENT { self.start_group()? } else { None };
            let Some(mut group) = fresh.or_else(|| self.aside.pop_front()) else { return Ok(()) };
            std::mem::swap(&mut group.lds, &mut self.cx.lds);
            self.cx.maps.set_scratch(&mut group.scratch);
            let finished = self.run_group(&mut group)?;
            std::mem::swap(&mut group.lds, &mut self.cx.lds);
            if finished {
                self.spare.push(group);
            } else {
                self.aside.push_back(group);
            }
        }
    }

    /// The next work-group of the dispatch, ready to run.
    fn start_group(&mut self) -> Result<Option<Group>, Fault> {
        let launch = self.shared.launch;
        let n = self.shared.next.fetch_add(1, Ordering::Relaxed);
        if n >= launch.group_count() {
            return Ok(None);
        }
        let id = launch.group_id(self.shared.order.at(n));
        let items: u32 = launch.group_size(id).iter().product();
        let count = items.div_ceil(LANES as u32) as usize;
        let mut group = self.spare.pop().unwrap_or_else(|| Group {
            waves: Vec::new(),
            count: 0,
            lds: vec![0; launch.lds_bytes.div_ceil(4)],
            scratch: Vec::new(),
        });
        group.count = count;
        group.waves.resize_with(group.waves.len().max(count), Wave::new);
        // LDS and scratch start with whatever was there on a real GPU; here with zeros, so that runs are repeatable.
        group.lds.fill(0);
        let scratch_words = launch.wave_scratch() as usize / 4 * count;
        if group.scratch.len() < scratch_words {
            group.scratch = vec![0; scratch_words];
        }
        let scratch = group.scratch.as_ptr() as u64;
        for (index, wave) in group.waves[..count].iter_mut().enumerate() {
            launch.start_wave(wave, id, index as u32, scratch, &mut self.cx.maps)?;
        }
        let sums = &mut self.cx.counts.sums;
        sums.workgroups += 1;
        sums.waves += count as u64;
        sums.workitems += u64::from(items);
        Ok(Some(group))
    }

    /// Runs a work-group until it ends (true) or has run long (false).
    fn run_group(&mut self, group: &mut Group) -> Result<bool, Fault> {
        let mut turns: Vec<usize> = (0..group.count).collect();
        let mut left = RESIDENCE;
        loop {
            if let Some(random) = &mut self.random {
                random.shuffle(&mut turns);
            }
            let mut alive = false;
            let mut ran = false;
            for &n in &turns {
                let wave = &mut group.waves[n];
                alive |= wave.state != State::Ended;
                if wave.state != State::Ready {
                    continue;
                }
                if self.shared.options.cancel.load(Ordering::Relaxed) || self.shared.stop.load(Ordering::Relaxed) {
                    return Err(Fault::Cancelled);
                }
                let turn = self.random.as_mut().map_or(TURN, |random| 64 + random.below(TURN));
                let used = run_wave(&mut self.cx, wave, turn)?;
                left = left.saturating_sub(used);
                ran = true;
            }
            if !alive {
                return Ok(true);
            }
            if !ran {
                // Every wave that has not ended waits at the barrier: it is complete.
                for wave in &mut group.waves[..group.count] {
                    if wave.state == State::AtBarrier {
                        wave.state = State::Ready;
                    }
                }
            }
            if left == 0 {
                return Ok(false);
            }
        }
    }
}
