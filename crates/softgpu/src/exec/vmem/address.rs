//! Addresses of an instruction's lanes.

use crate::exec::scalar::{PRIVATE_BASE, SHARED_BASE};
use crate::exec::wave::LANES;

/// Bytes from one dword of a lane's private memory to the next: those of the other lanes lie between.
pub(super) const PRIVATE_STRIDE: u64 = 4 * LANES as u64;

/// Which memory an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Lds,
    Private,
}

/// The addresses of an instruction's lanes.
pub(super) struct Addresses {
    /// Flat addresses where `flat` is set, else global ones.
    pub(super) lanes: [u64; LANES],
    pub(super) mask: u64,
    /// Whether the apertures of LDS and scratch count.
    pub(super) flat: bool,
    /// Where the wave's private memory starts.
    pub(super) private: u64,
}

impl Addresses {
    /// The memory that an address is in.
    #[inline(always)]
    pub(super) fn space(&self, address: u64) -> Space {
        match address >> 32 {
            high if !self.flat || high & 0xffff_0000 == 0 => Space::Global,
            high if high == SHARED_BASE >> 32 => Space::Lds,
            high if high == PRIVATE_BASE >> 32 => Space::Private,
            _ => Space::Global,
        }
    }

    /// Where a byte of a lane's private memory lies.
    #[inline(always)]
    pub(super) fn private_at(&self, lane: usize, address: u64) -> u64 {
        let offset = address & 0xffff_ffff;
        self.private
            .wrapping_add((offset >> 2).wrapping_mul(PRIVATE_STRIDE))
            .wrapping_add(4 * lane as u64 + (offset & 3))
    }

    /// Active lanes.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let mut mask = self.mask;
        std::iter::from_fn(move || {
            (mask != 0).then(|| {
                let lane = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                lane
            })
        })
    }

    /// The first of consecutive global addresses, where all lanes are active and each follows the one before.
    #[inline]
    pub(super) fn consecutive(&self, bytes: u64) -> Option<u64> {
        let first = self.lanes[0];
        if self.mask != u64::MAX || self.space(first) != Space::Global {
            return None;
        }
        let differs = |(lane, address): (usize, &u64)| address ^ first.wrapping_add(lane as u64 * bytes);
        let any = self.lanes.iter().enumerate().map(differs).fold(0, |all, one| all | one);
        (any == 0).then_some(first)
    }

    /// The private offset, where all active lanes have the same one, a multiple of four.
    #[inline]
    pub(super) fn common_private(&self) -> Option<u64> {
        let first = self.lanes[self.mask.trailing_zeros() as usize & 63];
        let same = self.active().all(|lane| self.lanes[lane] == first);
        (same && first.is_multiple_of(4) && self.space(first) == Space::Private).then_some(first)
    }
}
