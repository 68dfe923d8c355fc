//! The commands that drive the counters: PM4 packets in an indirect buffer that an AQL vendor packet points at.
//!
//! # Encoding
//!
//! All words are 32 bits, little endian. The commands are the software GPU's own; each is the payload of a PM4 type-3
//! `NOP` packet, so that a command processor which does not know them would skip them:
//!
//! ```text
//! word 0   PM4 header: type 3, opcode NOP (0x10), number of words that follow − 1
//! word 1   MAGIC
//! word 2   operation: 1 start, 2 read, 3 stop, 4 enable, 5 disable
//! start    number of events, then for each: block, instance, event
//! read     address of the output, low and high; number of events, then for each: block, instance, event
//! ```
//!
//! - *start* selects the events, sets their counters to zero and lets them count.
//! - *read* stores one 64-bit value a sample of each event, in the order of the events, and lets them count on. The
//!   events must be those that were started.
//! - *stop* lets the counters stand still. They can still be read.
//! - *enable* and *disable* stand for the register that lets a hardware queue count. Every queue of the software GPU
//!   counts, so they change nothing.
//!
//! The vendor packet (64 bytes) is the one that ROCr itself uses for PM4: header, then format 1 in the upper half of
//! word 0, a PM4 `INDIRECT_BUFFER` packet (opcode 0x3f) in words 1…4 with address and size, 10 in word 5, and the
//! completion signal in words 14 and 15.

use super::block::BlockId;
use super::select::Selected;
use crate::contract::Fault;

/// Marks a `NOP` packet whose payload is a command of the counters ("KPMC").
pub const MAGIC: u32 = 0x434d_504b;

pub(super) const OPCODE_NOP: u32 = 0x10;
pub(super) const OPCODE_INDIRECT_BUFFER: u32 = 0x3f;
pub(super) const OPCODE_ACQUIRE_MEM: u32 = 0x58;

/// The format number of a vendor packet that carries an indirect buffer (`AMD_AQL_FORMAT_PM4_IB`).
pub const VENDOR_FORMAT_PM4_IB: u32 = 1;
/// Words of a vendor packet that follow the PM4 packet, as its word 5 must say.
const WORDS_REMAINING: u32 = 10;
/// Marks the size word of an `INDIRECT_BUFFER` packet as valid.
const IB_VALID: u32 = 1 << 23;
/// Bits of the size word that hold the number of words.
const IB_SIZE: u32 = (1 << 20) - 1;

/// The most events that a command can name: the packet's length has 14 bits.
pub const MAX_EVENTS: usize = ((1 << 14) - 8) / 3;

/// A command of the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Select, clear, count.
    Start(Vec<Selected>),
    /// Store the values at an address.
    Read {
        /// Address of the output.
        output: u64,
        /// The events, as they were started.
        events: Vec<Selected>,
    },
    /// Stand still.
    Stop,
    /// Let the queue count.
    Enable,
    /// Let the queue not count.
    Disable,
}

const START: u32 = 1;
const READ: u32 = 2;
const STOP: u32 = 3;
const ENABLE: u32 = 4;
const DISABLE: u32 = 5;

fn header(opcode: u32, following: usize) -> u32 {
    (3 << 30) | (((following - 1) as u32) << 16) | (opcode << 8)
}

impl Command {
    /// The command's words.
    ///
    /// # Errors
    /// [`Fault::BadDispatch`] with more than [`MAX_EVENTS`] events.
    pub fn encode(&self) -> Result<Vec<u32>, Fault> {
        let mut words = vec![0, MAGIC];
        let events: &[Selected] = match self {
            Command::Start(events) => {
                words.extend([START, events.len() as u32]);
                events
            }
            Command::Read { output, events } => {
                words.extend([READ, *output as u32, (*output >> 32) as u32, events.len() as u32]);
                events
            }
            Command::Stop => {
                words.push(STOP);
                &[]
            }
            Command::Enable => {
                words.push(ENABLE);
                &[]
            }
            Command::Disable => {
                words.push(DISABLE);
                &[]
            }
        };
        if events.len() > MAX_EVENTS {
            return Err(Fault::BadDispatch(format!(
                "a counter command names {} events; it can hold {MAX_EVENTS}",
                events.len()
            )));
        }
        words.extend(events.iter().flat_map(|event| [event.block.0, event.instance, event.event]));
        words[0] = header(OPCODE_NOP, words.len() - 1);
        Ok(words)
    }

