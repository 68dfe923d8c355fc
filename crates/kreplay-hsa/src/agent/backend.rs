//! The agent itself.

use super::error::{check, check_allocation};
use super::own::{Own, Shape};
use super::pools::PoolInfo;
use super::program::ProgramWork;
use super::tasks::{self, Table};
use super::work::{Again, HsaWork};
use crate::abi::{AGENT_INFO_MEMORY_AVAILABLE, ALLOCATION_EXECUTABLE, AgentHandle, Packet, Pool, Signal, Ticks};
use crate::counters::SharedBuffer;
use crate::tables::Api;
use kreplay_engine::{
    Agent, AgentDescription, AgentError, AgentId, Answer, Backing, Capabilities, Chunk, ChunkMap, MemoryState, Move,
    Pair, Range, Ticket, Tier, Towards,
};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the host waits for the device where the engine gives no deadline (copies without device kernels).
const PATIENCE: Duration = Duration::from_secs(60);
/// Work-groups a compute unit gets of a device kernel: enough to keep memory busy.
const GROUPS_PER_UNIT: u64 = 8;

/// What is known of a GPU when the library is loaded.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    /// Its handle.
    pub(crate) handle: AgentHandle,
    /// Chip (`gfx90a`).
    pub(crate) chip: String,
    /// Product.
    pub(crate) product: String,
    /// Whether it is the software GPU.
    pub(crate) simulated: bool,
    /// Compute units.
    pub(crate) units: u32,
    /// Its coarse-grained pool.
    pub(crate) device: PoolInfo,
    /// A pool of host memory.
    pub(crate) host: PoolInfo,
    /// How long counters may wait for it.
    pub(crate) patience: Duration,
}

/// A GPU behind the HSA runtime. See the module.
pub struct HsaAgent {
    api: Api,
    id: AgentId,
    gpu: Gpu,
    own: Mutex<Option<Own>>,
    program: ProgramWork,
    /// Packets on the agent's own queue that only waited for others.
    pub(super) waits: AtomicU64,
    /// Bytes that the program and the engine have of the device's pool.
    used: AtomicU64,
}

/// The agent's own queue and what belongs to it, locked.
pub(super) struct OwnGuard<'a>(MutexGuard<'a, Option<Own>>);

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

impl HsaAgent {
    pub(crate) fn new(api: Api, id: AgentId, gpu: Gpu) -> Self {
        Self {
            api,
            id,
            gpu,
            own: Mutex::new(None),
            program: ProgramWork::default(),
            waits: AtomicU64::new(0),
            used: AtomicU64::new(0),
        }
    }

    /// What the program has in flight.
    pub(crate) fn program(&self) -> &ProgramWork {
        &self.program
    }

    /// The runtime's handle.
    pub(crate) fn handle(&self) -> AgentHandle {
        self.gpu.handle
    }

    /// How long counters may wait for it.
    pub(super) fn patience(&self) -> Duration {
        self.gpu.patience
    }

    /// The chip (`gfx90a`).
    pub(crate) fn chip(&self) -> &str {
        &self.gpu.chip
    }

