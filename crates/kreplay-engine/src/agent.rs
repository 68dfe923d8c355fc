//! What the engine asks of a GPU.

use crate::{Chunk, Range};
use std::sync::Arc;
use std::time::Instant;

/// An agent's number, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u64);

/// What an agent is, for records and reports.
#[derive(Clone, Debug)]
pub struct AgentDescription {
    /// The number.
    pub id: AgentId,
    /// Product or chip, as the vendor's runtime names it.
    pub name: Arc<str>,
    /// Instruction set or chip name that counters and device kernels go by.
    pub chip: Arc<str>,
    /// Whether it is the software GPU: all its counters are simulated.
    pub simulated: bool,
    /// What it can do on the device.
    pub capabilities: Capabilities,
}

/// What an agent can do on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether `compare`, `synchronise` and `hash` work. Without them only full restore can be had.
    pub observe: bool,
    /// Whether `compare` and the others also work where one side is in the host tier.
    pub observe_host: bool,
}

/// Device memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryState {
    /// Bytes in all.
    pub total: u64,
    /// Bytes free now.
    pub free: u64,
}

/// Where snapshot bytes live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Device memory.
    Device,
    /// Host memory that the agent has pinned once and reads and writes directly.
    Host,
}

/// Memory that an agent allocated for the engine. It is freed by giving it back to [`Agent::free`], exactly once.
#[derive(Debug)]
pub struct Backing {
    /// Where it lies, as the agent sees it.
    pub range: Range,
    /// Which tier it is in.
    pub tier: Tier,
    /// The agent's own mark, for instance a handle needed to free it.
    pub token: u64,
}

/// Copy `bytes` from `from` to `to`. The moves of one call never overlap each other's destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Destination.
    pub to: u64,
    /// Source.
    pub from: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Two copies of the same bytes: the program's memory and its shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The program's memory.
    pub memory: u64,
    /// The shadow of it.
    pub shadow: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Which copy [`Agent::synchronise`] makes like the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// Shadow ← memory: a snapshot, or a commit.
    Shadow,
    /// Memory ← shadow: a repair.
    Memory,
}

/// Stands for an answer that the device has not given yet.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// What the device answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of `compare` and `synchronise`: which chunks differed (before they were made alike), one map a pair.
    Chunks(Vec<ChunkMap>),
    /// Of `hash`: one value a chunk, range by range.
    Hashes(Vec<u64>),
}

/// One bit a chunk of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkMap {
    words: Vec<u64>,
    chunks: u64,
}

impl ChunkMap {
    /// A map of `chunks` chunks, none marked.
    pub fn new(chunks: u64) -> Self {
        Self { words: vec![0; chunks.div_ceil(64) as usize], chunks }
    }

    /// A map from words as a device writes them: bit `i % 64` of word `i / 64` is chunk `i`. Bits past `chunks` are
    /// dropped, missing words are zero.
    pub fn from_words(mut words: Vec<u64>, chunks: u64) -> Self {
        words.resize(chunks.div_ceil(64) as usize, 0);
        if let Some(last) = words.last_mut()
            && !chunks.is_multiple_of(64)
        {
            *last &= (1 << (chunks % 64)) - 1;
        }
        Self { words, chunks }
    }

    /// Chunks that the map covers.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Marks a chunk; one past the end is ignored.
    pub fn mark(&mut self, chunk: u64) {
        if chunk < self.chunks {
            self.words[(chunk / 64) as usize] |= 1 << (chunk % 64);
        }
    }

    /// Marks `count` chunks from `first`; those past the end are ignored.
    pub fn mark_run(&mut self, first: u64, count: u64) {
        for chunk in first..first.saturating_add(count).min(self.chunks) {
            self.mark(chunk);
        }
    }

