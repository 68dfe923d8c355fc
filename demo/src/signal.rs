//! Signals, and what waits for them: barriers, copies, handlers.

use std::ffi::c_void;

use crate::error::Error;
use crate::gpu::{Gpu, Memory};
use crate::hsa::{self, Dim3, Handle, Packet, Pitched, check};
use crate::launch::Launch;

/// A signal of the program's. It falls when it is below 1.
#[derive(Clone, Copy, Debug)]
pub struct Signal(pub(crate) Handle);

/// What a handler is given: the signal's value, and its data. `false`: it is not called again.
pub type Handler = extern "C" fn(i64, usize) -> bool;

impl Launch {
    /// The signal that falls when it is over.
    pub fn completion(&self) -> Signal {
        Signal(self.completion)
    }
}

impl Gpu {
    /// A signal of value 1.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn signal(&self) -> Result<Signal, Error> {
        let mut signal = 0;
        // SAFETY: `signal` is writable; no consumer is named.
        check("hsa_signal_create", unsafe { (self.hsa.hsa_signal_create)(1, 0, std::ptr::null(), &mut signal) })?;
        Ok(Signal(signal))
    }

    /// Lets a signal fall.
    pub fn lower(&self, signal: Signal) {
        // SAFETY: signals of this type are never destroyed.
        unsafe { (self.hsa.hsa_signal_store_screlease)(signal.0, 0) };
    }

    /// Waits for a signal for a while; whether it has fallen.
    pub fn wait_for(&self, signal: Signal) -> bool {
        let ticks = 120_000_000_000;
        // SAFETY: signals of this type are never destroyed.
        let wait = || unsafe {
            (self.hsa.hsa_signal_wait_scacquire)(signal.0, hsa::CONDITION_LT, 1, ticks, hsa::WAIT_BLOCKED)
        };
        wait() < 1
    }

    /// Calls `handler` once `signal` has fallen.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn on_fall(&self, signal: Signal, handler: Handler, data: usize) -> Result<(), Error> {
        // SAFETY: the handler has the right signature, and what its data is, is its own affair.
        let status = unsafe { (self.hsa.hsa_amd_signal_async_handler)(signal.0, hsa::CONDITION_LT, 1, handler, data) };
        check("hsa_amd_signal_async_handler", status)
    }

    /// Lets the queue wait for a signal before what comes next.
    pub fn barrier(&self, after: Signal) {
        self.submit(Packet::barrier(after.0));
    }

    /// Lets the queue lower a signal after what came before.
    pub fn marker(&self, signal: Signal) {
        self.submit(Packet { completion: signal.0, ..Packet::barrier(0) });
    }

    /// Copies words between the device's arrays once `after` has fallen: the signal that falls when that is done.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn copy_after(&self, to: Memory, from: Memory, words: usize, after: Option<Signal>) -> Result<Signal, Error> {
        let done = self.signal()?;
        let (count, list) = (u32::from(after.is_some()), after.map_or(0, |signal| signal.0));
        let after = if count == 0 { std::ptr::null() } else { &raw const list };
        let (to, from) = (to.address as *mut c_void, from.address as *const c_void);
        // SAFETY: both arrays are the device's; as many signals are given as are named.
        let status = unsafe {
            (self.hsa.hsa_amd_memory_async_copy)(to, self.agent, from, self.agent, words * 4, count, after, done.0)
        };
        check("hsa_amd_memory_async_copy", status)?;
        Ok(done)
    }

    /// Copies a box without an extent, which is nothing.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn copy_no_box(&self, to: Memory, from: Memory) -> Result<(), Error> {
        let done = self.signal()?;
        let at = |memory: Memory| Pitched { base: memory.address, pitch: 256, slice: 1024 };
        let (to, from, start, range) = (at(to), at(from), Dim3::default(), Dim3 { x: 16, y: 0, z: 1 });
        // SAFETY: the structures are readable; no signal is waited for.
        let status = unsafe {
            (self.hsa.hsa_amd_memory_async_copy_rect)(
                &to,
                &start,
                &from,
                &start,
                &range,
                self.agent,
                hsa::WITHIN_DEVICE,
                0,
                std::ptr::null(),
                done.0,
            )
        };
        check("hsa_amd_memory_async_copy_rect", status)
    }

    /// Gives the GPU memory of the host's own, as long as it is not taken back with [`Gpu::unlock`].
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn lock(&self, words: &'static mut [u32]) -> Result<Memory, Error> {
        let (host, bytes) = (words.as_mut_ptr().cast(), size_of_val(words));
        let (mut agent, mut address) = (self.agent, std::ptr::null_mut());
        // SAFETY: the memory lives for ever, and one agent is given.
        check("hsa_amd_memory_lock", unsafe {
            (self.hsa.hsa_amd_memory_lock)(host, bytes, &mut agent, 1, &mut address)
        })?;
        Ok(Memory { address: address as u64, bytes })
    }

    /// Takes memory of the host's own away from the GPU; `host` is where it begins.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn unlock(&self, host: *mut u32) -> Result<(), Error> {
        // SAFETY: the runtime looks the address up in its own tables.
        check("hsa_amd_memory_unlock", unsafe { (self.hsa.hsa_amd_memory_unlock)(host.cast()) })
    }
}
