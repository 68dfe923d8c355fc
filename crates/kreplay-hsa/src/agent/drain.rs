//! Waiting for what is on the agent's own queue.

use super::own::Own;
use super::ring::{Ring, queue_failed};
use super::signals::wait;
use crate::abi::{Packet, Signal};
use kreplay_engine::AgentError;
use std::time::Instant;

impl Own {
    /// Waits for a signal of a packet on the queue.
    pub(super) fn wait_for(&mut self, signal: Signal, deadline: Instant, what: &'static str) -> Result<(), AgentError> {
        let ring = self.ring.as_ref();
        let fault = || ring.and_then(Ring::fault).map(|status| Err(queue_failed(status)));
        let waited = wait(&self.api, signal, deadline, what, fault, ());
        if let Err(error) = &waited {
            self.overdue = matches!(error, AgentError::Deadline { .. });
            self.notice_fault()?;
        }
        waited
    }

    /// Waits until everything on the queue is over. When a deadline has passed before, it is ended instead: it is the
    /// engine's own work, a pass or a comparison, and nothing of it may run on beside the program.
    pub(super) fn settle(&mut self, deadline: Instant) -> Result<(), AgentError> {
        self.notice_fault()?;
        if self.overdue {
            self.end_queue();
            self.forget_marks();
            return Ok(());
        }
        self.wait_idle(deadline)?;
        self.forget_marks();
        for (_, awaited) in std::mem::take(&mut self.awaited) {
            self.retire(awaited.results);
            self.signals.release(awaited.signal);
        }
        Ok(())
    }

    /// As [`Own::wait_idle`], for somebody who has no part in what is waited for: when it takes too long nothing of it is
    /// ended by that.
    pub(super) fn watch_idle(&mut self, deadline: Instant) -> Result<(), AgentError> {
        let overdue = self.overdue;
        let waited = self.wait_idle(deadline);
        self.overdue = overdue;
        waited
    }

    /// Waits until everything on the queue is over; answers that are awaited stay so.
    fn wait_idle(&mut self, deadline: Instant) -> Result<(), AgentError> {
        self.notice_fault()?;
        if self.done != self.serial {
            let signal = self.signals.acquire()?;
            self.push(&[Packet::barrier(signal)])?;
            let serial = self.serial;
            self.wait_for(signal, deadline, "its own work").inspect_err(|_| self.stranded.push(signal))?;
            self.signals.release(signal);
            self.reached(serial);
        }
        Ok(())
    }
}
