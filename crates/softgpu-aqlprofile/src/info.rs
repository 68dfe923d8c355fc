//! `get_info`.

use crate::abi::{Event, IdQuery, InfoData, Packet, Profile, info_type};
use crate::error::Error;
use crate::{agent, commands, data};
use softgpu::pmc::ib::Command;
use softgpu::pmc::{Block, BlockId, Selected, Selection};
use std::ffi::{CStr, c_void};

/// Bytes told for an empty profile, so that nobody has to allocate nothing.
const LEAST: u32 = 64;

/// The events of a profile, as they fit the slots.
///
/// # Safety
/// `events` holds `event_count` events, or is null.
pub(crate) unsafe fn selection(profile: &Profile) -> Result<Selection, Error> {
    if profile.kind != crate::abi::EVENT_TYPE_PMC {
        return Err(Error::Trace);
    }
    agent::check(profile.agent)?;
    // SAFETY: the caller's.
    let events = unsafe { events(profile)? };
    Ok(Selection::new(&events.iter().map(selected).collect::<Vec<_>>())?)
}

/// # Safety
/// `events` holds `event_count` events, or is null.
unsafe fn events(profile: &Profile) -> Result<&[Event], Error> {
    match (profile.event_count, profile.events.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Error::Null("the array of events")),
        // SAFETY: the caller's.
        (count, false) => Ok(unsafe { std::slice::from_raw_parts(profile.events, count as usize) }),
    }
}

pub(crate) fn selected(event: &Event) -> Selected {
    Selected { block: BlockId(event.block_name), instance: event.block_index, event: event.counter_id }
}

/// # Safety
/// `profile` and `value` point to what `attribute` says; buffers are as long as they say.
pub(crate) unsafe fn get(profile: *const Profile, attribute: u32, value: *mut c_void) -> Result<(), Error> {
    // SAFETY: the caller's; null is checked.
    let given = unsafe { profile.as_ref() }.ok_or(Error::Null("the profile"))?;
    if matches!(attribute, info_type::ENABLE_CMD | info_type::DISABLE_CMD) {
        // SAFETY: the caller's.
        return unsafe { command(profile.cast_mut(), attribute, value.cast()) };
    }
    if value.is_null() {
        return Err(Error::Null("the value"));
    }
    match attribute {
        info_type::COMMAND_BUFFER_SIZE => {
            // SAFETY: the caller's: the value is a `uint32_t`.
            unsafe { value.cast::<u32>().write((commands::build(&selection(given)?, 0)?.len() * 4) as u32) };
        }
        info_type::PMC_DATA_SIZE => {
            // SAFETY: the caller's: the value is a `uint32_t`.
            unsafe { value.cast::<u32>().write(data::size(&selection(given)?).max(LEAST)) };
        }
        // SAFETY: the caller's: the value is an `info_data` with event and sample.
        info_type::PMC_DATA => unsafe { one(given, &mut *value.cast())? },
        info_type::TRACE_DATA => return Err(Error::Trace),
        info_type::BLOCK_COUNTERS => {
            agent::check(given.agent)?;
            // SAFETY: the caller's.
            let event = *unsafe { events(given)? }.first().ok_or(Error::NoEvent)?;
            let block = Block::find(BlockId(event.block_name));
            let block = block.ok_or(softgpu::pmc::SelectionError::NoBlock(event.block_name))?;
            // SAFETY: the caller's: the value is a `uint32_t`.
            unsafe { value.cast::<u32>().write(block.slots) };
        }
        info_type::BLOCK_ID => {
            agent::check(given.agent)?;
            // SAFETY: the caller's: the value is an `id_query`.
            let query = unsafe { &mut *value.cast::<IdQuery>() };
            if query.name.is_null() {
                return Err(Error::Null("the block's name"));
            }
            // SAFETY: the caller's: a C string.
            let name = unsafe { CStr::from_ptr(query.name) }.to_string_lossy();
            let block = Block::named(&name).ok_or_else(|| Error::BlockName(name.into_owned()))?;
            (query.id, query.instance_count) = (block.id.0, block.instances);
        }
        other => return Err(Error::InfoType(other)),
    }
    Ok(())
}

/// The value of one event: of one sample, or the sum of all when the sample is `UINT32_MAX`.
///
/// # Safety
/// The profile's buffers are as long as they say.
unsafe fn one(profile: &Profile, wanted: &mut InfoData) -> Result<(), Error> {
    // SAFETY: the caller's.
    let selection = unsafe { selection(profile)? };
    let mut found = None;
    let each = |data: InfoData| {
        let same = data.pmc_data.event == wanted.pmc_data.event;
        if same && (wanted.sample_id == u32::MAX || wanted.sample_id == data.sample_id) {
            found = Some(found.unwrap_or(0) + data.pmc_data.result);
        }
        Ok(true)
    };
    // SAFETY: the caller's.
    unsafe { data::iterate(&selection, &profile.output_buffer, each)? };
    wanted.pmc_data.result = found.ok_or(Error::NoSuchData)?;
    Ok(())
}

/// The packet that lets a queue count, or not count. Without a command buffer it tells the size.
///
/// # Safety
/// As [`get`].
unsafe fn command(profile: *mut Profile, attribute: u32, packet: *mut Packet) -> Result<(), Error> {
    let command = if attribute == info_type::ENABLE_CMD { Command::Enable } else { Command::Disable };
    let words = command.encode().map_err(Error::Command)?;
    // SAFETY: the caller's. The interface takes the profile as constant, and still tells the size in it.
    let buffer = unsafe { &mut (*profile).command_buffer };
    if buffer.ptr.is_null() {
        buffer.size = (words.len() * 4) as u32;
        return Ok(());
    }
    // SAFETY: the caller's.
    unsafe { commands::store(&words, buffer, "command")? };
    // SAFETY: the caller's; null is checked.
    let packet = unsafe { packet.as_mut() }.ok_or(Error::Null("the packet"))?;
    commands::fill(packet, (buffer.ptr as u64, words.len() as u32));
    Ok(())
}
