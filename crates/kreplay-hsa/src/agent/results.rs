//! Answers that the device has not given yet.

use super::own::Own;
use super::scratch::Buffer;
use crate::abi::Signal;
use kreplay_engine::AgentError;
use std::time::Instant;

/// What an answer will be made of.
#[derive(Debug)]
pub(super) enum Shape {
    /// Words of bits: chunks of each pair, in order.
    Chunks(Vec<u64>),
    /// So many hashes.
    Hashes(usize),
}

/// An answer that the device has not given yet.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) signal: Signal,
    pub(super) serial: u64,
    pub(super) results: Buffer,
    pub(super) shape: Shape,
}

impl Own {
    /// Notes that the answer to the packet just submitted is awaited.
    pub(super) fn await_answer(&mut self, signal: Signal, results: Buffer, shape: Shape) -> u64 {
        self.tickets += 1;
        self.awaited.insert(self.tickets, Awaited { signal, serial: self.serial, results, shape });
        self.tickets
    }

    /// Waits for an answer and hands over its results.
    pub(super) fn answer<T>(
        &mut self,
        ticket: u64,
        deadline: Instant,
        make: impl FnOnce(&Buffer, &Shape) -> T,
    ) -> Result<T, AgentError> {
        self.notice_fault()?;
        let Some((signal, serial)) = self.awaited.get(&ticket).map(|awaited| (awaited.signal, awaited.serial)) else {
            return Err(AgentError::Failed { call: "answer", status: "there is no such question".into() });
        };
        self.wait_for(signal, deadline, "a comparison")?;
        self.reached(serial);
        let Some(awaited) = self.awaited.remove(&ticket) else {
            return Err(AgentError::Failed { call: "answer", status: "the question was given up".into() });
        };
        let answer = make(&awaited.results, &awaited.shape);
        self.retire(awaited.results);
        self.signals.release(awaited.signal);
        Ok(answer)
    }
}
