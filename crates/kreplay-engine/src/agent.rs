//! What the engine asks of a GPU.

use crate::{Chunk, ChunkMap, Range};
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

    /// Finds the chunks of each pair that differ; neither side is in the host tier. The answer is [`Answer::Chunks`].
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] without [`Capabilities::observe`].
    fn compare(&self, pairs: &[Pair], chunk: Chunk) -> Result<Ticket, AgentError>;

    /// Finds the chunks of each pair that differ and copies them one way, in one read of both sides; neither is in the host
    /// tier. The answer is [`Answer::Chunks`]: what differed.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] without [`Capabilities::observe`].
    fn synchronise(&self, pairs: &[Pair], chunk: Chunk, towards: Towards) -> Result<Ticket, AgentError>;

    /// Hashes each chunk of each range of memory, a partly filled last chunk too. Chunks of equal bytes have equal hashes on the
    /// same agent in the same process, whatever range they are asked for in; 64 bits. The answer is [`Answer::Hashes`].
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

    /// Puts a mark on the agent's own queue, after everything before it; [`Agent::reached`] counts it once everything before it
    /// is over. Nothing waits for it.
    ///
    /// # Errors
    /// Any [`AgentError`]; [`AgentError::Unsupported`] where [`Agent::reached`] has no answer.
    fn mark(&self) -> Result<(), AgentError> {
        Err(AgentError::Unsupported("mark its queue"))
    }

    /// How many marks were reached of those put since the last [`Agent::settle`] or [`Agent::drain`] that succeeded. It never
    /// waits, and answers also while work runs that does not end. `None`, always: the agent cannot mark its queue.
    fn reached(&self) -> Option<u64> {
        None
    }

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