    /// Counts an allocation of the device's pool, or its end.
    pub(crate) fn count_used(&self, bytes: u64, born: bool) {
        if born {
            self.used.fetch_add(bytes, Ordering::Relaxed);
        } else {
            self.used.fetch_sub(bytes.min(self.used.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    pub(super) fn own(&self) -> Result<OwnGuard<'_>, AgentError> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(Own::new(self.api, self.gpu.handle, &self.gpu.chip, &self.gpu.host)?);
        }
        Ok(OwnGuard(own))
    }

    /// Submits packets on the agent's own queue, behind everything before. They have the barrier bit.
    pub(crate) fn push(&self, packets: &[Packet]) -> Result<(), AgentError> {
        self.own()?.push(packets)
    }

    /// Runs the program's own launch on the agent's own queue, waits for it, and tells when it ran. When it is still
    /// running at the deadline the signal that it will lower comes with the error.
    pub(crate) fn run_last(&self, packet: Packet, deadline: Instant) -> Result<Ticks, (AgentError, Option<Signal>)> {
        self.own().map_err(|error| (error, None))?.run_last(packet, deadline)
    }

    /// Host memory from which the command processor can execute.
    pub(super) fn executable(&self, bytes: usize) -> Result<SharedBuffer, AgentError> {
        let asked = bytes as u64;
        // ROCr 5.2 knows no flags and makes all its memory executable.
        let address = match self.allocate_host(asked, ALLOCATION_EXECUTABLE) {
            Err(AgentError::Failed { .. }) => self.allocate_host(asked, 0)?,
            allocated => allocated?,
        };
        Ok(SharedBuffer { address, bytes, token: address })
    }

    /// Frees memory of [`HsaAgent::executable`] or of the host tier.
    pub(super) fn free_raw(&self, address: u64) {
        // SAFETY: the address came from a pool and nothing uses it any more. A failure leaks it.
        unsafe { (self.api.pool_free)(address as *mut c_void) };
    }

    fn allocate_from(&self, pool: Pool, flags: u32, tier: Tier, bytes: u64) -> Result<u64, AgentError> {
        let mut address: *mut c_void = std::ptr::null_mut();
        // SAFETY: the pool is live; `address` is a place for the result.
        let status = unsafe { (self.api.pool_allocate)(pool, bytes as usize, flags, &raw mut address) };
        check_allocation("hsa_amd_memory_pool_allocate", status, tier, bytes)?;
        Ok(address as u64)
    }

    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64, AgentError> {
        let address = self.allocate_from(self.gpu.host.pool, flags, Tier::Host, bytes)?;
        // SAFETY: the allocation is live.
        let status = unsafe {
            (self.api.allow_access)(1, &raw const self.gpu.handle, std::ptr::null(), address as *const c_void)
        };
        check("hsa_amd_agents_allow_access", status).inspect_err(|_| self.free_raw(address))?;
        Ok(address)
    }

    /// Gives everything back to the runtime, at the program's end. What is asked afterwards starts anew.
    pub(crate) fn close(&self, deadline: Instant) {
        if self.program.drain(deadline).is_ok() {
            self.program.close();
        }
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(own) = own {
            own.close(deadline);
        }
    }

    fn groups(&self, tasks: u64) -> u32 {
        tasks.clamp(1, u64::from(self.gpu.units.max(1)) * GROUPS_PER_UNIT) as u32
    }

    /// Compare and synchronise. `way` is the kernel's: 0 only compares, 1 writes the shadow, 2 writes memory.
    fn observe(&self, pairs: &[Pair], chunk: Chunk, way: u32) -> Result<Ticket, AgentError> {
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

impl Agent for HsaAgent {
    type Work = HsaWork;

    fn describe(&self) -> AgentDescription {
        let observe = super::kernels::known(&self.gpu.chip);
        AgentDescription {
            id: self.id,
            name: self.gpu.product.as_str().into(),
            chip: self.gpu.chip.as_str().into(),
            simulated: self.gpu.simulated,
            capabilities: Capabilities { observe },
        }
    }

    fn memory(&self) -> Result<MemoryState, AgentError> {
        let total = self.gpu.device.bytes;
        let mut free = 0_u64;
        // SAFETY: the attribute is a u64; a runtime that does not know it says so.
        let status =
            unsafe { (self.api.agent_get_info)(self.gpu.handle, AGENT_INFO_MEMORY_AVAILABLE, (&raw mut free).cast()) };
        let free = if status.is_ok() { free } else { total.saturating_sub(self.used.load(Ordering::Relaxed)) };
        Ok(MemoryState { total, free })
    }

    fn allocate(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError> {
        let bytes = bytes.max(1);
        let base = match tier {
            Tier::Host => self.allocate_host(bytes, 0)?,
            Tier::Device => {
                let base = self.allocate_from(self.gpu.device.pool, 0, tier, bytes)?;
                self.count_used(bytes, true);
                base
            }
        };
        Ok(Backing { range: Range::new(base, bytes), tier, token: base })
    }

    fn free(&self, backing: Backing) {
        if backing.tier == Tier::Device {
            self.count_used(backing.range.bytes, false);
        }
        self.free_raw(backing.token);
    }

    fn copy(&self, moves: &[Move]) -> Result<(), AgentError> {
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

    fn compare(&self, pairs: &[Pair], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.observe(pairs, chunk, 0)
    }

    fn synchronise(&self, pairs: &[Pair], chunk: Chunk, towards: Towards) -> Result<Ticket, AgentError> {
        self.observe(pairs, chunk, if towards == Towards::Shadow { 1 } else { 2 })
    }

    fn hash(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError> {
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

    fn answer(&self, ticket: Ticket, deadline: Instant) -> Result<Answer, AgentError> {
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

    fn submit(&self, work: &HsaWork) -> Result<(), AgentError> {
        match work.again() {
            Again::Packet(packet) => self.own()?.push(&[packet]),
            Again::Moves(moves) => self.copy(moves),
            Again::Nothing => Ok(()),
        }
    }

    fn records(&self) -> bool {
        true
    }

    fn work_bytes(&self, work: &HsaWork) -> u64 {
        work.bytes()
    }

    fn drain(&self, deadline: Instant) -> Result<(), AgentError> {
        self.program.drain(deadline)?;
        self.own()?.settle(deadline)
    }

    fn settle(&self, deadline: Instant) -> Result<(), AgentError> {
        self.own()?.settle(deadline)
    }
}

/// Pairs of 32-bit words as 64-bit words.
fn join(words: &[u32]) -> Vec<u64> {
    words.chunks(2).map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32)).collect()
}
