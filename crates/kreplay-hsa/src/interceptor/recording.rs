//! What a copy or fill means to a batch window: whether it only reads, can be done again, or must stay outside.
//!
//! A copy runs long after it was submitted, when what it waits for has happened; so the bytes of a copy from the host are
//! saved when it has ended and the program has not been told yet: until then the program must leave them alone. They lie in
//! memory of our own that the recorded copy reads.

use super::live::Allocation;
use super::state::Backend;
use crate::abi::POINTER_LOCKED;
use crate::agent::{HsaAgent, HsaWork, Saved, Valid};
use kreplay_engine::{Operation, Range, RegionKind, RunGuard};
use std::sync::Arc;

/// The longest copy from the host that is saved; a longer one closes the window.
const LONGEST_SAVED: u64 = 64 << 20;

/// The longest pattern of a fill by a kernel of HIP's.
const LONGEST_PATTERN: u64 = 128;

/// A memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes no memory of a GPU.
    Reads,
    /// It copies within one GPU.
    Within { to: u64, from: u64, bytes: u64 },
    /// It copies from here, as the host sees it, to a GPU.
    Upload { to: u64, from: u64, bytes: u64 },
    /// It fills memory of a GPU with words.
    Fill { to: u64, value: u32, count: u64 },
    /// Anything else.
    Other,
}

impl Effect {
    /// Host memory that is kept to do it again, in bytes.
    fn kept(self) -> u64 {
        match self {
            Self::Upload { bytes, .. } => HsaWork::held_for(bytes, false),
            Self::Fill { count, .. } => HsaWork::held_for(count.saturating_mul(4), true),
            Self::Reads | Self::Within { .. } | Self::Other => 0,
        }
    }
}

/// What is to be done for a recorded operation once it has ended.
#[derive(Default)]
pub(super) struct Ending {
    source: Option<(Arc<Saved>, u64)>,
    valid: Option<Valid>,
}

impl Ending {
    /// It did what it was to do. Called before the program hears of it.
    pub(super) fn succeeded(self) {
        if let Some((saved, source)) = self.source {
            // SAFETY: the source of the program's own copy, which has just been read from.
            unsafe { saved.fill_from(source) };
        }
        if let Some(valid) = self.valid {
            valid.confirm();
        }
    }
}

impl Backend {
    /// What a copy of `bytes` bytes does to the GPU with this number.
    pub(super) fn effect(&self, unit: usize, to: u64, from: u64, bytes: u64) -> Effect {
        if self.units().len() != 1 {
            return Effect::Other;
        }
        let inside = |address: u64| {
            let allocation = self.allocations.around(address)?;
            (allocation.range.end() - address >= bytes).then_some(allocation)
        };
        let device = |allocation: &Allocation| allocation.kind == RegionKind::Device && allocation.owner == Some(unit);
        match (inside(to), inside(from)) {
            (Some(target), Some(source)) if device(&target) && device(&source) => Effect::Within { to, from, bytes },
            (Some(target), source) if device(&target) && bytes <= LONGEST_SAVED => {
                match source.map_or_else(|| self.unknown_host(from), |source| self.host_side(&source, from)) {
                    Some(from) => Effect::Upload { to, from, bytes },
                    None => Effect::Other,
                }
            }
            (Some(target), _) if target.kind == (RegionKind::Host { copyable: false }) => Effect::Reads,
            (None, _) if self.allocations.around(to).is_none() && self.is_plain(to) => Effect::Reads,
            _ => Effect::Other,
        }
    }

    /// What a fill does to the GPU with this number.
    pub(super) fn fill_effect(&self, unit: usize, to: u64, value: u32, count: u64) -> Effect {
        let known = self.allocations.around(to).is_some_and(|allocation| {
            let fits = count.checked_mul(4).is_some_and(|bytes| bytes <= allocation.range.end() - to);
            fits && allocation.kind == RegionKind::Device && allocation.owner == Some(unit)
        });
        if known && self.units().len() == 1 { Effect::Fill { to, value, count } } else { Effect::Other }
    }

