//! AQL packets, 64 bytes each (HSA Platform System Architecture Specification 1.2, §2.9).

use super::{CONDITION_EQ, CONDITION_GTE, CONDITION_LT, CONDITION_NE, Signal};
use std::mem::{offset_of, size_of};

/// An empty slot; types are the low byte of the header, 0 is a vendor's own packet.
pub(crate) const TYPE_INVALID: u8 = 1;
/// A kernel dispatch.
pub(crate) const TYPE_DISPATCH: u8 = 2;
/// Waits for all of its signals.
pub(crate) const TYPE_BARRIER_AND: u8 = 3;
/// Waits for any of its signals.
pub(crate) const TYPE_BARRIER_OR: u8 = 5;

/// The format of a vendor's packet (byte 2) that waits for a value: `HSA_AMD_PACKET_TYPE_BARRIER_VALUE`.
const FORMAT_BARRIER_VALUE: u8 = 2;
/// A vendor's own packet.
const TYPE_VENDOR: u8 = 0;

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

    /// Whether it starts only after everything before it.
    pub(crate) fn is_ordered(&self) -> bool {
        self.header & BARRIER != 0
    }

    /// Whether it is a barrier packet, which runs nothing.
    pub(crate) fn is_barrier(&self) -> bool {
        matches!(self.kind(), TYPE_BARRIER_AND | TYPE_BARRIER_OR)
    }

    /// What it waits for besides the packets before it, if anything, and whether one of these is enough.
    pub(crate) fn waits(&self) -> Option<(Vec<Waiting>, bool)> {
        let wide = |index: usize| u64::from(self.body[index]) | u64::from(self.body[index + 1]) << 32;
        let format = self.setup as u8;
        let waiting: Vec<Waiting> = match self.kind() {
            TYPE_BARRIER_AND | TYPE_BARRIER_OR => {
                let signals = (0..5).map(|place| Signal { handle: wide(1 + 2 * place) });
                signals.filter(|signal| signal.handle != 0).map(Waiting::for_fall).collect()
            }
            TYPE_VENDOR if format == FORMAT_BARRIER_VALUE && wide(1) != 0 => vec![Waiting {
                signal: Signal { handle: wide(1) },
                value: wide(3) as i64,
                mask: wide(5) as i64,
                condition: self.body[7],
            }],
            _ => Vec::new(),
        };
        (!waiting.is_empty()).then_some((waiting, self.kind() == TYPE_BARRIER_OR))
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

/// What a packet waits for a signal to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The signal.
    pub(crate) signal: Signal,
    /// The bits of its value that count.
    pub(crate) mask: i64,
    /// `hsa_signal_condition_t`.
    pub(crate) condition: u32,
    /// What these are compared with.
    pub(crate) value: i64,
}

impl Waiting {
    /// As ordinary barriers wait.
    fn for_fall(signal: Signal) -> Self {
        Self { signal, mask: -1, condition: CONDITION_LT, value: 1 }
    }

    /// Whether this value of the signal is what is waited for. Of a condition that is not known nothing is believed.
    pub(crate) fn is_met(&self, value: i64) -> bool {
        let value = value & self.mask;
        match self.condition {
            CONDITION_EQ => value == self.value,
            CONDITION_NE => value != self.value,
            CONDITION_LT => value < self.value,
            CONDITION_GTE => value >= self.value,
            _ => true,
        }
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
    fn barriers_tell_what_they_wait_for() {
        let mut packet = Packet::barrier(Signal { handle: 7 });
        assert_eq!(packet.waits(), None);
        // dep_signal[1] and dep_signal[4].
        (packet.body[3], packet.body[9], packet.body[10]) = (5, 6, 1);
        let (signals, any) = packet.waits().expect("two signals");
        assert_eq!(signals.iter().map(|one| one.signal.handle).collect::<Vec<_>>(), [5, 6 | 1 << 32]);
        assert!(!any && signals.iter().all(|one| one.is_met(0) && !one.is_met(1)));
        packet.header = ordered(TYPE_BARRIER_OR);
        assert!(packet.waits().is_some_and(|(_, any)| any));
        // A barrier for a value: signal, value, mask, condition.
        let mut packet = Packet { header: ordered(TYPE_VENDOR), setup: 2, body: [0; 15] };
        (packet.body[1], packet.body[3], packet.body[5], packet.body[7]) = (9, 0x30, 0xf0, 3);
        let (signals, any) = packet.waits().expect("a value");
        assert!(!any && signals.len() == 1 && signals[0].signal.handle == 9);
        assert!(signals[0].is_met(0x3f) && signals[0].is_met(0x1_0040) && !signals[0].is_met(0x2f));
        packet.setup = 1;
        assert_eq!(packet.waits(), None);
        assert_eq!(Packet { header: ordered(TYPE_DISPATCH), body: [1; 15], ..packet }.waits(), None);
    }

    #[test]
    fn a_barrier_is_no_dispatch() {
        let packet = Packet::barrier(Signal { handle: 7 | 9 << 32 });
        assert_eq!(packet.completion().handle, 7 | 9 << 32);
        assert!(packet.dispatch().is_none() && packet.has_completion());
    }
}
