//! Against a pool as an H200's driver has them, and by hand.

use super::*;
use std::collections::BTreeSet;

const MIB: u64 = 1 << 20;
const BASE: u64 = 0x3_0200_0000;

fn at(from: u64, bytes: u64) -> Range {
    Range::new(BASE + from * MIB, bytes * MIB)
}

/// A pool, and what is known of it.
#[derive(Default)]
struct Pool {
    backed: BTreeSet<u64>,
    allocated: BTreeMap<u64, u64>,
    /// A request may be placed here, behind everything.
    behind: u64,
    mapped: Mapped,
    seen: u64,
    /// Allocations that were not explained, nor foreseen to be.
    surprises: u32,
}

impl Pool {
    fn reserved(&self) -> u64 {
        self.backed.len() as u64 * STEP
    }

    fn is_free(&self, step: u64) -> bool {
        let before = self.allocated.range(..(step + 1) * STEP).next_back();
        before.is_none_or(|(base, bytes)| base + bytes <= step * STEP)
    }

    fn free_steps(&self) -> Vec<u64> {
        self.backed.iter().copied().filter(|step| self.is_free(*step)).collect()
    }

    /// Where the first free run of this many bytes begins, and whether it needs steps that are not there: only behind the
    /// last.
    fn place(&self, bytes: u64) -> Option<u64> {
        let ends = self.allocated.iter().map(|(base, bytes)| base + bytes);
        let begins = self.backed.iter().map(|step| step * STEP).chain(ends);
        let fits = |base: &u64| {
            let range = Range::new(*base, bytes);
            let before = self.allocated.range(..range.end()).next_back();
            touched(range, STEP).all(|step| self.backed.contains(&step))
                && before.is_none_or(|(other, bytes)| other + bytes <= *base)
        };
        begins.filter(fits).min()
    }

    /// Allocates. Gives what is said of it, and whether memory was moved.
    fn allocate(&mut self, bytes: u64) -> (u64, Result<(), String>, bool) {
        self.look();
        let before = self.reserved();
        let foreseen = self.mapped.may_move(bytes, before);
        let needed = bytes.div_ceil(STEP) as usize;
        let free = self.free_steps();
        let mut moved = false;
        let base = self.place(bytes).unwrap_or_else(|| {
            moved = free.len() >= needed;
            if moved {
                free[..needed].iter().for_each(|step| assert!(self.backed.remove(step)));
            }
            let behind = self.backed.last().map_or(BASE / STEP, |step| step + 1).max(self.behind);
            // What is free before the new steps is used too.
            let last = self.allocated.last_key_value().map_or(0, |(base, bytes)| base + bytes);
            let tail = !moved && self.backed.contains(&(behind - 1)) && last > (behind - 1) * STEP;
            let base = if tail { last } else { behind * STEP };
            self.backed.extend(behind..(base + bytes).div_ceil(STEP));
            self.behind = (base + bytes).div_ceil(STEP);
            base
        });
        self.allocated.insert(base, bytes);
        let after = self.reserved();
        assert!(self.mapped.backed_by(after));
        let said = self.mapped.allocated(Range::new(base, bytes), before, after);
        assert!(self.mapped.backed_by(after), "steps are what they are taken for");
        self.seen = after;
        self.check();
        self.surprises += u32::from(said.is_err() && !foreseen);
        assert!(!moved || foreseen, "{bytes} bytes were moved together");
        (base, said, moved)
    }

    fn free(&mut self, base: u64) {
        assert_eq!(self.mapped.freed(base), self.allocated.remove(&base));
        self.check();
    }

    /// Gives unused steps back, as far as `keep` does not say no.
    fn trim(&mut self, mut keep: impl FnMut() -> bool) {
        for step in self.free_steps() {
            if !keep() {
                self.backed.remove(&step);
            }
        }
    }

    fn look(&mut self) {
        if self.reserved() < self.seen {
            self.mapped.forget_unused();
        }
        self.seen = self.reserved();
        self.check();
    }

    /// Nothing is taken to be mapped that is not, as far as was looked.
    fn check(&self) {
        if self.seen == self.reserved() {
            let known = self.mapped.steps.keys();
            assert!(known.clone().all(|step| self.backed.contains(step)), "{:?} of {:?}", self.mapped, self.backed);
        }
    }
}

/// `pieces` of tests/cuda/pool_reuse.cu, whose windows end after some launches. A window begins with a synchronise, which trims
/// the pool to its threshold, and holds the pool from its first free on. Gives how many windows it ends.
fn pieces(launches_of_window: u32, threshold: u64, from_behind: bool) -> u32 {
    struct Run {
        pool: Pool,
        launches: u32,
        held: bool,
        ended: u32,
        threshold: u64,
        from_behind: bool,
    }
    impl Run {
        fn synchronise(&mut self) {
            if !self.held {
                let mut over = self.pool.reserved().saturating_sub(self.threshold).div_ceil(STEP);
                let mut others = (self.pool.free_steps().len() as u64).saturating_sub(over);
                self.pool.trim(|| {
                    let counted = if self.from_behind { &mut others } else { &mut over };
                    let more = *counted > 0;
                    *counted -= u64::from(more);
                    more == self.from_behind
                });
            }
        }
        fn launch(&mut self, most: u32) {
            if self.launches.is_multiple_of(most) {
                self.held = false;
                self.synchronise();
            }
            self.launches += 1;
        }
        fn free(&mut self, base: u64) {
            self.pool.look();
            self.held = true;
            self.pool.free(base);
        }
        fn allocate(&mut self, bytes: u64) -> u64 {
            self.pool.look();
            if self.held && self.pool.mapped.may_move(bytes, self.pool.reserved()) {
                self.ended += 1;
                (self.held, self.launches) = (false, 0);
            }
            let (base, said, _) = self.pool.allocate(bytes);
            assert!(said.is_ok() || !self.held, "{bytes} after {} launches: {said:?}", self.launches);
            base
        }
    }
    let mut run = Run { pool: Pool::default(), launches: 0, held: false, ended: 0, threshold, from_behind };
    for _ in 0..3 {
        let mut kept = Vec::new();
        for _ in 0..24 {
            kept.push(run.allocate(3 * MIB));
            run.launch(launches_of_window);
        }
        for base in kept.iter().step_by(2) {
            run.launch(launches_of_window);
            run.free(*base);
        }
        let whole = run.allocate(40 * MIB);
        (0..2).for_each(|_| run.launch(launches_of_window));
        for base in kept.iter().skip(1).step_by(2) {
            (0..2).for_each(|_| run.launch(launches_of_window));
            run.free(*base);
        }
        run.free(whole);
        run.synchronise();
    }
    run.ended
}