    /// Marks what another map of as many chunks marks.
    pub fn unite(&mut self, other: &ChunkMap) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// What is marked here and not in `other`.
    pub fn without(&self, other: &ChunkMap) -> ChunkMap {
        let mut rest = self.clone();
        for (word, less) in rest.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
        rest
    }

    /// Whether a chunk is marked.
    pub fn marked(&self, chunk: u64) -> bool {
        chunk < self.chunks && self.words[(chunk / 64) as usize] >> (chunk % 64) & 1 == 1
    }

    /// Chunks marked.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether no chunk is marked.
    pub fn is_clear(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Runs of marked chunks, `(first, count)`, in order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            at = self.next(at, true)?;
            let first = at;
            at = self.next(at, false).unwrap_or(self.chunks);
            Some((first, at - first))
        })
    }

    /// The first chunk from `at` whose mark is `marked`.
    fn next(&self, at: u64, marked: bool) -> Option<u64> {
        let mut index = (at / 64) as usize;
        let mut mask = u64::MAX << (at % 64);
        while index < self.words.len() {
            let word = if marked { self.words[index] } else { !self.words[index] } & mask;
            if word != 0 {
                let found = index as u64 * 64 + u64::from(word.trailing_zeros());
                return (found < self.chunks).then_some(found);
            }
            index += 1;
            mask = u64::MAX;
            if marked {
                index += self.clear_from(index);
            }
        }
        None
    }

    /// Words from `index` on that are known to be clear: most of a large map is, and looking at several at once is cheap.
    fn clear_from(&self, index: usize) -> usize {
        const AT_ONCE: usize = 16;
        let words = self.words.get(index..).unwrap_or_default().chunks_exact(AT_ONCE);
        words.take_while(|words| words.iter().fold(0, |all, word| all | word) == 0).count() * AT_ONCE
    }
}

/// Why an agent could not do what it was asked. See the crate's contract for what each means to the engine.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum AgentError {
    /// The tier has no room.
    #[error("no room for {bytes} bytes in {tier:?} memory")]
    Exhausted {
        /// The tier.
        tier: Tier,
        /// What was asked for.
        bytes: u64,
    },
    /// Work did not end in time and may still be running.
    #[error("the device did not finish {what} in time")]
    Deadline {
        /// What was waited for.
        what: &'static str,
    },
    /// The device or its context is gone. Sticky.
    #[error("the device is lost: {0}")]
    Lost(String),
    /// The vendor's call failed.
    #[error("{call} failed: {status}")]
    Failed {
        /// The vendor's function, or the step.
        call: &'static str,
        /// Its status: name, number and meaning.
        status: String,
    },
    /// The agent has no such operation; see [`Capabilities`].
    #[error("the device cannot {0}")]
    Unsupported(&'static str),
}

