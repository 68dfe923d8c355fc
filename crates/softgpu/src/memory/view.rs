//! One reader's hold on the mapping table.

use std::sync::{Arc, Mutex, PoisonError};

use super::{AddressSpace, Recorder, Table, process};
use crate::contract::{BadAddress, Mapping, Memory};

/// What one dispatch, copy or packet may touch. The table is the one of its start; memory mapped later is found too,
/// so that a kernel which outlives an allocation can be handed it.
#[derive(Debug)]
pub struct View<'a> {
    space: &'a AddressSpace,
    table: Arc<Table>,
    later: Mutex<Vec<Arc<Table>>>,
    recorder: Option<&'a Recorder>,
}

impl<'a> View<'a> {
    /// A view of what is mapped now; with a recorder, every announced write is kept in it.
    #[must_use]
    pub fn new(space: &'a AddressSpace, recorder: Option<&'a Recorder>) -> Self {
        Self { space, table: space.table(), later: Mutex::default(), recorder }
    }

    /// Runs `f` on the table of the start and, where that fails, on the newest one, which is then kept alive.
    fn with<T, E>(&self, f: impl Fn(&Table) -> Result<T, E>) -> Result<T, E> {
        f(&self.table).or_else(|_| {
            let newest = self.space.table();
            let found = f(&newest)?;
            let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
            if !later.iter().any(|t| Arc::ptr_eq(t, &newest)) {
                later.push(newest);
            }
            Ok(found)
        })
    }
}

// SAFETY: `host` answers only for ranges of a table that this view holds. Such a table holds the pages of every
// allocation in it, so they stay mapped in this process until the view is dropped, after the dispatch. Registered ranges
// are the program's own: it promised the runtime to keep them until they are deregistered and all work on them is done. So is
// the rest of the process's memory, where the GPU reaches that: the program keeps it until the kernel that it gave it to is done.
unsafe impl Memory for View<'_> {
    fn host(&self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress> {
        let checked = self.with(|table| table.check(address, bytes, write));
        match checked {
            Err(_) if self.space.reaches_process() && process::reaches(address, bytes, write) => Ok(address as *mut u8),
            checked => checked.map(|()| address as *mut u8),
        }
    }

    fn mapping(&self, address: u64) -> Result<Mapping, BadAddress> {
        let found = self.with(|table| {
            let entry = table.find(address).ok_or(BadAddress { address, bytes: 1, write: false })?;
            Ok(Mapping { base: entry.base, end: entry.end, writable: entry.writable })
        });
        match found {
            Err(bad) if self.space.reaches_process() => process::mapping(address).ok_or(bad),
            found => found,
        }
    }

    fn oracle(&self) -> bool {
        self.recorder.is_some()
    }

    fn will_write(&self, _id: u64, address: u64, bytes: u64) {
        let Some(recorder) = self.recorder else { return };
        // An access that is not mapped faults next and stores nothing.
        if self.host(address, bytes, true).is_ok() {
            // SAFETY: the range was just found mapped, and this view keeps it so.
            unsafe { recorder.note(address, bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryKind;
    use super::*;

    #[test]
    fn a_freed_range_faults_for_new_views_and_lives_for_old_ones() {
        let space = AddressSpace::new(1 << 20);
        let base = space.allocate(MemoryKind::Vram, 8192, 0, true).unwrap();
        assert!(View::new(&space, None).host(base, 8, true).is_err(), "allocated is not mapped");
        space.map(base).unwrap();
        let old = View::new(&space, None);
        let p = old.host(base + 8184, 8, true).unwrap().cast::<u64>();
        space.free(base).unwrap();
        // SAFETY: the old view keeps the page.
        unsafe { p.write(5) };
        assert!(View::new(&space, None).host(base, 8, false).is_err());
        assert!(View::new(&space, None).mapping(base).is_err());
        assert_eq!(space.available(), 1 << 20);
    }

    #[test]
    fn memory_mapped_later_is_found() {
        let space = AddressSpace::new(1 << 20);
        let view = View::new(&space, None);
        let base = space.allocate(MemoryKind::Host, 4096, 0, true).unwrap();
        space.map(base).unwrap();
        assert!(view.host(base, 4096, true).is_ok());
        assert!(view.host(base, 4097, true).is_err());
        assert_eq!(view.mapping(base + 1).unwrap(), Mapping { base, end: base + 4096, writable: true });
    }

    #[test]
    fn the_process_is_reached_where_the_gpu_faults_pages_in() {
        let words = vec![5_u32; 2000];
        let address = words.as_ptr() as u64;
        let space = AddressSpace::new(1 << 20);
        let view = View::new(&space, None);
        assert!(view.host(address, 8000, true).is_err() && view.mapping(address).is_err());
        let space = AddressSpace::new(1 << 20).reaching_process(true);
        let view = View::new(&space, None);
        assert_eq!(view.host(address, 8000, true), Ok(address as *mut u8));
        assert!(view.mapping(address).is_ok_and(|mapping| mapping.base <= address && mapping.writable));
        assert!(view.host(1, 8, false).is_err() && view.mapping(1).is_err());
    }

    #[test]
    fn the_limit_is_the_devices() {
        let space = AddressSpace::new(8192);
        let a = space.allocate(MemoryKind::Vram, 5000, 0, true).unwrap();
        assert!(space.allocate(MemoryKind::Vram, 1, 0, true).is_err());
        assert!(space.allocate(MemoryKind::Host, 1 << 20, 0, true).is_ok());
        space.free(a).unwrap();
        assert!(space.free(a).is_err());
        assert!(space.allocate(MemoryKind::Vram, 8192, 0, true).is_ok());
    }

    #[test]
    fn registrations_count_and_share_pages() {
        let space = AddressSpace::new(0);
        let buffer = vec![0u8; 3 * 4096];
        let a = buffer.as_ptr() as u64 + 100;
        space.register(a, 200, 0).unwrap();
        space.register(a, 200, 0).unwrap();
        space.map(a).unwrap();
        let ok = |x: u64, n: u64| View::new(&space, None).host(x, n, true).is_ok();
        assert!(ok(a, 200));
        space.register(a + 16, 5000, 0).unwrap();
        space.map(a + 16).unwrap();
        assert!(ok(a, 5016));
        space.deregister(a).unwrap();
        space.deregister(a).unwrap();
        assert!(space.deregister(a).is_err());
        assert!(ok(a + 16, 5000));
        space.deregister(a + 16).unwrap();
        assert!(!ok(a + 16, 1));
    }

    #[test]
    fn an_address_that_is_registered_twice_stays_mapped_for_the_other() {
        let space = AddressSpace::new(0);
        let buffer = vec![0u8; 5 * 4096];
        let a = buffer.as_ptr() as u64 & !4095;
        let ok = |n: u64| View::new(&space, None).host(a, n, true).is_ok();
        space.register(a, 4096, 0).unwrap();
        space.map(a).unwrap();
        // Another thread, more bytes: as a heap hands them out again while the runtime has not let go of them yet.
        space.register(a, 4 * 4096, 0).unwrap();
        space.map(a).unwrap();
        assert!(ok(4 * 4096));
        space.unmap(a).unwrap();
        space.deregister(a).unwrap();
        assert!(ok(4 * 4096));
        space.unmap(a).unwrap();
        assert!(!ok(1));
        space.deregister(a).unwrap();
    }
}