    /// Reads the payload of a `NOP` packet after its magic.
    fn decode(payload: &[u32]) -> Result<Command, Fault> {
        let bad = |what: &str| Fault::BadDispatch(format!("counter command {payload:x?}: {what}"));
        let (&operation, rest) = payload.split_first().ok_or_else(|| bad("it has no operation"))?;
        let events = |rest: &[u32]| -> Result<Vec<Selected>, Fault> {
            let (&count, list) = rest.split_first().ok_or_else(|| bad("it has no number of events"))?;
            let (triples, left) = list.as_chunks::<3>();
            if triples.len() != count as usize || !left.is_empty() {
                return Err(bad("its length does not fit its number of events"));
            }
            Ok(triples
                .iter()
                .map(|&[block, instance, event]| Selected { block: BlockId(block), instance, event })
                .collect())
        };
        let nothing = |command: Command| if rest.is_empty() { Ok(command) } else { Err(bad("it is too long")) };
        match operation {
            START => Ok(Command::Start(events(rest)?)),
            READ => match rest {
                [low, high, list @ ..] => {
                    Ok(Command::Read { output: u64::from(*high) << 32 | u64::from(*low), events: events(list)? })
                }
                _ => Err(bad("it has no address")),
            },
            STOP => nothing(Command::Stop),
            ENABLE => nothing(Command::Enable),
            DISABLE => nothing(Command::Disable),
            _ => Err(bad("there is no such operation")),
        }
    }
}

/// Reads an indirect buffer: all its commands, or a fault for the first thing that is not known, so that nothing of a
/// bad buffer takes effect.
///
/// Two packets that are not ours do nothing here and are let pass: `NOP` without the magic, and `ACQUIRE_MEM`, with
/// which ROCr invalidates instruction caches; the software GPU looks at code anew in every dispatch.
///
/// # Errors
/// [`Fault::BadDispatch`] for any other packet, and for one that is cut short.
pub fn decode(words: &[u32]) -> Result<Vec<Command>, Fault> {
    let mut commands = Vec::new();
    let mut rest = words;
    while let Some((&header, after)) = rest.split_first() {
        if header >> 30 == 2 {
            // Type 2 is one word of padding.
            rest = after;
            continue;
        }
        if header >> 30 != 3 {
            return Err(Fault::BadDispatch(format!("PM4 packet of type {} ({header:#010x})", header >> 30)));
        }
        let opcode = header >> 8 & 0xff;
        let following = (header >> 16 & 0x3fff) as usize + 1;
        let Some((payload, next)) = after.split_at_checked(following) else {
            return Err(Fault::BadDispatch(format!("PM4 packet {header:#010x} is longer than its buffer")));
        };
        match (opcode, payload) {
            (OPCODE_NOP, [MAGIC, payload @ ..]) => commands.push(Command::decode(payload)?),
            (OPCODE_NOP | OPCODE_ACQUIRE_MEM, _) => {}
            _ => {
                return Err(Fault::BadDispatch(format!(
                    "PM4 packet with opcode {opcode:#04x}, which the software GPU does not execute"
                )));
            }
        }
        rest = next;
    }
    Ok(commands)
}

/// The middle of a vendor packet (words 0…13) for an indirect buffer of `words` words at `address`. The packet's header
/// (low half of word 0) and completion signal (words 14, 15) are left to the caller.
pub fn vendor_packet(address: u64, words: u32) -> [u32; 14] {
    let mut packet = [0; 14];
    packet[0] = VENDOR_FORMAT_PM4_IB << 16;
    packet[1] = header(OPCODE_INDIRECT_BUFFER, 3);
    packet[2] = address as u32;
    packet[3] = (address >> 32) as u32 & 0xffff;
    packet[4] = (words & IB_SIZE) | IB_VALID;
    packet[5] = WORDS_REMAINING;
    packet
}

