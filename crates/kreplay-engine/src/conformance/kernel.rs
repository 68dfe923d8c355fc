//! The kernels that a rig can run. All addresses and lengths are multiples of four.

use crate::Range;

/// A small kernel over 32-bit little-endian words; arithmetic wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Every word of `to` becomes `value`.
    Fill {
        /// Destination.
        to: Range,
        /// The word.
        value: u32,
    },
    /// In place: `value` is added to every word of `at`.
    Add {
        /// The words.
        at: Range,
        /// What is added.
        value: u32,
    },
    /// Accumulating: the sum of the words of `from` is added to the word at `to`.
    Accumulate {
        /// The words.
        from: Range,
        /// The sum's word.
        to: u64,
    },
    /// The words of `from` are copied to `to`; the ranges do not overlap.
    Copy {
        /// Destination.
        to: u64,
        /// Source.
        from: Range,
    },
    /// Writes a different place each time it runs, as an atomic append does: the word at `counter` goes up by one from `n`,
    /// and word `(n * stride) % words` of `to` becomes `n + 1`.
    Append {
        /// The counting word. Tests put it in memory that the engine is not told of.
        counter: u64,
        /// The words.
        to: Range,
        /// In words.
        stride: u32,
    },
    /// As `Add`, but in the run in which the word at `counter` was `pass` before it went up by one, the word at `to` becomes
    /// `0xe5cabeed` too.
    Escape {
        /// The counting word, outside of what the engine is told of.
        counter: u64,
        /// In which run it escapes.
        pass: u32,
        /// The words.
        at: Range,
        /// Where the escape goes.
        to: u64,
    },
}

/// What an escape writes.
pub const ESCAPED: u32 = 0xe5ca_beed;

/// Memory that a kernel can run on.
pub trait Words {
    /// The word at an address.
    fn load(&self, address: u64) -> u32;
    /// Writes it.
    fn store(&mut self, address: u64, value: u32);
}

impl Kernel {
    /// Runs it: what the device must do.
    pub fn run(&self, memory: &mut impl Words) {
        match *self {
            Kernel::Fill { to, value } => words(to).for_each(|address| memory.store(address, value)),
            Kernel::Add { at, value } => add(memory, at, value),
            Kernel::Accumulate { from, to } => {
                let sum = words(from).fold(memory.load(to), |sum, address| sum.wrapping_add(memory.load(address)));
                memory.store(to, sum);
            }
            Kernel::Copy { to, from } => words(from).for_each(|address| {
                let value = memory.load(address);
                memory.store(to + (address - from.base), value);
            }),
            Kernel::Append { counter, to, stride } => {
                let n = count(memory, counter);
                let slot = u64::from(n.wrapping_mul(stride)) % (to.bytes / 4);
                memory.store(to.base + slot * 4, n.wrapping_add(1));
            }
            Kernel::Escape { counter, pass, at, to } => {
                add(memory, at, 1);
                if count(memory, counter) == pass {
                    memory.store(to, ESCAPED);
                }
            }
        }
    }

    /// The device addresses in its arguments, as 64-bit words.
    pub fn argument_bytes(&self) -> Vec<u8> {
        let addresses = match *self {
            Kernel::Fill { to, .. } => vec![to.base],
            Kernel::Add { at, .. } => vec![at.base],
            Kernel::Accumulate { from, to } | Kernel::Copy { to, from } => vec![from.base, to],
            Kernel::Append { counter, to, .. } => vec![counter, to.base],
            // The place of the escape is where no argument points.
            Kernel::Escape { counter, at, .. } => vec![counter, at.base],
        };
        addresses.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// Where it writes, an escape left out.
    pub fn output(&self) -> Range {
        match *self {
            Kernel::Fill { to, .. } | Kernel::Append { to, .. } => to,
            Kernel::Add { at, .. } | Kernel::Escape { at, .. } => at,
            Kernel::Accumulate { to, .. } => Range::new(to, 4),
            Kernel::Copy { to, from } => Range::new(to, from.bytes),
        }
    }

    /// A name for its records.
    pub fn name(&self) -> &'static str {
        match self {
            Kernel::Fill { .. } => "fill",
            Kernel::Add { .. } => "add",
            Kernel::Accumulate { .. } => "accumulate",
            Kernel::Copy { .. } => "copy",
            Kernel::Append { .. } => "append",
            Kernel::Escape { .. } => "escape",
        }
    }
}

fn words(range: Range) -> impl Iterator<Item = u64> {
    (range.base..range.end()).step_by(4)
}

fn add(memory: &mut impl Words, at: Range, value: u32) {
    words(at).for_each(|address| {
        let sum = memory.load(address).wrapping_add(value);
        memory.store(address, sum);
    });
}

fn count(memory: &mut impl Words, counter: u64) -> u32 {
    let n = memory.load(counter);
    memory.store(counter, n.wrapping_add(1));
    n
}
