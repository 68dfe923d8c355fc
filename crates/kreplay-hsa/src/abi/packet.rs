//! AQL packets, 64 bytes each (HSA Platform System Architecture Specification 1.2, §2.9).

use super::Signal;
use std::mem::{offset_of, size_of};

/// An empty slot; types are the low byte of the header, 0 is a vendor's own packet.
pub(crate) const TYPE_INVALID: u8 = 1;
/// A kernel dispatch.
pub(crate) const TYPE_DISPATCH: u8 = 2;
/// Waits for all of its signals.
pub(crate) const TYPE_BARRIER_AND: u8 = 3;
/// Waits for any of its signals.
pub(crate) const TYPE_BARRIER_OR: u8 = 5;

const BARRIER: u16 = 1 << 8;
const ACQUIRE_SYSTEM: u16 = 2 << 9;
const RELEASE_SYSTEM: u16 = 2 << 11;

/// The header of a packet that starts after all before it, and whose effects everybody sees.
pub(crate) const fn ordered(kind: u8) -> u16 {
    kind as u16 | BARRIER | ACQUIRE_SYSTEM | RELEASE_SYSTEM
}

/// A packet of any type.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Type, barrier bit, fences.
    pub(crate) header: u16,
    /// The other half of the first word.
    pub(crate) setup: u16,
    /// What the type says.
    pub(crate) body: [u32; 15],
}
const _: () = assert!(size_of::<Packet>() == 64 && offset_of!(Packet, body) == 4);

impl Packet {
    /// The type.
    pub(crate) fn kind(&self) -> u8 {
        self.header as u8
    }

    /// The completion signal: the last 8 bytes, in every type that has one.
    pub(crate) fn completion(&self) -> Signal {
        Signal { handle: u64::from(self.body[13]) | u64::from(self.body[14]) << 32 }
    }

    /// Sets the completion signal.
    pub(crate) fn set_completion(&mut self, signal: Signal) {
        self.body[13] = signal.handle as u32;
        self.body[14] = (signal.handle >> 32) as u32;
    }

    /// Whether it has a completion signal field that the packet processor serves.
    pub(crate) fn has_completion(&self) -> bool {
        matches!(self.kind(), TYPE_DISPATCH | TYPE_BARRIER_AND | TYPE_BARRIER_OR)
    }

    /// A barrier packet: after everything before it, lets `signal` fall.
    pub(crate) fn barrier(signal: Signal) -> Packet {
        let mut packet = Packet { header: ordered(TYPE_BARRIER_AND), ..Packet::default() };
        packet.set_completion(signal);
        packet
    }

    /// The packet as a kernel dispatch, if it is one.
    pub(crate) fn dispatch(&self) -> Option<Dispatch> {
        if self.kind() != TYPE_DISPATCH {
            return None;
        }
        let body = &self.body;
        let wide = |index: usize| u64::from(body[index]) | u64::from(body[index + 1]) << 32;
        Some(Dispatch {
            header: self.header,
            setup: self.setup,
            workgroup: [body[0] as u16, (body[0] >> 16) as u16, body[1] as u16],
            grid: [body[2], body[3], body[4]],
            private_bytes: body[5],
            group_bytes: body[6],
            kernel_object: wide(7),
            kernarg: wide(9),
            reserved: wide(11),
            completion: self.completion(),
        })
    }
}

/// `hsa_kernel_dispatch_packet_t`, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    /// Type, barrier bit, fences.
    pub(crate) header: u16,
    /// Dimensions.
    pub(crate) setup: u16,
    /// Work-items of a work-group.
    pub(crate) workgroup: [u16; 3],
    /// Work-items.
    pub(crate) grid: [u32; 3],
    /// Private memory of a work-item, in bytes.
    pub(crate) private_bytes: u32,
    /// LDS of a work-group, in bytes.
    pub(crate) group_bytes: u32,
    /// Address of the kernel descriptor.
    pub(crate) kernel_object: u64,
    /// Address of the arguments.
    pub(crate) kernarg: u64,
    /// Reserved by the specification; kept, since runtimes put a correlation number there.
    pub(crate) reserved: u64,
    /// Falls when the kernel is done.
    pub(crate) completion: Signal,
}

impl From<Dispatch> for Packet {
    fn from(dispatch: Dispatch) -> Packet {
        let mut packet = Packet { header: dispatch.header, setup: dispatch.setup, body: [0; 15] };
        let body = &mut packet.body;
        body[0] = u32::from(dispatch.workgroup[0]) | u32::from(dispatch.workgroup[1]) << 16;
        body[1] = u32::from(dispatch.workgroup[2]);
        body[2..5].copy_from_slice(&dispatch.grid);
        body[5] = dispatch.private_bytes;
        body[6] = dispatch.group_bytes;
        for (at, value) in [(7, dispatch.kernel_object), (9, dispatch.kernarg), (11, dispatch.reserved)] {
            body[at] = value as u32;
            body[at + 1] = (value >> 32) as u32;
        }
        packet.set_completion(dispatch.completion);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dispatch_survives_taking_apart() {
        let mut packet = Packet { header: ordered(TYPE_DISPATCH), setup: 3, body: [0; 15] };
        for (index, word) in packet.body.iter_mut().enumerate() {
            *word = 0x0101_0101 * (index as u32 + 1);
        }
        packet.body[1] &= 0xffff;
        let dispatch = packet.dispatch().expect("a dispatch");
        assert_eq!(dispatch.kernel_object, 0x0909_0909_0808_0808);
        assert_eq!(dispatch.kernarg, 0x0b0b_0b0b_0a0a_0a0a);
        assert_eq!(dispatch.completion.handle, 0x0f0f_0f0f_0e0e_0e0e);
        assert_eq!(Packet::from(dispatch), packet);
    }

    #[test]
    fn a_barrier_is_no_dispatch() {
        let packet = Packet::barrier(Signal { handle: 7 | 9 << 32 });
        assert_eq!(packet.completion().handle, 7 | 9 << 32);
        assert!(packet.dispatch().is_none() && packet.has_completion());
    }
}
