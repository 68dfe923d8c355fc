//! Memory that others may use too: exported to another process or device, or imported from one.
//!
//! What they write within a window is not this program's to put back, and comes when it likes. So a kernel that reaches such
//! memory declines, and nothing of it is in a snapshot. Exports and imports of physical memory go by handles, whose mappings
//! may be older or younger than that.

use super::{Interceptor, locked};
use crate::tables::callback::{CallbackData, cbid};
use crate::tables::foreign_structs::{
    AddressRangeParams, BindAddressParams, BindMemoryParams, ExportHandleParams, ExportPointerParams, MakeHandleParams,
    PointerAttributeParams, RetainHandleParams,
};
use kreplay_engine::Range;

/// `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`: set on memory that devices beside the GPU are going to use, for instance a network card.
const SYNC_MEMOPS: u32 = 6;

/// How memory gets to others, or from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    /// The allocation that an address is in is exported.
    Pointer,
    /// Allocations of a range are.
    Addresses,
    /// Physical memory is, by its handle.
    Handle,
    /// Physical memory is bound to a multicast object, through which other devices write it.
    BindMemory,
    /// A range is.
    BindAddresses,
    /// A handle of memory of another process, or of several devices.
    Import,
    /// A handle of memory that is this process's own; its number may have been another's.
    Create,
    /// Another handle of what is mapped.
    Retain,
    /// An attribute of memory is set.
    Attribute,
}

impl Foreign {
    /// What a function of the driver does so.
    pub(super) fn of(id: u32) -> Option<Self> {
        Some(match id {
            cbid::IPC_GET | cbid::MEM_POOL_EXPORT_POINTER => Foreign::Pointer,
            cbid::ADDRESS_RANGE_HANDLE => Foreign::Addresses,
            cbid::MEM_EXPORT => Foreign::Handle,
            cbid::MULTICAST_BIND_MEM => Foreign::BindMemory,
            cbid::MULTICAST_BIND_ADDRESS => Foreign::BindAddresses,
            cbid::MEM_IMPORT | cbid::MULTICAST_CREATE => Foreign::Import,
            cbid::MEM_CREATE => Foreign::Create,
            cbid::MEM_RETAIN => Foreign::Retain,
            cbid::POINTER_SET_ATTRIBUTE => Foreign::Attribute,
            _ => return None,
        })
    }
}

impl Interceptor {
    /// *Exit* of such a function, which succeeded: nobody else knows of the memory before the program goes on.
    pub(super) fn foreign_exit(&self, data: &CallbackData, foreign: Foreign) {
        let p = data.parameters;
        match foreign {
            Foreign::Pointer => {
                // SAFETY: CUPTI hands the parameters of the function that the class belongs to.
                self.exported(unsafe { p.cast::<ExportPointerParams>().read() }.pointer);
            }
            Foreign::Addresses => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<AddressRangeParams>().read() };
                self.range_exported(Range::new(p.pointer, p.bytes as u64));
            }
            Foreign::BindAddresses => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<BindAddressParams>().read() };
                self.range_exported(Range::new(p.pointer, p.bytes as u64));
            }
            Foreign::Handle => {
                // SAFETY: as above.
                self.handle_exported(unsafe { p.cast::<ExportHandleParams>().read() }.handle);
            }
            Foreign::BindMemory => {
                // SAFETY: as above.
                self.handle_exported(unsafe { p.cast::<BindMemoryParams>().read() }.handle);
            }
            Foreign::Import | Foreign::Create => {
                // SAFETY: as above.
                let made = unsafe { p.cast::<MakeHandleParams>().read() }.handle;
                if made.is_null() {
                    return;
                }
                // SAFETY: the driver has just written its result there.
                let handle = unsafe { made.read() };
                locked(&self.mappings).handle_made(handle, foreign == Foreign::Import);
            }
            Foreign::Retain => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<RetainHandleParams>().read() };
                if !p.handle.is_null() {
                    // SAFETY: the driver has just written its result there.
                    locked(&self.mappings).handle_retained(p.pointer, unsafe { p.handle.read() });
                }
            }
            Foreign::Attribute => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<PointerAttributeParams>().read() };
                // SAFETY: the value of this attribute is a flag of 32 bits, by pointer.
                if p.attribute == SYNC_MEMOPS && !p.value.is_null() && unsafe { p.value.read() } != 0 {
                    self.exported(p.pointer);
                }
            }
        }
    }

    /// Physical memory is exported: all its mappings.
    fn handle_exported(&self, handle: u64) {
        let mapped = locked(&self.mappings).handle_exported(handle);
        mapped.into_iter().for_each(|base| self.exported(base));
    }

    fn range_exported(&self, range: Range) {
        let bases = locked(&self.live).within(range);
        bases.into_iter().for_each(|base| self.exported(base));
    }

    /// Others may use the allocation that this address is in from now on.
    fn exported(&self, address: u64) {
        let Some((owner, region)) = locked(&self.live).export(address) else { return };
        // To other contexts it was another's memory before.
        let own = self.all_contexts().into_iter().filter(|state| owner.is_none_or(|owner| owner == state.context));
        own.for_each(|state| state.region_changed(region.clone()));
    }
}
