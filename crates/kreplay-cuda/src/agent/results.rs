//! Results of our kernels: asked for by launches, brought to the host together, answered one by one.
//!
//! Hashes are asked for after every pass and looked at once, at the end of the passes. Their launches over one table share
//! a slot; when the first of them is asked about, one copy brings all that came so far.

use super::operations::Uploaded;
use super::slots::{Pending, PendingKind, Slot};
use super::{CudaAgent, locked};
use crate::kernels::Table;
use crate::tables::{Function, Progress};
use kreplay_engine::{AgentError, Answer, Chunk, ChunkMap, Ticket};
use std::time::Instant;

/// Launches whose hashes share a slot, where they are small: those of a few windows, so that zeroing is seldom.
const MOST_SHARED: u64 = 16;

/// Bytes of hashes that share a slot.
const MOST_SHARED_BYTES: u64 = 32 << 10;

/// Results of launches over one table, in one slot.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) slot: Slot,
    /// What results may lie in: where it begins, and its bytes. It is zeroed as a whole.
    area: (u64, u64),
    /// Where the first launch's begin.
    offset: u64,
    /// Bytes of one launch's.
    bytes: u64,
    chunk: Chunk,
    /// There is room for so many launches'.
    room: u64,
    /// So many were launched.
    begun: u64,
    /// Whether the copy to the host is queued.
    down: bool,
    /// Whether it has come.
    came: bool,
    /// Tickets that were not answered yet.
    waiting: u64,
}

impl Results {
    /// Whether one more launch over `table` can have its results here.
    pub(super) fn takes(&self, table: &[u8], chunk: Chunk, bytes: u64) -> bool {
        let same = self.chunk == chunk && self.bytes == bytes && self.slot.table == table;
        same && !self.down && self.begun < self.room
    }
}

impl CudaAgent {
    /// Launches a kernel that fills `bytes` of results.
    pub(super) fn observe(
        &self,
        kernel: Function,
        table: &Table,
        chunk: Chunk,
        bytes: u64,
        kind: PendingKind,
    ) -> Result<Ticket, AgentError> {
        let shared = matches!(kind, PendingKind::Hashes(_));
        let joined = if shared { locked(&self.0.slots).join(table.bytes(), chunk, bytes) } else { None };
        let (number, mut results) = match joined {
            Some(joined) => joined,
            None => {
                let room = if shared { (MOST_SHARED_BYTES / bytes.max(8)).clamp(1, MOST_SHARED) } else { 1 };
                let Uploaded { slot, area, zeroes } = self.upload(table, bytes * room, bytes)?;
                let (offset, room) = (zeroes.0, zeroes.1.checked_div(bytes).unwrap_or(room));
                let results =
                    Results { slot, area, offset, bytes, chunk, room, begun: 0, down: false, came: false, waiting: 0 };
                (locked(&self.0.slots).number(), results)
            }
        };
        let place = results.begun;
        // Also where the launch fails: what it may have written is zeroed.
        results.begun += 1;
        let device = results.slot.device;
        let launched = if table.tiles() == 0 {
            Ok(())
        } else {
            let to = device + results.offset + place * bytes;
            self.launch_over(kernel, table, device, Some((chunk.bytes().trailing_zeros(), to)))
        };
        let asked = launched.and_then(|()| if shared { Ok(()) } else { self.bring_down(&mut results) });
        if asked.is_ok() {
            results.waiting += 1;
        }
        let mut slots = locked(&self.0.slots);
        slots.keep(number, results, shared, false);
        asked.map(|()| Ticket(slots.ticket(Pending { results: number, place, kind })))
    }

    /// Queues the copy of results to the host. Where as many more do not fit behind them, all is zeroed behind the event, for
    /// the next use, while the host looks at them.
    fn bring_down(&self, results: &mut Results) -> Result<(), AgentError> {
        let Results { slot, area, offset, bytes, room, begun, .. } = results;
        let (driver, used) = (self.driver(), *bytes * *begun);
        driver
            .copy(slot.pinned + *offset, slot.device + *offset, used, self.stream())
            .and_then(|()| slot.mark(driver, self.stream()))
            .map_err(|error| self.error(error))?;
        results.down = true;
        let left = room.saturating_sub(*begun);
        if left >= *begun {
            slot.zeroes = (*offset + used, *bytes * left);
        } else if driver.set_bytes(slot.device + area.0, 0, area.1, self.stream()).is_ok() {
            slot.zeroes = *area;
        }
        Ok(())
    }

    pub(super) fn answer_until(&self, ticket: Ticket, deadline: Instant) -> Result<Answer, AgentError> {
        let _entered = self.enter()?;
        let pending = locked(&self.0.slots).take(&ticket);
        let Some((Pending { results: number, place, kind }, mut results)) = pending else {
            return Err(AgentError::Failed { call: "answer", status: "the ticket was answered or settled".into() });
        };
        results.waiting -= 1;
        let down = if results.down { Ok(()) } else { self.bring_down(&mut results) };
        let (event, came) = (results.slot.event, results.came);
        let come = || if came { Ok(Progress::Done) } else { self.driver().event_progress(event) };
        let waited = down.and_then(|()| self.poll(deadline, "a comparison", come));
        results.came = waited.is_ok();
        let answer = waited.map(|()| {
            let at = results.offset + place * results.bytes;
            match kind {
                PendingKind::Maps(maps) => Answer::Chunks(
                    maps.into_iter()
                        .map(|(word, chunks)| {
                            ChunkMap::from_words(results.slot.words(at + word * 4, chunks.div_ceil(64)), chunks)
                        })
                        .collect(),
                ),
                PendingKind::Hashes(count) => Answer::Hashes(results.slot.words(at, count)),
            }
        });
        locked(&self.0.slots).keep(number, results, false, answer.is_ok());
        answer
    }
}

impl super::slots::Slots {
    /// The open results that one more launch over `table` can join.
    fn join(&mut self, table: &[u8], chunk: Chunk, bytes: u64) -> Option<(u64, Results)> {
        let number =
            self.open.filter(|number| self.results.get(number).is_some_and(|r| r.takes(table, chunk, bytes)))?;
        self.results.remove(&number).map(|results| (number, results))
    }

    /// What a ticket stands for.
    fn take(&mut self, ticket: &Ticket) -> Option<(Pending, Results)> {
        let pending = self.tickets.remove(&ticket.0)?;
        let results = self.results.remove(&pending.results)?;
        Some((pending, results))
    }

    /// Results go back while a ticket waits for them; with `open` others may join. Else the slot comes free: at once where
    /// its work has `ended`.
    fn keep(&mut self, number: u64, results: Results, open: bool, ended: bool) {
        if open {
            self.open = Some(number);
        }
        if results.waiting > 0 {
            self.results.insert(number, results);
        } else if ended {
            self.release(results.slot);
        } else {
            // The device may still write the slot: it stays away from others until its event has come.
            self.release_later(results.slot);
        }
    }
}
