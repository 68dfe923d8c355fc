//! Copies, compares and hashes of many ranges at once, by device kernels.

use super::HsaAgent;
use super::own::Own;
use super::results::Shape;
use super::tasks::{self, Table};
use crate::abi::Signal;
use crate::tables::Api;
use kreplay_engine::{AgentError, Answer, Chunk, ChunkMap, Move, Pair, Range, Ticket};
use std::time::{Duration, Instant};

/// How long the host waits for the device where the engine gives no deadline (copies without device kernels).
const PATIENCE: Duration = Duration::from_secs(60);
/// Work-groups a compute unit gets of a device kernel: enough to keep memory busy.
const GROUPS_PER_UNIT: u64 = 8;

impl HsaAgent {
    /// As the seam's `copy`.
    pub(super) fn copy_moves(&self, moves: &[Move]) -> Result<(), AgentError> {
        let mut own = self.own()?;
        let Some(kernels) = own.kernels() else {
            own.settle(Instant::now() + PATIENCE)?;
            return moves
                .iter()
                .filter(|step| step.bytes != 0)
                .try_for_each(|step| own.copy_by_host(step.to, step.from, step.bytes));
        };
        let table = tasks::moves(moves);
        if table.tasks == 0 {
            return Ok(());
        }
        let groups = self.groups(table.tasks);
        let mut arguments = Arguments(Vec::new());
        arguments.u64(table.tasks).u64(tasks::PIECE).u32(table.entries.len() as u32).u32(groups);
        own.launch(kernels.copy, groups, &table.bytes(), &arguments.0, Signal::default())
    }

    /// Compare and synchronise. `way` is the kernel's: 0 only compares, 1 writes the shadow, 2 writes memory.
    pub(super) fn compare_pairs(&self, pairs: &[Pair], chunk: Chunk, way: u32) -> Result<Ticket, AgentError> {
        let mut own = self.own()?;
        let Some(kernels) = own.kernels() else { return Err(AgentError::Unsupported("compare memory")) };
        let table = tasks::pairs(pairs, chunk);
        let shape = Shape::Chunks(pairs.iter().map(|pair| chunk.count(pair.bytes)).collect());
        let results = own.buffer(table.tasks as usize * 4)?;
        let mut arguments = Arguments::new(&results, &table, chunk.bytes());
        let groups = self.groups(table.tasks);
        arguments.u32(groups).u32(way);
        let signal = own.signal()?;
        launch_or_fall(
            &mut own,
            &self.api,
            table,
            |own, table| own.launch(kernels.compare, groups, &table.bytes(), &arguments.0, signal),
            signal,
        )?;
        Ok(Ticket(own.await_answer(signal, results, shape)))
    }

    /// As the seam's `hash`.
    pub(super) fn hash_ranges(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError> {
        let mut own = self.own()?;
        let Some(kernels) = own.kernels() else { return Err(AgentError::Unsupported("hash memory")) };
        let table = tasks::ranges(ranges, chunk);
        let hashes: u64 = ranges.iter().map(|range| chunk.count(range.bytes)).sum();
        let results = own.buffer(hashes as usize * 8)?;
        let groups = self.groups(table.tasks);
        let mut arguments = Arguments::new(&results, &table, chunk.bytes());
        arguments.u32(groups);
        let signal = own.signal()?;
        launch_or_fall(
            &mut own,
            &self.api,
            table,
            |own, table| own.launch(kernels.hash, groups, &table.bytes(), &arguments.0, signal),
            signal,
        )?;
        Ok(Ticket(own.await_answer(signal, results, Shape::Hashes(hashes as usize))))
    }

    /// As the seam's `answer`.
    pub(super) fn answer_ticket(&self, ticket: Ticket, deadline: Instant) -> Result<Answer, AgentError> {
        self.own()?.answer(ticket.0, deadline, |results, shape| match shape {
            Shape::Hashes(count) => Answer::Hashes(results.read(*count)),
            Shape::Chunks(pairs) => {
                let words: Vec<u32> = results.read(pairs.iter().map(|chunks| chunks.div_ceil(32) as usize).sum());
                let mut at = 0;
                let maps = pairs.iter().map(|&chunks| {
                    let count = chunks.div_ceil(32) as usize;
                    let map = ChunkMap::from_words(join(&words[at..at + count]), chunks);
                    at += count;
                    map
                });
                Answer::Chunks(maps.collect())
            }
        })
    }

    fn groups(&self, tasks: u64) -> u32 {
        tasks.clamp(1, u64::from(self.gpu.units.max(1)) * GROUPS_PER_UNIT) as u32
    }
}

/// Launches, or, when there is nothing to do, lets the signal fall at once: an empty question has an empty answer.
fn launch_or_fall(
    own: &mut Own,
    api: &Api,
    table: Table,
    launch: impl FnOnce(&mut Own, &Table) -> Result<(), AgentError>,
    signal: Signal,
) -> Result<(), AgentError> {
    if table.tasks == 0 {
        // SAFETY: the signal is ours and live.
        unsafe { (api.signal_store)(signal, 0) };
        return Ok(());
    }
    launch(own, &table)
}

/// Arguments of a device kernel after the table's address.
struct Arguments(Vec<u8>);

impl Arguments {
    /// Results, tasks, chunk, entries: what compare and hash begin with.
    fn new(results: &super::scratch::Buffer, table: &Table, chunk: u64) -> Self {
        let mut arguments = Self(Vec::with_capacity(64));
        arguments.u64(results.address()).u64(table.tasks).u64(chunk).u32(table.entries.len() as u32);
        arguments
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
}

/// Pairs of 32-bit words as 64-bit words.
fn join(words: &[u32]) -> Vec<u64> {
    words.chunks(2).map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32)).collect()
}
