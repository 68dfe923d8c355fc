//! The exported functions. Each catches panics, keeps the error's sentence, and returns HSA's status.

use crate::abi::{Agent, Callback, Event, InfoData, Packet, Profile, STATUS_INFO_BREAK, STATUS_SUCCESS, Status};
use crate::commands::{self, List};
use crate::error::{self, Error};
use crate::info::{self, selected, selection};
use crate::{agent, data};
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `HSA_AQLPROFILE_VERSION_MAJOR` of the library whose interface this is.
const VERSION_MAJOR: u32 = 2;
/// `HSA_AQLPROFILE_VERSION_MINOR`.
const VERSION_MINOR: u32 = 0;

/// Runs the body of an exported function.
fn guarded(body: impl FnOnce() -> Result<(), Error>) -> Status {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic");
        Err(Error::Panic(text.to_owned()))
    });
    match result {
        Ok(()) => STATUS_SUCCESS,
        Err(error) => {
            error::remember(&error);
            error.status()
        }
    }
}

/// The major version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_ven_amd_aqlprofile_version_major() -> u32 {
    VERSION_MAJOR
}

/// The minor version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_ven_amd_aqlprofile_version_minor() -> u32 {
    VERSION_MINOR
}

/// The sentence of the calling thread's last error, good until its next one.
///
/// # Safety
/// `text` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_error_string(text: *mut *const c_char) -> Status {
    guarded(|| {
        // SAFETY: the caller's; null is checked.
        *unsafe { text.as_mut() }.ok_or(Error::Null("the text"))? = error::last();
        Ok(())
    })
}

/// Whether an event can be counted.
///
/// # Safety
/// `event` is null or points to an event; `result` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_validate_event(
    agent: Agent,
    event: *const Event,
    result: *mut bool,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's; null is checked.
        let (event, result) = unsafe { (event.as_ref(), result.as_mut()) };
        let result = result.ok_or(Error::Null("the result"))?;
        *result = false;
        agent::check(agent)?;
        *result = selected(event.ok_or(Error::Null("the event"))?).resolve().is_ok();
        Ok(())
    })
}

/// Fills the profile's command buffer and makes the start packet. When a buffer is too small, its size in the profile
/// becomes what is needed; with null pointers that is all that happens.
///
/// # Safety
/// `profile` is null or a profile whose events and buffers are as long as they say; `packet` is null or a packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_start(profile: *mut Profile, packet: *mut Packet) -> Status {
    guarded(|| {
        // SAFETY: the caller's; null is checked.
        let (profile, packet) = unsafe { (profile.as_mut(), packet.as_mut()) };
        let profile = profile.ok_or(Error::Null("the profile"))?;
        // SAFETY: the caller's.
        let selection = unsafe { selection(profile)? };
        let words = commands::build(&selection, profile.output_buffer.ptr as u64)?;
        let needs = [
            ("output", &mut profile.output_buffer, data::size(&selection)),
            ("command", &mut profile.command_buffer, (words.len() * 4) as u32),
        ];
        let mut short = None;
        for (what, buffer, needed) in needs {
            if buffer.size < needed {
                let given = std::mem::replace(&mut buffer.size, needed);
                if !buffer.ptr.is_null() {
                    short = Some(Error::TooSmall { what, given, needed });
                }
            }
        }
        if let Some(error) = short {
            return Err(error);
        }
        if profile.command_buffer.ptr.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's.
        unsafe { commands::store(&words, &profile.command_buffer, "command")? };
        // SAFETY: the caller's.
        let list = unsafe { commands::find(&profile.command_buffer, List::Start)? };
        commands::fill(packet.ok_or(Error::Null("the packet"))?, list);
        Ok(())
    })
}

/// # Safety
/// As the exported functions.
unsafe fn later(profile: *const Profile, packet: *mut Packet, list: List) -> Status {
    guarded(|| {
        // SAFETY: the caller's; null is checked.
        let (profile, packet) = unsafe { (profile.as_ref(), packet.as_mut()) };
        let profile = profile.ok_or(Error::Null("the profile"))?;
        agent::check(profile.agent)?;
        // SAFETY: the caller's.
        let place = unsafe { commands::find(&profile.command_buffer, list)? };
        commands::fill(packet.ok_or(Error::Null("the packet"))?, place);
        Ok(())
    })
}

/// Makes the stop packet of a started profile.
///
/// # Safety
/// As [`hsa_ven_amd_aqlprofile_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_stop(profile: *const Profile, packet: *mut Packet) -> Status {
    // SAFETY: the caller's.
    unsafe { later(profile, packet, List::Stop) }
}

/// Makes the read packet of a started profile.
///
/// # Safety
/// As [`hsa_ven_amd_aqlprofile_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_read(profile: *const Profile, packet: *mut Packet) -> Status {
    // SAFETY: the caller's.
    unsafe { later(profile, packet, List::Read) }
}

/// Older hardware's packets: always an error.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_ven_amd_aqlprofile_legacy_get_pm4(_packet: *const Packet, _data: *mut c_void) -> Status {
    guarded(|| Err(Error::Legacy))
}

/// Sizes, block numbers, slots, single values, enable and disable packets.
///
/// # Safety
/// As [`hsa_ven_amd_aqlprofile_start`]; `value` is what the attribute says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_get_info(
    profile: *const Profile,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    // SAFETY: the caller's.
    guarded(|| unsafe { info::get(profile, attribute, value) })
}

/// Calls back for every event and sample of what the last read stored.
///
/// # Safety
/// As [`hsa_ven_amd_aqlprofile_start`]; `callback` may be called with `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ven_amd_aqlprofile_iterate_data(
    profile: *const Profile,
    callback: Callback,
    user: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's; null is checked.
        let profile = unsafe { profile.as_ref() }.ok_or(Error::Null("the profile"))?;
        let callback = callback.ok_or(Error::Null("the callback"))?;
        // SAFETY: the caller's.
        let selection = unsafe { selection(profile)? };
        let each = |mut data: InfoData| {
            // SAFETY: the caller's.
            match unsafe { callback(crate::abi::info_type::PMC_DATA, &raw mut data, user) } {
                STATUS_SUCCESS => Ok(true),
                STATUS_INFO_BREAK => Ok(false),
                status => Err(Error::Callback(status)),
            }
        };
        // SAFETY: the caller's.
        unsafe { data::iterate(&selection, &profile.output_buffer, each) }
    })
}
