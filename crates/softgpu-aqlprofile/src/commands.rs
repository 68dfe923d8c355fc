//! Command buffers and the packets that lead to them.

use crate::abi::{Descriptor, Packet};
use crate::error::Error;
use softgpu::pmc::Selection;
use softgpu::pmc::ib::{self, Command};

/// Words of the directory at the start of a command buffer.
const DIRECTORY: usize = 16;
/// Marks a directory ("KPCB").
const MAGIC: u32 = 0x4243_504b;

/// The command lists of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Start = 0,
    Read = 1,
    Stop = 2,
}

/// The whole command buffer of a selection, whose reads store at `output`.
pub(crate) fn build(selection: &Selection, output: u64) -> Result<Vec<u32>, Error> {
    let events = selection.events().to_vec();
    let lists = [Command::Start(events.clone()), Command::Read { output, events }, Command::Stop];
    let mut words = vec![0; DIRECTORY];
    words[0] = MAGIC;
    for (at, list) in lists.iter().enumerate() {
        let list = list.encode().map_err(Error::Command)?;
        words[1 + at] = list.len() as u32;
        words.extend(list);
    }
    Ok(words)
}

/// Copies words to where a descriptor points.
///
/// # Safety
/// The descriptor is null, or that many bytes may be written there.
pub(crate) unsafe fn store(words: &[u32], into: &Descriptor, what: &'static str) -> Result<(), Error> {
    let needed = size_of_val(words) as u32;
    if into.ptr.is_null() {
        return Err(Error::Null(what));
    }
    if into.size < needed {
        return Err(Error::TooSmall { what, given: into.size, needed });
    }
    // SAFETY: the caller's; the length was checked.
    unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), into.ptr.cast::<u8>(), needed as usize) };
    Ok(())
}

/// Where a list lies in a command buffer that [`build`] filled: its address and words.
///
/// # Safety
/// The descriptor is null, or that many bytes may be read there.
pub(crate) unsafe fn find(buffer: &Descriptor, list: List) -> Result<(u64, u32), Error> {
    if buffer.ptr.is_null() {
        return Err(Error::Null("the command buffer"));
    }
    if (buffer.size as usize) < DIRECTORY * 4 {
        return Err(Error::NotStarted);
    }
    let mut directory = [0_u32; DIRECTORY];
    // SAFETY: the caller's; the length was checked.
    unsafe {
        std::ptr::copy_nonoverlapping(buffer.ptr.cast::<u8>(), directory.as_mut_ptr().cast::<u8>(), DIRECTORY * 4);
    }
    let lengths = [directory[1], directory[2], directory[3]];
    let total = lengths.iter().fold(DIRECTORY as u64, |sum, length| sum + u64::from(*length));
    if directory[0] != MAGIC || total * 4 > u64::from(buffer.size) {
        return Err(Error::NotStarted);
    }
    let before: u64 = lengths[..list as usize].iter().map(|length| u64::from(*length)).sum();
    Ok((buffer.ptr as u64 + (DIRECTORY as u64 + before) * 4, lengths[list as usize]))
}

/// Fills the middle of a packet; its header and signal stay as they are.
pub(crate) fn fill(packet: &mut Packet, (address, words): (u64, u32)) {
    let middle = ib::vendor_packet(address, words);
    // The packet's first word begins with the header, which is the caller's.
    packet.pm4_command[0] = (middle[0] >> 16) as u16;
    for (pair, word) in packet.pm4_command[1..].as_chunks_mut::<2>().0.iter_mut().zip(&middle[1..]) {
        *pair = [*word as u16, (*word >> 16) as u16];
    }
}
