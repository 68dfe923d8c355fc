//! Frees that wait for the end of a batch window.

use super::allocation_hooks::freeing;
use super::state::Backend;
use std::ffi::c_void;

/// Whether a free waits for the end of a batch window.
pub(super) enum Held {
    /// It does.
    Now,
    /// An earlier free of the same memory does: the program frees it twice.
    Before,
    /// It does not.
    Not,
}

/// What a batch window has recorded may need the memory: then it is freed when the window is over.
pub(super) fn hold_back(backend: &'static Backend, base: u64) -> Held {
    if backend.allocations.held().contains(&base) {
        return Held::Before;
    }
    let Some(allocation) = backend.allocations.around(base) else { return Held::Not };
    let Some(owner) = allocation.owner.filter(|_| allocation.range.base == base) else { return Held::Not };
    let free = Box::new(move || {
        backend.allocations.held().remove(&base);
        let address = base as *mut c_void;
        // SAFETY: the program freed this, and has been told that it is free.
        freeing(backend, address, || unsafe { (backend.api.pool_free)(address) });
    });
    backend.allocations.held().insert(base);
    match backend.units()[owner].engine.hold_free(free) {
        Ok(()) => Held::Now,
        Err(_) => {
            backend.allocations.held().remove(&base);
            Held::Not
        }
    }
}
