//! Bank conflicts of LDS accesses.

use super::lds::consecutive;
use crate::exec::wave::LANES;

/// Patterns of addresses kept: loops use few.
const KEPT: usize = 4;

/// A pattern of addresses, relative to the first lane's dword, and its conflicts. A bank more or less for all lanes
/// changes nothing.
struct Pattern {
    relative: [u32; LANES],
    mask: u64,
    dwords: usize,
    conflicts: u64,
}

/// Counts conflicts, remembering the last patterns.
pub(in crate::exec) struct Conflicts {
    patterns: [Pattern; KEPT],
    oldest: usize,
}

impl Default for Conflicts {
    fn default() -> Conflicts {
        let empty = || Pattern { relative: [0; LANES], mask: 0, dwords: 0, conflicts: 0 };
        Conflicts { patterns: std::array::from_fn(|_| empty()), oldest: 0 }
    }
}

impl Conflicts {
    /// Cycles beyond the first of an access of `dwords` a lane.
    pub(super) fn count(&mut self, addresses: &[u32; LANES], mask: u64, dwords: usize) -> u64 {
        let base = addresses[0] & !3;
        let mut relative = [0; LANES];
        for (relative, address) in relative.iter_mut().zip(addresses) {
            *relative = address.wrapping_sub(base);
        }
        let same = |p: &&Pattern| {
            let differs = p.relative.iter().zip(&relative).fold(0, |all, (a, b)| all | a ^ b);
            p.mask == mask && p.dwords == dwords && differs == 0
        };
        if let Some(known) = self.patterns.iter().find(same) {
            return known.conflicts;
        }
        let conflicts = conflicts(&relative, mask, dwords);
        self.patterns[self.oldest] = Pattern { relative, mask, dwords, conflicts };
        self.oldest = (self.oldest + 1) % KEPT;
        conflicts
    }
}

/// Cycles beyond the first: the lanes go in groups that ask for 32 dwords, and a bank gives one dword a cycle, to all
/// lanes that ask for it.
fn conflicts(addresses: &[u32; LANES], mask: u64, dwords: usize) -> u64 {
    // What most programs do: lanes one behind the other, or all at the same address.
    if consecutive(addresses, mask, 4 * dwords as u32).is_some() && addresses[0].is_multiple_of(4) {
        return 0;
    }
    if addresses.iter().fold(0, |all, address| all | address ^ addresses[0]) == 0 {
        return 0;
    }
    let group = 32 / dwords.next_power_of_two();
    let mut extra = 0;
    for first in (0..LANES).step_by(group) {
        let mut asked = [u32::MAX; 32];
        let mut clash = false;
        for lane in (first..first + group).filter(|lane| mask >> lane & 1 != 0) {
            for k in 0..dwords as u32 {
                let dword = (addresses[lane] >> 2).wrapping_add(k);
                let bank = &mut asked[dword as usize % 32];
                clash |= *bank != u32::MAX && *bank != dword;
                *bank = dword;
            }
        }
        if clash {
            extra += busiest_bank(addresses, mask, dwords, first, group) - 1;
        }
    }
    extra
}

/// The number of distinct dwords that the busiest bank must give to a group of lanes.
#[cold]
fn busiest_bank(addresses: &[u32; LANES], mask: u64, dwords: usize, first: usize, group: usize) -> u64 {
    let mut asked = [0u32; 32];
    let mut count = 0;
    let mut banks = [0u64; 32];
    for lane in (first..first + group).filter(|lane| mask >> lane & 1 != 0) {
        for k in 0..dwords as u32 {
            let dword = (addresses[lane] >> 2).wrapping_add(k);
            if !asked[..count].contains(&dword) {
                asked[count] = dword;
                count += 1;
                banks[dword as usize % 32] += 1;
            }
        }
    }
    banks.into_iter().max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(f: impl Fn(u32) -> u32) -> [u32; LANES] {
        std::array::from_fn(|lane| f(lane as u32))
    }

    #[test]
    fn bank_conflicts_are_cycles_beyond_the_first() {
        let all = u64::MAX;
        assert_eq!(conflicts(&lanes(|l| 4 * l), all, 1), 0, "one behind the other");
        assert_eq!(conflicts(&lanes(|_| 64), all, 1), 0, "all the same");
        assert_eq!(conflicts(&lanes(|l| 4 * (l % 7)), all, 1), 0, "some the same");
        assert_eq!(conflicts(&lanes(|l| 8 * l), all, 1), 2, "two dwords a bank in each half");
        assert_eq!(conflicts(&lanes(|l| 128 * l), all, 1), 62, "one bank for all");
        assert_eq!(conflicts(&lanes(|l| 128 * l), 0xf, 1), 3, "one bank for four lanes");
        assert_eq!(conflicts(&lanes(|l| 16 * l), all, 4), 0, "four dwords a lane, in groups of eight lanes");
        assert_eq!(conflicts(&lanes(|l| 132 * l), all, 1), 0, "a padded column");
        assert_eq!(conflicts(&lanes(|_| u32::MAX), all, 4), 0, "beyond any memory");
    }
}
