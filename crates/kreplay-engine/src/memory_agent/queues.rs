//! What waits to run: the agent's own queue and the program's.

use super::faults::Orders;
use super::memory::{Memory, Work};
use crate::{AgentError, Answer, Chunk, ChunkMap, Move, Pair, Range, Towards};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// Something in the agent's own queue.
pub(super) enum Step {
    Copy(Vec<Move>),
    Compare {
        pairs: Vec<Pair>,
        chunk: Chunk,
        towards: Option<Towards>,
        ticket: u64,
    },
    Hash {
        ranges: Vec<Range>,
        chunk: Chunk,
        ticket: u64,
    },
    Submit(Work),
    Mark,
    /// Fails when it is reached.
    Fail(AgentError),
}

/// Memory and everything that will change it.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) memory: Memory,
    pub(super) own: VecDeque<Step>,
    pub(super) program: VecDeque<(u64, Work)>,
    pub(super) stalled: BTreeSet<u64>,
    pub(super) answers: BTreeMap<u64, Answer>,
    pub(super) orders: Orders,
    /// The submission of this number (from 0) hangs for so many waits.
    pub(super) hang: Option<(u64, u32)>,
    pub(super) submitted: u64,
    /// Marks that were reached since the last wait for everything.
    pub(super) marks: u64,
    pub(super) copied_bytes: u64,
    pub(super) compared_bytes: u64,
    pub(super) busy: Duration,
}

impl Machine {
    /// Runs the agent's own queue to its end, or to a kernel that hangs. Returns whether it came to the end.
    pub(super) fn run_own(&mut self) -> bool {
        while let Some(step) = self.own.pop_front() {
            if let Step::Submit(_) = step {
                if let Some((number, waits)) = &mut self.hang
                    && *number == self.submitted
                    && *waits > 0
                {
                    *waits = if *waits == u32::MAX { *waits } else { *waits - 1 };
                    self.own.push_front(step);
                    return false;
                }
                self.submitted += 1;
            }
            let start = Instant::now();
            self.run(step);
            self.busy += start.elapsed();
        }
        true
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Copy(moves) => {
                for each in moves {
                    self.copied_bytes += each.bytes;
                    self.memory.copy(each.to, each.from, each.bytes);
                }
            }
            Step::Compare { pairs, chunk, towards, ticket } => {
                let maps = pairs.iter().map(|pair| self.compare(*pair, chunk, towards)).collect();
                self.answers.insert(ticket, Answer::Chunks(maps));
            }
            Step::Hash { ranges, chunk, ticket } => {
                let hashes = ranges.iter().flat_map(|range| self.hash(*range, chunk)).collect();
                self.answers.insert(ticket, Answer::Hashes(hashes));
            }
            Step::Submit(work) => work.run(&mut self.memory),
            Step::Mark => self.marks += 1,
            Step::Fail(error) => self.orders.late = Some(error),
        }
    }

    fn compare(&mut self, pair: Pair, chunk: Chunk, towards: Option<Towards>) -> ChunkMap {
        self.compared_bytes += pair.bytes;
        let memory = self.memory.bytes(Range::new(pair.memory, pair.bytes));
        let shadow = self.memory.bytes(Range::new(pair.shadow, pair.bytes));
        let mut map = ChunkMap::new(chunk.count(pair.bytes));
        let chunks = memory.chunks(chunk.bytes() as usize).zip(shadow.chunks(chunk.bytes() as usize));
        for (index, (left, right)) in chunks.enumerate() {
            if left != right {
                map.mark(index as u64);
            }
        }
        for (first, count) in map.runs() {
            let start = first * chunk.bytes();
            let bytes = (count * chunk.bytes()).min(pair.bytes - start);
            let (memory, shadow) = (pair.memory + start, pair.shadow + start);
            match towards {
                Some(Towards::Shadow) => self.memory.copy(shadow, memory, bytes),
                Some(Towards::Memory) => self.memory.copy(memory, shadow, bytes),
                None => {}
            }
        }
        map
    }

    fn hash(&self, range: Range, chunk: Chunk) -> Vec<u64> {
        self.memory.bytes(range).chunks(chunk.bytes() as usize).map(hash).collect()
    }

    /// Runs the program's queues that do not stall, in the order of the launches. Returns whether all ran.
    pub(super) fn run_program(&mut self) -> bool {
        let mut waiting = VecDeque::new();
        while let Some((queue, work)) = self.program.pop_front() {
            if self.stalled.contains(&queue) {
                waiting.push_back((queue, work));
            } else {
                let start = Instant::now();
                work.run(&mut self.memory);
                self.busy += start.elapsed();
            }
        }
        self.program = waiting;
        self.program.is_empty()
    }
}

/// A mixing hash of words; good enough to tell bytes apart, fast enough to benchmark with.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut words = bytes.chunks_exact(8);
    let mut value = bytes.len() as u64;
    for word in &mut words {
        let mut whole = [0; 8];
        whole.copy_from_slice(word);
        value = mix(value, u64::from_le_bytes(whole));
    }
    let tail = words.remainder().iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte));
    mix(mix(value, tail), 0x94d0_49bb_1331_11eb)
}
