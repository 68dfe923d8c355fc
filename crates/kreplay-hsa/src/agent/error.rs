//! The runtime's statuses as the engine's errors.

use crate::abi::Status;
use kreplay_engine::{AgentError, Tier};

/// `Ok` when the call succeeded.
pub(crate) fn check(call: &'static str, status: Status) -> Result<(), AgentError> {
    if status.is_ok() { Ok(()) } else { Err(AgentError::Failed { call, status: status.to_string() }) }
}

/// As [`check`], for an allocation: a lack of memory is one.
pub(super) fn check_allocation(call: &'static str, status: Status, tier: Tier, bytes: u64) -> Result<(), AgentError> {
    match status {
        Status::OUT_OF_RESOURCES | Status::INVALID_ALLOCATION => Err(AgentError::Exhausted { tier, bytes }),
        status => check(call, status),
    }
}
