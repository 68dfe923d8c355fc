//! Counting the distinct 64-byte lines of one instruction.

const SLOTS: usize = 1024;

/// A set of lines that is emptied by raising a number.
pub(in crate::exec) struct Lines {
    slots: Box<[(u64, u64)]>,
    round: u64,
    count: u64,
    last: u64,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { slots: vec![(0, 0); SLOTS].into_boxed_slice(), round: 0, count: 0, last: u64::MAX }
    }
}

impl Lines {
    /// Empties the set.
    pub(super) fn start(&mut self) {
        self.round += 1;
        self.count = 0;
        self.last = u64::MAX;
    }

    /// Adds the lines of `bytes` at `address`. An instruction touches at most 64 times five lines, so there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, address: u64, bytes: u64) {
        let (first, last) = (address >> 6, address.wrapping_add(bytes - 1) >> 6);
        if first == last && first == self.last {
            return;
        }
        for line in first..=last {
            self.add_line(line);
        }
        self.last = last;
    }

    fn add_line(&mut self, line: u64) {
        let mut at = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        loop {
            let (round, there) = self.slots[at];
            if round != self.round {
                self.slots[at] = (self.round, line);
                self.count += 1;
                return;
            }
            if there == line {
                return;
            }
            at = (at + 1) % SLOTS;
        }
    }

    /// Number of distinct lines since the start.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_line_once() {
        let mut lines = Lines::default();
        for _ in 0..3 {
            lines.start();
            for lane in 0..64 {
                lines.add(0x1000 + 8 * lane, 8);
            }
            lines.add(0x103c, 8);
            assert_eq!(lines.count(), 8);
            lines.add(0x2000 - 4, 8);
            assert_eq!(lines.count(), 10);
        }
    }
}
