//! Errors, and the last one of each thread as a C string.

use crate::abi::{STATUS_ERROR, STATUS_ERROR_INVALID_AGENT, STATUS_ERROR_INVALID_ARGUMENT, Status};
use softgpu::contract::Fault;
use softgpu::pmc::SelectionError;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("the agent is not a GPU of kind gfx90a ({0})")]
    Agent(String),
    #[error("thread traces are not simulated; only counters are")]
    Trace,
    #[error("{0}")]
    Selection(#[from] SelectionError),
    #[error("{0}")]
    Command(Fault),
    #[error("the {what} buffer has {given} bytes; this profile needs {needed}")]
    TooSmall { what: &'static str, given: u32, needed: u32 },
    #[error("the command buffer holds no commands of this profile; call start first")]
    NotStarted,
    #[error("there is no information of type {0}")]
    InfoType(u32),
    #[error("there is no block named {0}")]
    BlockName(String),
    #[error("the profile has no event to tell a block by")]
    NoEvent,
    #[error("no value of this event and sample was asked for in the profile")]
    NoSuchData,
    #[error("a callback returned status {0:#x}")]
    Callback(Status),
    #[error("older hardware's packet format is not supported")]
    Legacy,
    #[error("an internal error: {0}")]
    Panic(String),
}

impl Error {
    pub(crate) fn status(&self) -> Status {
        match self {
            Error::Agent(_) => STATUS_ERROR_INVALID_AGENT,
            Error::Callback(status) => *status,
            Error::Null(_) | Error::TooSmall { .. } | Error::InfoType(_) | Error::Trace => {
                STATUS_ERROR_INVALID_ARGUMENT
            }
            _ => STATUS_ERROR,
        }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the sentence of an error for [`last`].
pub(crate) fn remember(error: &Error) {
    let text: Vec<u8> = error.to_string().into_bytes().into_iter().filter(|byte| *byte != 0).collect();
    let text = CString::new(text).unwrap_or_default();
    LAST.with(|last| last.replace(text));
}

/// The sentence of the thread's last error. The pointer is good until the thread's next error.
pub(crate) fn last() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(CStr::as_ptr(c""))
}
