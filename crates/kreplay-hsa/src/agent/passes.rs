//! The agent as the counters use it: packets on its own queue, and memory.

use super::HsaAgent;
use crate::abi::Packet;
use crate::counters::{PacketQueue, SharedBuffer};
use kreplay_engine::{Agent, AgentError, CountersError, Tier};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the counters' packets may take.
const SETTLE: Duration = Duration::from_secs(60);

fn failed(call: &'static str) -> impl Fn(AgentError) -> CountersError {
    move |error| CountersError::Failed { call, status: error.to_string() }
}

impl HsaAgent {
    /// Waits until every queue is idle, the program's and the agent's own. Answers that are awaited stay so.
    fn wait_idle(&self, deadline: Instant) -> Result<(), AgentError> {
        self.program().drain(deadline)?;
        self.own()?.for_counters(|own| own.watch_idle(deadline))
    }

    /// Packets on the agent's own queue so far, but for those that only waited.
    fn own_submissions(&self) -> u64 {
        let all = self.own().map_or(0, |own| own.submissions());
        all - self.waits.load(Ordering::Relaxed).min(all)
    }

    /// What came on the own queue since `before` only waited.
    fn waited(&self, before: u64) {
        self.waits.fetch_add(self.own_submissions() - before, Ordering::Relaxed);
    }

    fn shared(&self, call: &'static str, bytes: usize) -> Result<SharedBuffer, CountersError> {
        let backing = self.allocate(Tier::Host, bytes as u64).map_err(failed(call))?;
        Ok(SharedBuffer { address: backing.range.base, bytes, token: backing.token })
    }
}

// SAFETY: buffers are host memory of the runtime that the agent was given access to, until they are freed.
unsafe impl PacketQueue for HsaAgent {
    fn submit_packets(&self, packets: &[[u32; 16]]) -> Result<(), CountersError> {
        let packets: Vec<Packet> = packets
            .iter()
            .map(|words| {
                let mut packet = Packet { header: words[0] as u16, setup: (words[0] >> 16) as u16, body: [0; 15] };
                packet.body.copy_from_slice(&words[1..]);
                packet
            })
            .collect();
        let pushed = self.own().and_then(|mut own| own.for_counters(|own| own.push(&packets)));
        pushed.map_err(failed("the counters' packets"))
    }

    fn alloc_command(&self, bytes: usize) -> Result<SharedBuffer, CountersError> {
        self.executable(bytes).map_err(failed("memory for the counters' commands"))
    }

    fn alloc_output(&self, bytes: usize) -> Result<SharedBuffer, CountersError> {
        self.shared("memory for the counters' values", bytes)
    }

    fn free(&self, buffer: SharedBuffer) {
        self.free_raw(buffer.token);
    }

    fn idle(&self) -> Result<(), CountersError> {
        let own = self.own_submissions();
        let idle = self.wait_idle(Instant::now() + self.patience()).map_err(failed("waiting for the device"));
        self.waited(own);
        idle
    }

    fn submissions(&self) -> u64 {
        self.own_submissions() + self.program().submissions()
    }

    fn settle(&self) -> Result<(), CountersError> {
        let deadline = Instant::now() + SETTLE;
        let settled = self.own().and_then(|mut own| own.for_counters(|own| own.settle(deadline)));
        settled.map_err(failed("the end of the counters' packets"))
    }
}
