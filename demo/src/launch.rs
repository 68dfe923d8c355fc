//! Launching a kernel on the queue and waiting for it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::gpu::{Gpu, Memory};
use crate::hsa::{self, Handle, Packet, check};
use crate::module::Kernel;

/// Work-items of a work-group, as the kernels are written.
pub const GROUP: u32 = 256;

/// One argument.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// A device address.
    Memory(Memory),
    /// A 32-bit number.
    Word(u32),
}

/// A launch that may still run.
#[derive(Debug)]
#[must_use = "a launch is waited for before its memory is used"]
pub struct Launch {
    name: &'static str,
    pub(crate) completion: Handle,
    arguments: Memory,
}

impl Gpu {
    /// Puts one launch of `kernel` over `count` work-items into the queue. Launches run one after another.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn launch(&self, kernel: &Kernel, count: u32, arguments: &[Argument]) -> Result<Launch, Error> {
        let bytes = layout(arguments);
        let size = bytes.len().max(kernel.kernarg_bytes as usize);
        let memory = self.allocate_arguments(size.max(16))?;
        // SAFETY: the allocation above is at least this large, and host memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.address as *mut u8, bytes.len()) };
        let mut completion = 0;
        // SAFETY: `completion` is writable; no consumer is named.
        check("hsa_signal_create", unsafe { (self.hsa.hsa_signal_create)(1, 0, std::ptr::null(), &mut completion) })?;
        let packet = Packet {
            header: hsa::DISPATCH_HEADER,
            setup: 1,
            workgroup: [GROUP as u16, 1, 1],
            reserved0: 0,
            grid: [count.next_multiple_of(GROUP), 1, 1],
            private_bytes: kernel.private_bytes,
            group_bytes: kernel.group_bytes,
            kernel: kernel.object,
            kernarg: memory.address as *mut c_void,
            reserved2: 0,
            completion,
        };
        self.submit(packet);
        Ok(Launch { name: kernel.name, completion, arguments: memory })
    }

    /// Waits for a launch and frees what it needed.
    ///
    /// # Errors
    /// [`Error::Queue`] when the kernel could not run to its end, [`Error::Stuck`] when it takes two minutes,
    /// [`Error::Completions`] when it was signalled more than once.
    pub fn wait(&self, launch: Launch) -> Result<(), Error> {
        let end = Instant::now() + Duration::from_secs(120);
        let value = loop {
            // The runtime's time-out counts in its own ticks; a million of them is far below a second everywhere.
            let ticks = 1_000_000;
            // SAFETY: the signal lives until it is destroyed below.
            let value = unsafe {
                (self.hsa.hsa_signal_wait_scacquire)(launch.completion, hsa::CONDITION_LT, 1, ticks, hsa::WAIT_BLOCKED)
            };
            if value < 1 {
                break value;
            }
            self.queue_error()?;
            if Instant::now() > end {
                return Err(Error::Stuck(launch.name));
            }
        };
        if value != 0 {
            return Err(Error::Completions { kernel: launch.name, value });
        }
        self.queue_error()?;
        // SAFETY: the launch is over, so nobody signals it any more.
        check("hsa_signal_destroy", unsafe { (self.hsa.hsa_signal_destroy)(launch.completion) })?;
        self.free(launch.arguments);
        Ok(())
    }

    /// Writes a packet into the ring, its header last, and rings the doorbell.
    pub(crate) fn submit(&self, packet: Packet) {
        // SAFETY: the queue lives as long as `self`, and the slot is this call's until its header is written.
        unsafe {
            let index = (self.hsa.hsa_queue_add_write_index_screlease)(self.queue, 1);
            let size = u64::from((*self.queue).size);
            while index - (self.hsa.hsa_queue_load_read_index_scacquire)(self.queue) >= size {
                std::hint::spin_loop();
            }
            let slot = (*self.queue).base.add((index % size) as usize);
            slot.write(Packet { header: hsa::INVALID_HEADER, ..packet });
            let first = u32::from(packet.header) | u32::from(packet.setup) << 16;
            AtomicU32::from_ptr(slot.cast()).store(first, Ordering::Release);
            (self.hsa.hsa_signal_store_screlease)((*self.queue).doorbell, index as i64);
        }
    }
}

/// The argument bytes, each argument at a multiple of its size.
fn layout(arguments: &[Argument]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for argument in arguments {
        match argument {
            Argument::Memory(memory) => {
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                bytes.extend(memory.address.to_le_bytes());
            }
            Argument::Word(word) => bytes.extend(word.to_le_bytes()),
        }
    }
    bytes
}
