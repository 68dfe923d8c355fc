//! One function's place in a table.

use super::AmdLayout;
use super::layout::{RawTables, Version};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where a function stands; counted in functions after the table's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// In the core table, in every version.
    Core(u16),
    /// In the AMD extension's table, by layout; `None` where it does not exist.
    Amd(Option<u16>, Option<u16>),
    /// In the image extension's table, in every version.
    Image(u16),
}

impl Slot {
    /// The slot's address, if this runtime has it.
    fn place(self, tables: &RawTables) -> Option<*mut AtomicPtr<()>> {
        let (table, index): (*mut Version, u16) = match (self, tables.layout) {
            (Slot::Core(index), _) => (tables.core, index),
            (Slot::Image(_), _) if tables.image.is_null() => return None,
            (Slot::Image(index), _) => (tables.image, index),
            (Slot::Amd(index, _), AmdLayout::One) | (Slot::Amd(_, index), AmdLayout::Two) => (tables.amd, index?),
        };
        let offset = size_of::<Version>() + usize::from(index) * size_of::<*mut ()>();
        // SAFETY: a table begins with its version, whose size field says how far it reaches.
        let bytes = unsafe { (*table).bytes } as usize;
        // SAFETY: the slot lies inside the table.
        (offset + size_of::<*mut ()>() <= bytes).then(|| unsafe { table.byte_add(offset) }.cast())
    }

    /// The function now in the slot.
    pub(crate) fn read(self, tables: &RawTables) -> Option<*mut ()> {
        let place = self.place(tables)?;
        // SAFETY: `place` is an aligned pointer inside a table that lives as long as the runtime.
        let function = unsafe { (*place).load(Ordering::Acquire) };
        (!function.is_null()).then_some(function)
    }

    /// Puts `function` into the slot. A runtime without the slot is left alone.
    ///
    /// # Safety
    /// `function` must have the slot's signature and stay callable until the process ends.
    pub(crate) unsafe fn write(self, tables: &RawTables, function: *mut ()) {
        if let Some(place) = self.place(tables) {
            // SAFETY: as in `read`; the runtime reads its slots as single words.
            unsafe { (*place).store(function, Ordering::Release) };
        }
    }
}
