//! The page of mailboxes: one word for each event, written by the GPU.

use super::MAX_EVENTS;
use crate::memory::{AddressSpace, MemoryError, MemoryKind};

/// Where the words lie. They are mapped for the GPU: ROCr has its copy engine write them with a fence packet.
#[derive(Clone, Copy, Debug)]
pub struct Mailboxes {
    base: u64,
}

impl Mailboxes {
    /// Allocates and maps the words.
    ///
    /// # Errors
    /// [`MemoryError`] when the host has no memory.
    pub fn new(space: &AddressSpace) -> Result<Self, MemoryError> {
        let base = space.allocate(MemoryKind::Host, u64::from(MAX_EVENTS) * 8, 0, true)?;
        space.map(base)?;
        Ok(Self { base })
    }

    /// Address of the word of event `id`.
    #[must_use]
    pub fn address(&self, id: u32) -> u64 {
        self.base + u64::from(id % MAX_EVENTS) * 8
    }
}
