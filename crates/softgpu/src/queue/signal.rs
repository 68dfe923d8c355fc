//! Signals as the GPU uses them: waiting on a value, and completing.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use super::packet::Signal;
use crate::contract::{BadAddress, Memory};
use crate::device::Device;

/// Kind of a signal that has a value (`AMD_SIGNAL_KIND_USER`).
const KIND_USER: i64 = 1;

/// The fields of a signal that the GPU touches.
pub(super) struct SignalRef<'a> {
    value: &'a AtomicI64,
    mailbox: u64,
    event: u32,
    start: &'a AtomicU64,
    end: &'a AtomicU64,
}

/// The signal behind a handle that is not 0.
///
/// # Errors
/// [`BadAddress`] when the handle is no mapped, aligned signal with a value.
pub(super) fn resolve(memory: &dyn Memory, handle: u64) -> Result<SignalRef<'_>, BadAddress> {
    let bytes = size_of::<Signal>() as u64;
    let bad = BadAddress { address: handle, bytes, write: true };
    if !handle.is_multiple_of(64) {
        return Err(bad);
    }
    let at = memory.host(handle, bytes, true)?.cast::<Signal>();
    // SAFETY: `host` says that the 64 bytes stay mapped as long as `memory` is borrowed; the handle is aligned. `kind`,
    // `mailbox` and `event` do not change while a signal lives; the other fields are atomics.
    let signal = unsafe { &*at };
    if signal.kind != KIND_USER {
        return Err(bad);
    }
    let Signal { value, mailbox, event, start, end, .. } = signal;
    Ok(SignalRef { value, mailbox: *mailbox, event: *event, start, end })
}

impl SignalRef<'_> {
    /// The value.
    pub(super) fn load(&self) -> i64 {
        self.value.load(Ordering::Acquire)
    }

    /// Completes a packet: times, decrement, mailbox, event, in this order.
    ///
    /// # Errors
    /// [`BadAddress`] when the mailbox is not mapped.
    pub(super) fn complete(
        &self,
        device: &Device,
        memory: &dyn Memory,
        start: u64,
        end: u64,
    ) -> Result<(), BadAddress> {
        self.start.store(start, Ordering::Relaxed);
        self.end.store(end, Ordering::Relaxed);
        // The runtime may free the signal as soon as it sees the value, so the rest is read before.
        let (mailbox, event) = (self.mailbox, self.event);
        let mailbox_word = if mailbox == 0 { None } else { Some(memory.host(mailbox, 8, true)?.cast::<u32>()) };
        self.value.fetch_sub(1, Ordering::AcqRel);
        notify(device, mailbox_word, event);
        Ok(())
    }

    /// Sets bits of the value and wakes its waiters: how errors are told of.
    pub(super) fn raise(&self, device: &Device, memory: &dyn Memory, bits: i64) {
        let (mailbox, event) = (self.mailbox, self.event);
        self.value.fetch_or(bits, Ordering::AcqRel);
        let word = (mailbox != 0).then(|| memory.host(mailbox, 8, true).ok()).flatten();
        notify(device, word.map(<*mut u8>::cast), event);
    }
}

/// Writes the event's number into its mailbox and raises it. An event that is gone has no waiters.
fn notify(device: &Device, mailbox: Option<*mut u32>, event: u32) {
    let Some(word) = mailbox else { return };
    if word.is_aligned() {
        // SAFETY: the caller has checked that the word is mapped for stores, and it is aligned.
        unsafe { AtomicU32::from_ptr(word) }.store(event, Ordering::Release);
    }
    let _ = device.events.set(event);
}
