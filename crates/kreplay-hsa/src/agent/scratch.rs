//! Small pieces of pinned host memory for tables, arguments and answers, reused once the device is done with them.

use super::error::check_allocation;
use crate::abi::{AgentHandle, Pool};
use crate::tables::Api;
use kreplay_engine::{AgentError, Tier};
use std::collections::VecDeque;
use std::ffi::c_void;

/// The smallest piece.
const SMALLEST: usize = 4096;

/// Bytes of a new piece for so many.
pub(crate) fn piece(bytes: u64) -> u64 {
    bytes.max(SMALLEST as u64).next_power_of_two()
}

/// A piece of pinned host memory at the same address for host and agent.
#[derive(Debug)]
pub(crate) struct Buffer {
    address: u64,
    bytes: usize,
}

impl Buffer {
    /// How many bytes it has: more than it was asked for, perhaps.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Where it lies.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Writes `bytes` at `offset`. The device must not be using that part.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset.checked_add(bytes.len()).is_some_and(|end| end <= self.bytes), "a write past a buffer's end");
        // SAFETY: the buffer is live pinned host memory of `self.bytes` bytes that only its holder uses.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.address as *mut u8).add(offset), bytes.len());
        }
    }

    /// The first `count` values that the device wrote, of a plain integer type.
    pub(super) fn read<T: Copy>(&self, count: usize) -> Vec<T> {
        assert!(count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= self.bytes), "a read past the end");
        // SAFETY: as in `write`; buffers are aligned to pages and the device's writes are over (its signal fell).
        unsafe { std::slice::from_raw_parts(self.address as *const T, count) }.to_vec()
    }
}

/// The pieces of an agent.
pub(super) struct Scratch {
    api: Api,
    pool: Pool,
    agent: AgentHandle,
    free: Vec<Buffer>,
    retired: VecDeque<(u64, Buffer)>,
}

impl Scratch {
    pub(super) fn new(api: Api, pool: Pool, agent: AgentHandle) -> Self {
        Self { api, pool, agent, free: Vec::new(), retired: VecDeque::new() }
    }

    /// A piece of at least `bytes` bytes, content undefined.
    pub(super) fn acquire(&mut self, bytes: usize) -> Result<Buffer, AgentError> {
        let bytes = piece(bytes as u64) as usize;
        let found = self
            .free
            .iter()
            .enumerate()
            .filter(|(_, buffer)| (bytes..=bytes * 2).contains(&buffer.bytes))
            .min_by_key(|(_, buffer)| buffer.bytes)
            .map(|(index, _)| index);
        if let Some(index) = found {
            return Ok(self.free.swap_remove(index));
        }
        let mut address: *mut c_void = std::ptr::null_mut();
        // SAFETY: the pool is one of the host's; `address` is a place for the result.
        let status = unsafe { (self.api.pool_allocate)(self.pool, bytes, 0, &raw mut address) };
        check_allocation("hsa_amd_memory_pool_allocate", status, Tier::Host, bytes as u64)?;
        let buffer = Buffer { address: address as u64, bytes };
        // SAFETY: the allocation is live.
        let status = unsafe { (self.api.allow_access)(1, &raw const self.agent, std::ptr::null(), address) };
        if let Err(error) = super::error::check("hsa_amd_agents_allow_access", status) {
            self.destroy(buffer);
            return Err(error);
        }
        Ok(buffer)
    }

    /// Gives back a piece that packets up to number `serial` may use.
    pub(super) fn retire(&mut self, serial: u64, buffer: Buffer) {
        self.retired.push_back((serial, buffer));
    }

    /// Packets up to number `done` are over.
    pub(super) fn reclaim(&mut self, done: u64) {
        while self.retired.front().is_some_and(|(serial, _)| *serial <= done) {
            if let Some((_, buffer)) = self.retired.pop_front() {
                self.free.push(buffer);
            }
        }
    }

    /// Frees everything. The device uses none of it any more.
    pub(super) fn close(&mut self) {
        let retired = std::mem::take(&mut self.retired).into_iter().map(|(_, buffer)| buffer);
        for buffer in std::mem::take(&mut self.free).into_iter().chain(retired) {
            self.destroy(buffer);
        }
    }

    fn destroy(&self, buffer: Buffer) {
        // SAFETY: the buffer came from this pool and nobody uses it any more. A failure leaks it.
        unsafe { (self.api.pool_free)(buffer.address as *mut c_void) };
    }
}
