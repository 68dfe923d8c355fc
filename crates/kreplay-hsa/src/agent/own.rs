//! What an agent uses of its own: queue, signals, scratch, device kernels, answers that are awaited.

use super::error::check;
use super::kernels::{Kernel, Kernels};
use super::pools::PoolInfo;
use super::ring::{Ring, queue_failed};
use super::scratch::{Buffer, Scratch};
use super::signals::{Signals, wait};
use crate::abi::{AgentHandle, Dispatch, Packet, Signal, TYPE_DISPATCH, Ticks, ordered, ticks};
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a full queue may stay full.
const PUSH: Duration = Duration::from_secs(60);

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

/// See the module. Used under the agent's lock.
pub(super) struct Own {
    api: Api,
    agent: AgentHandle,
    ring: Option<Ring>,
    signals: Signals,
    scratch: Scratch,
    kernels: Option<Kernels>,
    awaited: BTreeMap<u64, Awaited>,
    tickets: u64,
    /// Packets submitted, counted; and how many are known to be over.
    serial: u64,
    done: u64,
    /// A deadline has passed: what is on the queue now is ended by the next [`Own::settle`].
    overdue: bool,
    /// Signals that a packet still on the queue may lower, and nobody waits for any more.
    stranded: Vec<Signal>,
    /// Queues on which a launch of the program's own still runs, and the signal that it will lower.
    occupied: Vec<(Ring, Signal)>,
}

impl Own {
    /// Makes the queue and loads the kernels.
    pub(super) fn new(api: Api, agent: AgentHandle, chip: &str, host: &PoolInfo) -> Result<Self, AgentError> {
        Ok(Self {
            api,
            agent,
            ring: Some(Ring::new(api, agent)?),
            signals: Signals::new(api),
            scratch: Scratch::new(api, host.pool, agent),
            kernels: Kernels::load(&api, agent, chip)?,
            awaited: BTreeMap::new(),
            tickets: 0,
            serial: 0,
            done: 0,
            overdue: false,
            stranded: Vec::new(),
            occupied: Vec::new(),
        })
    }

    /// Packets submitted so far.
    pub(super) fn submissions(&self) -> u64 {
        self.serial
    }

    /// The device kernels.
    pub(super) fn kernels(&self) -> Option<Kernels> {
        self.kernels
    }

    /// The queue, a new one when the old one went into error.
    fn ring(&mut self) -> Result<&mut Ring, AgentError> {
        if self.ring.is_none() {
            self.ring = Some(Ring::new(self.api, self.agent)?);
        }
        self.ring.as_mut().ok_or(AgentError::Unsupported("make a queue"))
    }

    /// Submits packets behind everything before.
    pub(super) fn push(&mut self, packets: &[Packet]) -> Result<(), AgentError> {
        self.notice_fault()?;
        let deadline = Instant::now() + PUSH;
        self.ring()?.push(packets, deadline)?;
        self.serial += packets.len() as u64;
        Ok(())
    }

    /// If the queue went into error: it is destroyed, whatever was on it is given up, and the error is told once. The
    /// next submission goes to a new queue.
    fn notice_fault(&mut self) -> Result<(), AgentError> {
        let Some(status) = self.ring.as_ref().and_then(Ring::fault) else { return Ok(()) };
        self.end_queue();
        Err(queue_failed(status))
    }

    /// Destroys the queue: what runs on it is ended, what waits on it is given up. The next submission goes to a new one.
    fn end_queue(&mut self) {
        if let Some(ring) = self.ring.take() {
            ring.destroy();
        }
        self.overdue = false;
        for (_, awaited) in std::mem::take(&mut self.awaited) {
            self.scratch.retire(self.serial, awaited.results);
            self.stranded.push(awaited.signal);
        }
        for signal in std::mem::take(&mut self.stranded) {
            self.signals.release(signal);
        }
        self.reached(self.serial);
    }

    fn reached(&mut self, serial: u64) {
        self.done = self.done.max(serial);
        self.scratch.reclaim(self.done);
    }

