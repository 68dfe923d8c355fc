//! What an agent uses of its own: queue, signals, scratch, device kernels, answers that are awaited.

use super::error::check;
use super::kernels::{Kernel, Kernels};
use super::pools::PoolInfo;
use super::results::Awaited;
use super::ring::{Ring, queue_failed};
use super::scratch::{Buffer, Scratch};
use super::signals::Signals;
use crate::abi::{AgentHandle, Dispatch, Packet, Signal, Status, TYPE_DISPATCH, Ticks, ordered, ticks};
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

/// How long a full queue may stay full.
const PUSH: Duration = Duration::from_secs(60);

/// See the module. Used under the agent's lock.
pub(super) struct Own {
    pub(super) api: Api,
    agent: AgentHandle,
    pub(super) ring: Option<Ring>,
    pub(super) signals: Signals,
    /// What marks lower, once one was put.
    pub(super) marks: Option<Signal>,
    scratch: Scratch,
    kernels: Option<Kernels>,
    pub(super) awaited: BTreeMap<u64, Awaited>,
    pub(super) tickets: u64,
    /// Packets submitted, counted; and how many are known to be over.
    pub(super) serial: u64,
    pub(super) done: u64,
    /// The status that the last error of the queue was told with; and one that somebody else was told, but not the engine.
    told: Option<Status>,
    untold: Option<Status>,
    /// A deadline has passed: what is on the queue now is ended by the next [`Own::settle`].
    pub(super) overdue: bool,
    /// Signals that a packet still on the queue may lower, and nobody waits for any more.
    pub(super) stranded: Vec<Signal>,
    /// Queues on which a launch of the program's own still runs, and the signal that it will lower.
    occupied: Vec<(Ring, Signal)>,
    /// Queues on which nothing runs any more.
    ended: Vec<Ring>,
}

/// The agent's own queue and what belongs to it, locked.
pub(super) struct OwnGuard<'a>(MutexGuard<'a, Option<Own>>);

impl<'a> OwnGuard<'a> {
    /// Of a queue that was made.
    pub(super) fn new(own: MutexGuard<'a, Option<Own>>) -> Self {
        Self(own)
    }
}

impl Deref for OwnGuard<'_> {
    type Target = Own;
    fn deref(&self) -> &Own {
        match &*self.0 {
            Some(own) => own,
            None => unreachable!("a guard is made only after the queue"),
        }
    }
}

impl DerefMut for OwnGuard<'_> {
    fn deref_mut(&mut self) -> &mut Own {
        match &mut *self.0 {
            Some(own) => own,
            None => unreachable!("a guard is made only after the queue"),
        }
    }
}

impl Own {
    /// Loads the kernels and makes the queue. Nothing is left behind where one of them fails.
    pub(super) fn new(api: Api, agent: AgentHandle, chip: &str, host: &PoolInfo) -> Result<Self, AgentError> {
        let mut own = Self {
            api,
            agent,
            ring: None,
            signals: Signals::new(api),
            marks: None,
            scratch: Scratch::new(api, host.pool, agent),
            kernels: Kernels::load(&api, agent, chip)?,
            awaited: BTreeMap::new(),
            tickets: 0,
            serial: 0,
            done: 0,
            told: None,
            untold: None,
            overdue: false,
            stranded: Vec::new(),
            occupied: Vec::new(),
            ended: Vec::new(),
        };
        if let Err(error) = own.ring() {
            if let Some(kernels) = own.kernels {
                kernels.unload(&api);
            }
            return Err(error);
        }
        Ok(own)
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

    /// If the queue went into error: it is ended, whatever was on it is given up, and the error is told once. The
    /// next submission goes to a new queue.
    pub(super) fn notice_fault(&mut self) -> Result<(), AgentError> {
        let status = match self.ring.as_ref().and_then(Ring::fault) {
            Some(status) => {
                self.end_queue();
                status
            }
            None => match self.untold.take() {
                Some(status) => status,
                None => return Ok(()),
            },
        };
        self.told = Some(status);
        Err(queue_failed(status))
    }

    /// Does something for the counters. If they are told that the queue went into error the engine is told too, by its next call:
    /// a pass is lost, not only its values.
    pub(super) fn for_counters<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AgentError>,
    ) -> Result<T, AgentError> {
        self.told = None;
        let done = work(self);
        self.untold = self.told.take().or(self.untold);
        done
    }

    /// Ends the queue: what runs on it is ended, what waits on it is given up. The next submission goes to a new one. It is destroyed only
    /// by [`Own::close`]: that waits for the runtime's own thread, which may be in a handler of the program's and wait for what is
    /// locked here.
    pub(super) fn end_queue(&mut self) {
        if let Some(ring) = self.ring.take() {
            ring.inactivate();
            self.ended.push(ring);
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

    pub(super) fn reached(&mut self, serial: u64) {
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
        for ring in self.ring.take().into_iter().chain(std::mem::take(&mut self.ended)) {
            ring.destroy();
        }
        for (ring, signal) in std::mem::take(&mut self.occupied) {
            // SAFETY: the signal is ours and live.
            if unsafe { (self.api.signal_load)(signal) } < 1 {
                ring.destroy();
                self.signals.release(signal);
            }
        }
        if let Some(signal) = self.marks.take() {
            self.signals.release(signal);
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
