//! A recorded dispatch.

use super::HsaAgent;
use super::scratch::Buffer;
use crate::abi::{Dispatch, Packet, TYPE_DISPATCH, ordered};
use kreplay_engine::AgentError;
use std::sync::Arc;

/// A dispatch that can run any number of times: its packet, and its argument bytes in memory of our own.
pub struct HsaWork {
    packet: Packet,
    arguments: Option<Buffer>,
    agent: Arc<HsaAgent>,
}

impl HsaWork {
    /// Records a dispatch whose argument bytes are `arguments`.
    pub(crate) fn record(agent: &Arc<HsaAgent>, dispatch: &Dispatch, arguments: &[u8]) -> Result<Self, AgentError> {
        let buffer = if arguments.is_empty() {
            None
        } else {
            let buffer = agent.own()?.buffer(arguments.len())?;
            buffer.write(0, arguments);
            Some(buffer)
        };
        let kernarg = buffer.as_ref().map_or(dispatch.kernarg, Buffer::address);
        let header = ordered(TYPE_DISPATCH);
        let packet = Packet::from(Dispatch { header, kernarg, completion: Default::default(), ..*dispatch });
        Ok(Self { packet, arguments: buffer, agent: Arc::clone(agent) })
    }

    /// The packet, without a completion signal.
    pub(super) fn packet(&self) -> Packet {
        self.packet
    }
}

impl Drop for HsaWork {
    fn drop(&mut self) {
        // A pass whose deadline expired may still read the arguments: they are reused only after the queue was seen idle.
        if let Some(buffer) = self.arguments.take()
            && let Ok(mut own) = self.agent.own()
        {
            own.retire(buffer);
        }
    }
}