    /// What a kernel of HIP's that copies (or, with `fills`, fills) needs besides its arguments to run again: for each
    /// pointer to a pattern its offset in the argument bytes, and the pattern. `None` when it reaches other memory than
    /// this GPU's that windows capture.
    ///
    /// HIP puts the pattern of a fill into a buffer of the host's, which it uses for the next one too.
    pub(super) fn constants(&self, unit: usize, arguments: &[u8], fills: bool) -> Option<Vec<(usize, Vec<u8>)>> {
        let mut constants = Vec::new();
        for (index, word) in arguments.chunks_exact(8).enumerate() {
            let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
            let Some(known) = self.allocations.around(address) else { continue };
            if known.kind == RegionKind::Device && known.owner == Some(unit) {
                continue;
            }
            let source = self.host_side(&known, address).filter(|_| fills)?;
            let bytes = (known.range.end() - address).min(LONGEST_PATTERN);
            // SAFETY: live memory of the runtime that the host can read; the fill that was submitted reads it too, so
            // nobody writes it now.
            let pattern = unsafe { std::slice::from_raw_parts(source as *const u8, bytes as usize) }.to_vec();
            constants.push((index * 8, pattern));
        }
        Some(constants)
    }

    /// Where the host reads what the GPUs know at `address` of host memory.
    fn host_side(&self, known: &Allocation, address: u64) -> Option<u64> {
        match known.kind {
            RegionKind::Host { .. } | RegionKind::KernelArguments if known.owner.is_none() => {
                if known.host_address {
                    Some(address)
                } else {
                    self.locked_host(address)
                }
            }
            _ => None,
        }
    }

    fn locked_host(&self, address: u64) -> Option<u64> {
        let info = self.pointer(address).filter(|info| info.kind == POINTER_LOCKED && info.host_base != 0)?;
        address.checked_sub(info.agent_base).map(|offset| info.host_base + offset)
    }

    /// Memory that no call has told of: the host's own, if the runtime does not know it either.
    fn unknown_host(&self, address: u64) -> Option<u64> {
        self.is_plain(address).then_some(address)
    }

    /// Whether the runtime does not know the address: plain memory of the process.
    fn is_plain(&self, address: u64) -> bool {
        self.pointer(address).is_some_and(|info| info.kind == 0)
    }

    /// Holds the GPU's engine while an operation is submitted that does this. A batch window that is open records it if
    /// that is possible, else it is closed.
    pub(super) fn hold_for(&self, unit: usize, effect: Effect, written: Range) -> (RunGuard<HsaAgent>, Ending) {
        let unit = &self.units()[unit];
        let mut ending = Ending::default();
        let mut record = || {
            let (work, valid) = match effect {
                Effect::Within { to, from, bytes } => HsaWork::copy(to, from, bytes),
                Effect::Upload { to, from, bytes } => {
                    let (work, saved, valid) = HsaWork::upload(&unit.agent, to, bytes as usize).ok()?;
                    ending.source = Some((saved, from));
                    (work, valid)
                }
                Effect::Fill { to, value, count } => HsaWork::fill(&unit.agent, to, value, count).ok()?,
                Effect::Reads | Effect::Other => return None,
            };
            ending.valid = Some(valid);
            Some(work)
        };
        let held = unit.engine.memory_operation(match effect {
            Effect::Reads => Operation::Reads,
            Effect::Other => Operation::Other,
            _ => Operation::Repeatable { bytes: effect.kept(), record: &mut record },
        });
        // The runtime may do it with kernels of its own.
        unit.agent.program().submits();
        if effect != Effect::Reads {
            unit.engine.region_written(written);
        }
        (held, ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_for_an_operation_is_known_before_it_is() {
        let upload = |bytes| Effect::Upload { to: 0, from: 0, bytes }.kept();
        // In whole pieces of pinned memory.
        assert_eq!([upload(1), upload(4096), upload(4097), upload(LONGEST_SAVED)], [4096, 4096, 8192, LONGEST_SAVED]);
        assert_eq!(
            Effect::Fill { to: 0, value: 1, count: 1 << 40 }.kept(),
            64 << 10,
            "one piece is copied again and again"
        );
        assert_eq!([Effect::Within { to: 0, from: 0, bytes: 1 << 30 }.kept(), Effect::Reads.kept()], [0, 0]);
    }
}
