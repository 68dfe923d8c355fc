//! Passing packets on to the program's queue, counted.

use super::launch::Submission;
use super::state::Backend;
use crate::abi::{Packet, Signal};
use crate::agent::{Backoff, Work};
use std::time::Instant;

/// Slots of a queue that are left free when packets are passed on.
const MARGIN: i64 = 8;

impl Backend {
    /// A barrier that was submitted before waits for what comes now: what is behind it runs later than it was recorded.
    pub(super) fn overtaken(&self) {
        for unit in self.units() {
            unit.engine.give_up_recording("a barrier waits for work that was submitted after it");
        }
    }
}

impl Submission<'_> {
    /// Passes on packets that are barriers only. Those that neither wait for a signal nor lower one need not be counted.
    pub(super) fn barriers(&self, packets: &[Packet]) {
        let concerns = |packet: &Packet| packet.completion().handle != 0 || packet.waits().is_some();
        if packets.iter().any(concerns) { self.pass_on(packets) } else { (self.hand_on)(packets) }
    }

    /// In place of a dispatch that still runs on our queue: a barrier that waits for it.
    pub(super) fn pass_on_behind(&self, running: Signal, completion: Signal, rest: &[Packet]) {
        let mut barrier = Packet::barrier(completion);
        barrier.body[1] = running.handle as u32;
        barrier.body[2] = (running.handle >> 32) as u32;
        // It is our own, and falls by itself.
        self.backend.waits.lowers(&Work::other(), running);
        let mut packets = vec![barrier];
        packets.extend_from_slice(rest);
        self.pass_on_as(&packets, true);
    }

    /// Passes packets on so that a drain can wait for them: the queue's counter is raised by one, and the device lowers it
    /// when the last packet is over.
    pub(super) fn pass_on(&self, packets: &[Packet]) {
        self.pass_on_as(packets, packets.iter().any(|packet| !packet.is_barrier()));
    }

    /// As [`Submission::pass_on`]; `works` says whether they are more than barriers.
    fn pass_on_as(&self, packets: &[Packet], works: bool) {
        self.leave_room();
        let work = &self.queue.work;
        if works {
            self.unit.agent.program().submits();
        }
        let number = work.submits(works);
        if self.backend.waits.submitted(work, number, packets) {
            self.backend.overtaken();
        }
        let mut packets = packets.to_vec();
        match packets.as_mut_slice() {
            // A barrier may be over before what is before it.
            [only] if only.has_completion() && only.completion().handle == 0 && (works || only.is_ordered()) => {
                only.set_completion(work.pending);
            }
            _ => packets.push(Packet::barrier(work.pending)),
        }
        (self.hand_on)(&packets);
    }

    /// Waits until the hardware's queue has room. When it has none the runtime puts packets aside until it has, and then
    /// needs the lock that this thread holds: a window would wait for them in vain. If the queue does not move (it waits
    /// for something that the program does later) the packets go on all the same.
    fn leave_room(&self) {
        let most = (i64::from(self.queue.packets()) / 2 - MARGIN).max(1);
        let deadline = Instant::now() + self.backend.drain_deadline;
        let mut backoff = Backoff::default();
        let work = &self.queue.work;
        // SAFETY: the counter lives as long as the queue's record.
        while unsafe { (self.backend.api.signal_load)(work.pending) } > most {
            if self.backend.waits.is_stuck(work, work.submitted()) {
                break;
            }
            if backoff.until(deadline, "room in a queue").is_err() {
                break;
            }
        }
    }
}