    /// A piece of pinned host memory.
    pub(super) fn buffer(&mut self, bytes: usize) -> Result<Buffer, AgentError> {
        self.scratch.acquire(bytes)
    }

    /// Gives a piece back that packets submitted so far may use.
    pub(super) fn retire(&mut self, buffer: Buffer) {
        self.scratch.retire(self.serial, buffer);
        if self.done == self.serial {
            self.scratch.reclaim(self.done);
        }
    }

    /// Launches one of the device kernels: `table` and `arguments` go into one piece of scratch, whose address takes the
    /// first 8 bytes of the arguments.
    pub(super) fn launch(
        &mut self,
        kernel: Kernel,
        groups: u32,
        table: &[u8],
        arguments: &[u8],
        completion: Signal,
    ) -> Result<(), AgentError> {
        /// Arguments come first, then the table.
        const ARGUMENTS: usize = 256;
        let buffer = self.buffer(ARGUMENTS + table.len())?;
        buffer.write(ARGUMENTS, table);
        buffer.write(0, &(buffer.address() + ARGUMENTS as u64).to_le_bytes());
        buffer.write(8, arguments);
        let packet = Packet::from(Dispatch {
            header: ordered(TYPE_DISPATCH),
            setup: 1,
            workgroup: [256, 1, 1],
            grid: [groups * 256, 1, 1],
            private_bytes: kernel.private_bytes,
            group_bytes: kernel.group_bytes,
            kernel_object: kernel.object,
            kernarg: buffer.address(),
            reserved: 0,
            completion,
        });
        let pushed = self.push(&[packet]);
        self.retire(buffer);
        pushed
    }

    /// A signal of value 1 for a packet that follows.
    pub(super) fn signal(&mut self) -> Result<Signal, AgentError> {
        self.signals.acquire()
    }

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
            return Ok(());
        }
        self.wait_idle(deadline)?;
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

    /// Runs one packet, the program's own launch, with a signal of ours, waits for it, and tells when it ran. When it is
    /// still running at the deadline it keeps the queue, and its signal comes with the error.
    pub(super) fn run_last(
        &mut self,
        mut packet: Packet,
        deadline: Instant,
    ) -> Result<Ticks, (AgentError, Option<Signal>)> {
        let signal = self.signals.acquire().map_err(|error| (error, None))?;
        packet.set_completion(signal);
        self.push(&[packet]).map_err(|error| (error, None))?;
        let serial = self.serial;
        match self.wait_for(signal, deadline, "the program's own launch") {
            Ok(()) => {
                self.reached(serial);
                // SAFETY: the signal is ours and live.
                let times = unsafe { ticks(signal) };
                self.signals.release(signal);
                Ok(times)
            }
            Err(error) => {
                if let (AgentError::Deadline { .. }, Some(ring)) = (&error, self.ring.take()) {
                    self.overdue = false;
                    // Everything before it is over.
                    self.reached(serial);
                    self.occupied.push((ring, signal));
                    return Err((error, Some(signal)));
                }
                self.signals.release(signal);
                Err((error, None))
            }
        }
    }

    /// Gives queue, signals and memory back to the runtime. What is still running after `deadline` keeps what it uses.
    pub(super) fn close(mut self, deadline: Instant) {
        if self.settle(deadline).is_err() {
            return;
        }
        if let Some(ring) = self.ring.take() {
            ring.destroy();
        }
        for (ring, signal) in std::mem::take(&mut self.occupied) {
            // SAFETY: the signal is ours and live.
            if unsafe { (self.api.signal_load)(signal) } < 1 {
                ring.destroy();
                self.signals.release(signal);
            }
        }
        self.scratch.close();
        self.signals.close();
        if let Some(kernels) = self.kernels {
            kernels.unload(&self.api);
        }
    }

    /// Copies from the host, for chips without device kernels.
    pub(super) fn copy_by_host(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), AgentError> {
        // SAFETY: the engine passes only live ranges.
        let status = unsafe { (self.api.memory_copy)(to as *mut _, from as *const _, bytes as usize) };
        check("hsa_memory_copy", status)
    }
}
