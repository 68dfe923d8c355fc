//! The entry points of the HSA runtime: it loads the libraries named by `HSA_TOOLS_LIB` inside `hsa_init` and calls these.

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;

/// Begins profiling of this process when the kreplay command asked for it. `true`: the runtime's tables now hold our
/// functions, and the library stays loaded until the process ends. `false`: nothing was touched. Never unwinds.
///
/// # Safety
/// To be called by the HSA runtime only: `table` is its API table.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(crate) unsafe extern "C" fn OnLoad(
    table: *mut c_void,
    _runtime_version: u64,
    _failed_count: u64,
    _failed_names: *const *const c_char,
) -> bool {
    // SAFETY: the runtime's table, and the library has been pinned.
    catch_unwind(|| crate::pin::pin() && unsafe { kreplay_hsa::on_load(table) }).unwrap_or(false)
}

/// The runtime shuts down: windows close and records are flushed. Never unwinds.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(crate) extern "C" fn OnUnload() {
    // A panic here has been reported as far as it can be; the runtime goes on shutting down.
    let _ = catch_unwind(kreplay_hsa::on_unload);
}