#[test]
fn pieces_that_come_and_go_are_explained_wherever_windows_end() {
    for launches in 1..=190 {
        for (threshold, from_behind) in [(0, false), (64 * MIB, false), (64 * MIB, true)] {
            assert_eq!(
                pieces(launches, threshold, from_behind),
                0,
                "windows of {launches}, {threshold}, {from_behind}"
            );
        }
    }
}

#[test]
fn what_moves_is_foreseen_and_noticed_and_what_is_known_is_there() {
    let (mut moves, mut explained, mut surprises) = (0, 0, 0);
    for seed in 1..=300u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut pool = Pool::default();
        for _ in 0..120 {
            match random(10) {
                0 => {
                    let some = random(2) == 0;
                    pool.trim(|| some && random(2) == 0);
                }
                1..=4 if !pool.allocated.is_empty() => {
                    let nth = random(pool.allocated.len() as u64) as usize;
                    let base = *pool.allocated.keys().nth(nth).expect("it is counted");
                    pool.free(base);
                }
                _ => {
                    let sizes = [1, 3, 20, 31, 33, 40, 64, 100, 200];
                    let bytes = sizes[random(sizes.len() as u64) as usize] * MIB - random(2) * 512;
                    let (_, said, moved) = pool.allocate(bytes);
                    assert!(!moved || said.is_err(), "{bytes} bytes were moved together");
                    moves += u32::from(moved);
                    explained += u32::from(!moved && said.is_ok());
                }
            }
        }
        surprises += pool.surprises;
    }
    assert!(moves > 100, "{moves} moves");
    assert!(explained > 100 * surprises, "{explained} explained, {surprises} neither that nor foreseen");
}

#[test]
fn what_lies_in_known_steps_is_explained_and_what_moved_is_not() {
    let mut mapped = Mapped::default();
    let mut allocated = |range, before: u64, after: u64| mapped.allocated(range, before * MIB, after * MIB).is_ok();
    assert!(allocated(at(0, 48), 0, 64), "new backing");
    assert!(allocated(at(48, 40), 64, 96), "the rest of it and more");
    assert!(allocated(at(200, 40), 96, 160), "somewhere else");
    assert!(!allocated(at(1000, 40), 192, 192), "nothing grew, and nobody knew of this place");
    assert!(!allocated(at(2000, 80), 288, 320), "grown by less than is new");
    assert!(allocated(at(3000, 32), 2000, 2000), "a free step holds it where it is");
    assert!(mapped.may_move(100 * MIB, 2000 * MIB));
    assert!(!mapped.may_move(32 * MIB, 2000 * MIB), "a free step holds it where it is");
    mapped.freed(at(1000, 40).base);
    assert!(!mapped.may_move(64 * MIB, 2000 * MIB), "there is room");
    assert!(mapped.may_move(65 * MIB, 2000 * MIB));
    mapped.forget_unused();
    assert!(mapped.may_move(64 * MIB, 2000 * MIB));
    mapped.kept(at(1000, 1));
    assert!(!mapped.may_move(31 * MIB, 2000 * MIB));
}

#[test]
fn steps_are_as_small_as_the_pool_shows() {
    let mut mapped = Mapped::default();
    assert!(mapped.backed_by(0) && mapped.backed_by(96 * MIB));
    assert!(!mapped.backed_by(40 * MIB), "steps of 8 MiB");
    assert!(mapped.allocated(at(0, 9), 40 * MIB, 40 * MIB).is_err(), "two of them may have moved");
    assert!(mapped.allocated(at(20, 8), 40 * MIB, 40 * MIB).is_ok());
    assert!(!mapped.backed_by(24 * MIB), "four are touched: they do not lie at multiples of their size");
    assert!(mapped.allocated(at(40, 4), 40 * MIB, 40 * MIB).is_ok());
    assert!(mapped.allocated(at(60, 5), 40 * MIB, 40 * MIB).is_err());
    assert!(!mapped.backed_by(23 * MIB));
    assert!(mapped.backed_by(1), "of pages at least");
    // The first of an empty pool tells where steps begin.
    let mut mapped = Mapped::default();
    assert!(mapped.allocated(at(16, 10), 0, 32 * MIB).is_ok());
    assert!(mapped.allocated(at(16, 20), 64 * MIB, 64 * MIB).is_err());
}
