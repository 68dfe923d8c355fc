//! The order in which work-groups and waves run.

/// A small generator of pseudo-random numbers (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `limit`, which is not zero.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for n in (1..items.len()).rev() {
            items.swap(n, self.below(n as u64 + 1) as usize);
        }
    }
}

/// A permutation of `0..count` that needs no table: multiples of a number that has no divisor in common with `count`.
pub(super) struct Permutation {
    count: u64,
    factor: u64,
    first: u64,
}

impl Permutation {
    /// The natural order.
    pub(super) fn natural(count: u64) -> Permutation {
        Permutation { count, factor: 1, first: 0 }
    }

    /// The order that `random` gives.
    pub(super) fn seeded(count: u64, random: &mut Random) -> Permutation {
        let mut factor = random.below(count).max(1);
        while common_divisor(factor, count) != 1 {
            factor = factor % count + 1;
        }
        Permutation { count, factor, first: random.below(count) }
    }

    /// The `n`th member.
    pub(super) fn at(&self, n: u64) -> u64 {
        let place = u128::from(n) * u128::from(self.factor) + u128::from(self.first);
        (place % u128::from(self.count)) as u64
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permutation_visits_each_member_once() {
        for count in [1, 2, 7, 64, 1000, 1024] {
            for seed in 0..50 {
                let order = Permutation::seeded(count, &mut Random::new(seed));
                let mut seen: Vec<u64> = (0..count).map(|n| order.at(n)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "count {count}, seed {seed}");
            }
        }
    }
}