/// A GPU, as the engine drives it. The contract stands in the crate's documentation; the conformance suite checks it.
pub trait Agent: Send + Sync + 'static {
    /// A recorded dispatch or memory operation that can be submitted any number of times. It owns what it needs:
    /// argument bytes, saved host sources.
    type Work: Send + 'static;

    /// What it is. Constant.
    fn describe(&self) -> AgentDescription;

    /// Device memory now.
    ///
    /// # Errors
    /// Any [`AgentError`] of the vendor's call.
    fn memory(&self) -> Result<MemoryState, AgentError>;

    /// Allocates `bytes` (at least 1) of backing, aligned to 256 bytes, content undefined. Not seen by the program
    /// and not reported as a region.
    ///
    /// # Errors
    /// [`AgentError::Exhausted`] when there is no room.
    fn allocate(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError>;

    /// Gives backing back. It cannot fail towards the engine; an agent that is lost leaks it. The caller has seen the
    /// end of all work on it.
    fn free(&self, backing: Backing);

    /// Copies each move; any mix of memory and tiers, any alignment.
    ///
    /// # Errors
    /// Any [`AgentError`]; nothing is known of the destinations then.
    fn copy(&self, moves: &[Move]) -> Result<(), AgentError>;

    /// Finds the chunks of each pair that differ. The answer is [`Answer::Chunks`].
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] without [`Capabilities::observe`].
    fn compare(&self, pairs: &[Pair], chunk: Chunk) -> Result<Ticket, AgentError>;

    /// Finds the chunks of each pair that differ and copies them one way, in one read of both sides. The answer is
    /// [`Answer::Chunks`]: what differed.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] without [`Capabilities::observe`].
    fn synchronise(&self, pairs: &[Pair], chunk: Chunk, towards: Towards) -> Result<Ticket, AgentError>;

    /// Hashes each chunk of each range, a partly filled last chunk too. Equal bytes have equal hashes on the same agent
    /// in the same process; 64 bits. The answer is [`Answer::Hashes`].
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] without [`Capabilities::observe`].
    fn hash(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError>;

    /// Waits for an answer, until `deadline`. Every ticket is answered at most once; one that nobody asks for any more
    /// is dropped by the next [`Agent::settle`].
    ///
    /// # Errors
    /// [`AgentError::Deadline`], or what went wrong on the device.
    fn answer(&self, ticket: Ticket, deadline: Instant) -> Result<Answer, AgentError>;

    /// Runs recorded work on the agent's own queue, after everything before it. The program sees no completion.
    ///
    /// # Errors
    /// Any [`AgentError`]. An error of the kernel itself may come later, from `answer`, `settle` or `drain`.
    fn submit(&self, work: &Self::Work) -> Result<(), AgentError>;

    /// Whether the interceptor of this agent records memory operations, so that batch windows can be long.
    fn records(&self) -> bool {
        false
    }

    /// Whether what the program has freed within the open window is still mapped where it was, as
    /// [`region_lingers`](crate::Engine::region_lingers) promised. Asked before a window is replayed.
    ///
    /// # Errors
    /// What may be gone. The window is not replayed then.
    fn kept(&self) -> Result<(), AgentError> {
        Ok(())
    }

    /// Bytes of host memory that recorded work holds: arguments, saved sources.
    fn work_bytes(&self, work: &Self::Work) -> u64 {
        let _ = work;
        0
    }

    /// Waits until every queue of the agent is idle: the program's dispatches and copies, and ours.
    ///
    /// # Errors
    /// [`AgentError::Deadline`] when that takes longer; nothing was changed then.
    fn drain(&self, deadline: Instant) -> Result<(), AgentError>;

    /// Waits until everything that was asked through this trait is done.
    ///
    /// # Errors
    /// [`AgentError::Deadline`], or what went wrong on the device.
    fn settle(&self, deadline: Instant) -> Result<(), AgentError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_neighbours_across_words() {
        let mut map = ChunkMap::new(200);
        for chunk in [0, 62, 63, 64, 65, 130, 199, 200] {
            map.mark(chunk);
        }
        assert_eq!(map.runs().collect::<Vec<_>>(), [(0, 1), (62, 4), (130, 1), (199, 1)]);
        assert_eq!(map.count(), 7);
    }

    #[test]
    fn marks_are_found_wherever_they_stand_in_a_large_map() {
        for marks in
            [vec![0], vec![63, 64], vec![1023, 1024], vec![1087], vec![5, 2047, 2048, 3000], vec![4095], vec![]]
        {
            let mut map = ChunkMap::new(4096);
            marks.iter().for_each(|mark| map.mark(*mark));
            let found: Vec<u64> = map.runs().flat_map(|(first, count)| first..first + count).collect();
            assert_eq!(found, marks);
        }
    }

    #[test]
    fn bits_past_the_end_are_dropped() {
        let map = ChunkMap::from_words(vec![u64::MAX], 3);
        assert_eq!(map.runs().collect::<Vec<_>>(), [(0, 3)]);
        assert_eq!(ChunkMap::from_words(vec![], 65).count(), 0);
    }
}