/// Where the indirect buffer of a vendor packet lies: its address and its number of words.
///
/// # Errors
/// [`Fault::BadDispatch`] when the packet is not such a packet.
pub fn indirect_buffer(packet: &[u32; 16]) -> Result<(u64, u32), Fault> {
    let format = packet[0] >> 16;
    if format != VENDOR_FORMAT_PM4_IB {
        return Err(Fault::BadDispatch(format!(
            "vendor packet of format {format}, which the software GPU does not know"
        )));
    }
    let opcode = packet[1] >> 8 & 0xff;
    if packet[1] >> 30 != 3 || opcode != OPCODE_INDIRECT_BUFFER {
        return Err(Fault::BadDispatch(format!(
            "vendor packet with PM4 packet {:#010x} instead of an indirect buffer",
            packet[1]
        )));
    }
    Ok((u64::from(packet[3] & 0xffff) << 32 | u64::from(packet[2]), packet[4] & IB_SIZE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<Selected> {
        vec![
            Selected { block: BlockId::SQ, instance: 0, event: 4 },
            Selected { block: BlockId::TCC, instance: 31, event: 3 },
        ]
    }

    #[test]
    fn commands_survive_the_way_through_words() {
        let commands = [
            Command::Start(events()),
            Command::Read { output: 0x7f12_3456_789a_bc00, events: events() },
            Command::Read { output: 8, events: vec![] },
            Command::Stop,
            Command::Enable,
            Command::Disable,
        ];
        let words: Vec<u32> = commands.iter().flat_map(|command| command.encode().expect("encodes")).collect();
        assert_eq!(decode(&words).expect("decodes"), commands);
    }

    #[test]
    fn what_is_not_ours_is_refused_or_does_nothing() {
        // NOP without the magic, padding, ROCr's cache invalidation.
        let harmless = [0xc000_1000, 0x1234, 0x8000_0000, 0xc005_5800, 0, 0, 0, 0, 0, 0];
        assert_eq!(decode(&harmless).expect("passes"), []);
        // SET_UCONFIG_REG, as a library for the hardware writes it.
        let foreign = [0xc001_7900, 0x200, 0xe000_0000];
        let Err(Fault::BadDispatch(why)) = decode(&foreign) else { panic!("a foreign buffer was taken") };
        assert!(why.contains("0x79"), "{why}");
        assert!(decode(&[0x4000_0000]).is_err());
    }

    #[test]
    fn every_cut_of_a_command_is_a_fault() {
        let words = Command::Read { output: 64, events: events() }.encode().expect("encodes");
        for length in 1..words.len() {
            assert!(matches!(decode(&words[..length]), Err(Fault::BadDispatch(_))), "{length}");
            // The same with a header that says the shorter length.
            let mut cut = words[..length].to_vec();
            if length > 2 {
                cut[0] = header(OPCODE_NOP, length - 1);
                assert!(matches!(decode(&cut), Err(Fault::BadDispatch(_))), "{length}");
            }
        }
    }

    #[test]
    fn the_vendor_packet_leads_to_its_buffer() {
        let mut packet = [0; 16];
        packet[..14].copy_from_slice(&vendor_packet(0x7fff_1234_5678, 77));
        assert_eq!(indirect_buffer(&packet), Ok((0x7fff_1234_5678, 77)));
        // As ROCr and AMD's library write it.
        assert_eq!(packet[1], 0xc002_3f00);
        let mut other = packet;
        other[0] = 2 << 16;
        assert!(indirect_buffer(&other).is_err());
        other = packet;
        other[1] = 0xc002_1000;
        assert!(indirect_buffer(&other).is_err());
    }

    #[test]
    fn too_many_events_are_refused() {
        let one = events()[0];
        assert!(Command::Start(vec![one; MAX_EVENTS]).encode().is_ok());
        assert!(Command::Start(vec![one; MAX_EVENTS + 1]).encode().is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_words_are_decoded_or_refused(words in proptest::collection::vec(proptest::prelude::any::<u32>(), 0..64)) {
            let _ = decode(&words);
        }
    }
}
