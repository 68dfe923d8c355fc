//! The runtime's own functions, as they stood before ours were put in, and where they stand.

use super::slot::Slot;
use super::{RawTables, TablesError};
use crate::abi::{
    AccessDescription, AgentHandle, CopyOperation, Dim3, Executable, Image, LoadedCodeObject, MemoryHandle, Packet,
    PitchedPointer, PointerInfo, Pool, ProfilingTime, Queue, Reader, Region, Sampler, Signal, Status, Symbol,
};
use std::ffi::{c_char, c_int, c_void};

/// A queue's error callback.
pub(crate) type QueueError = Option<unsafe extern "C" fn(Status, *mut Queue, *mut c_void)>;
/// Hands packets on, from inside an intercept handler.
pub(crate) type PacketWriter = unsafe extern "C" fn(*const Packet, u64);
/// An intercept handler.
pub(crate) type PacketHandler = unsafe extern "C" fn(*const Packet, u64, u64, *mut c_void, PacketWriter);
/// Called when a signal meets its condition; `true` keeps the handler.
pub(crate) type SignalHandler = unsafe extern "C" fn(i64, *mut c_void) -> bool;
/// Visits agents.
pub(crate) type AgentVisitor = unsafe extern "C" fn(AgentHandle, *mut c_void) -> Status;
/// Visits memory pools.
pub(crate) type PoolVisitor = unsafe extern "C" fn(Pool, *mut c_void) -> Status;
/// Visits an executable's symbols.
pub(crate) type SymbolVisitor = unsafe extern "C" fn(Executable, AgentHandle, Symbol, *mut c_void) -> Status;

macro_rules! functions {
    (
        need { $($need:ident = $need_name:literal at $need_slot:expr, fn($($need_arg:ty),*) -> $need_ret:ty;)* }
        may { $($may:ident = $may_name:literal at $may_slot:expr, fn($($may_arg:ty),*) -> $may_ret:ty;)* }
    ) => {
        /// The saved functions. Those that some runtimes lack are optional.
        #[derive(Clone, Copy)]
        pub(crate) struct Api {
            $(#[doc = $need_name] pub(crate) $need: unsafe extern "C" fn($($need_arg),*) -> $need_ret,)*
            $(#[doc = $may_name] pub(crate) $may: Option<unsafe extern "C" fn($($may_arg),*) -> $may_ret>,)*
        }

        /// Where the functions stand. Not all of them are replaced.
        pub(crate) mod slots {
            use super::{Slot, moved, newer, same};
            $(#[allow(non_upper_case_globals, dead_code)] pub(crate) const $need: Slot = $need_slot;)*
            $(#[allow(non_upper_case_globals, dead_code)] pub(crate) const $may: Slot = $may_slot;)*
        }

        /// Every function with its name and its place.
        #[cfg(test)]
        pub(crate) const NAMES: &[(&str, Slot)] = &[$(($need_name, $need_slot),)* $(($may_name, $may_slot),)*];

        impl Api {
            /// The functions that `find` finds by name or place.
            ///
            /// # Errors
            /// [`TablesError::Function`] when one that is needed is missing.
            ///
            /// # Safety
            /// What `find` finds is the runtime's function of that name.
            pub(crate) unsafe fn find(
                find: impl Fn(&'static str, Slot) -> Option<*mut ()>,
            ) -> Result<Api, TablesError> {
                Ok(Api {
                    $(
                        // SAFETY: the caller's: a function of this name has this signature.
                        $need: unsafe {
                            std::mem::transmute::<*mut (), unsafe extern "C" fn($($need_arg),*) -> $need_ret>(
                                find($need_name, $need_slot).ok_or(TablesError::Function { function: $need_name })?,
                            )
                        },
                    )*
                    $(
                        $may: find($may_name, $may_slot).map(|function| {
                            // SAFETY: as above.
                            unsafe {
                                std::mem::transmute::<*mut (), unsafe extern "C" fn($($may_arg),*) -> $may_ret>(function)
                            }
                        }),
                    )*
                })
            }
        }
    };
}

impl Api {
    /// Saves the functions that stand in the tables now.
    ///
    /// # Errors
    /// [`TablesError::Function`] when one that is needed is missing.
    pub(crate) fn save(tables: &RawTables) -> Result<Api, TablesError> {
        // SAFETY: a known layout has each function at its place.
        unsafe { Api::find(|_, slot| slot.read(tables)) }
    }
}

/// A function that stands at the same place in both layouts of the extension.
const fn same(index: u16) -> Slot {
    Slot::Amd(Some(index), Some(index))
}

/// A function that moved.
const fn moved(one: u16, two: u16) -> Slot {
    Slot::Amd(Some(one), Some(two))
}

/// A function that only the newer layout has.
const fn newer(two: u16) -> Slot {
    Slot::Amd(None, Some(two))
}

functions! {
    need {
        iterate_agents = "hsa_iterate_agents" at Slot::Core(5), fn(AgentVisitor, *mut c_void) -> Status;
        agent_get_info = "hsa_agent_get_info" at Slot::Core(6), fn(AgentHandle, u32, *mut c_void) -> Status;
        queue_create = "hsa_queue_create" at Slot::Core(7),
            fn(AgentHandle, u32, u32, QueueError, *mut c_void, u32, u32, *mut *mut Queue) -> Status;
        queue_destroy = "hsa_queue_destroy" at Slot::Core(9), fn(*mut Queue) -> Status;
        queue_inactivate = "hsa_queue_inactivate" at Slot::Core(10), fn(*mut Queue) -> Status;
        queue_read_index = "hsa_queue_load_read_index_scacquire" at Slot::Core(11), fn(*const Queue) -> u64;
        queue_add_write_index = "hsa_queue_add_write_index_scacq_screl" at Slot::Core(21), fn(*const Queue, u64) -> u64;
        memory_allocate = "hsa_memory_allocate" at Slot::Core(33), fn(Region, usize, *mut *mut c_void) -> Status;
        memory_free = "hsa_memory_free" at Slot::Core(34), fn(*mut c_void) -> Status;
        memory_copy = "hsa_memory_copy" at Slot::Core(35), fn(*mut c_void, *const c_void, usize) -> Status;
        signal_create = "hsa_signal_create" at Slot::Core(37), fn(i64, u32, *const AgentHandle, *mut Signal) -> Status;
        signal_destroy = "hsa_signal_destroy" at Slot::Core(38), fn(Signal) -> Status;
        signal_load = "hsa_signal_load_scacquire" at Slot::Core(40), fn(Signal) -> i64;
        signal_store = "hsa_signal_store_screlease" at Slot::Core(42), fn(Signal, i64) -> ();
        signal_wait = "hsa_signal_wait_scacquire" at Slot::Core(44), fn(Signal, u32, i64, u64, u32) -> i64;
        signal_add = "hsa_signal_add_screlease" at Slot::Core(63), fn(Signal, i64) -> ();
        signal_subtract = "hsa_signal_subtract_screlease" at Slot::Core(67), fn(Signal, i64) -> ();
        executable_destroy = "hsa_executable_destroy" at Slot::Core(84), fn(Executable) -> Status;
        executable_freeze = "hsa_executable_freeze" at Slot::Core(86), fn(Executable, *const c_char) -> Status;
        symbol_get_info = "hsa_executable_symbol_get_info" at Slot::Core(93), fn(Symbol, u32, *mut c_void) -> Status;
        reader_from_file = "hsa_code_object_reader_create_from_file" at Slot::Core(115), fn(c_int, *mut Reader) -> Status;
        reader_from_memory = "hsa_code_object_reader_create_from_memory" at Slot::Core(116), fn(*const c_void, usize, *mut Reader) -> Status;
        reader_destroy = "hsa_code_object_reader_destroy" at Slot::Core(117), fn(Reader) -> Status;
        executable_create = "hsa_executable_create_alt" at Slot::Core(118), fn(u32, u32, *const c_char, *mut Executable) -> Status;
        executable_load_program = "hsa_executable_load_program_code_object" at Slot::Core(119),
            fn(Executable, Reader, *const c_char, *mut LoadedCodeObject) -> Status;
        executable_load = "hsa_executable_load_agent_code_object" at Slot::Core(120),
            fn(Executable, AgentHandle, Reader, *const c_char, *mut LoadedCodeObject) -> Status;
        executable_symbol = "hsa_executable_get_symbol_by_name" at Slot::Core(122), fn(Executable, *const c_char, *const AgentHandle, *mut Symbol) -> Status;
        agent_symbols = "hsa_executable_iterate_agent_symbols" at Slot::Core(123), fn(Executable, AgentHandle, SymbolVisitor, *mut c_void) -> Status;
        set_profiler_enabled = "hsa_amd_profiling_set_profiler_enabled" at same(2), fn(*mut Queue, c_int) -> Status;
        async_copy_time = "hsa_amd_profiling_get_async_copy_time" at same(5), fn(Signal, *mut ProfilingTime) -> Status;
        signal_async_handler = "hsa_amd_signal_async_handler" at same(7), fn(Signal, u32, i64, SignalHandler, *mut c_void) -> Status;
        pool_get_info = "hsa_amd_memory_pool_get_info" at same(11), fn(Pool, u32, *mut c_void) -> Status;
        iterate_pools = "hsa_amd_agent_iterate_memory_pools" at same(12), fn(AgentHandle, PoolVisitor, *mut c_void) -> Status;
        pool_allocate = "hsa_amd_memory_pool_allocate" at same(13), fn(Pool, usize, u32, *mut *mut c_void) -> Status;
        pool_free = "hsa_amd_memory_pool_free" at same(14), fn(*mut c_void) -> Status;
        async_copy = "hsa_amd_memory_async_copy" at same(15),
            fn(*mut c_void, AgentHandle, *const c_void, AgentHandle, usize, u32, *const Signal, Signal) -> Status;
        agent_pool_get_info = "hsa_amd_agent_memory_pool_get_info" at moved(16, 18), fn(AgentHandle, Pool, u32, *mut c_void) -> Status;
        allow_access = "hsa_amd_agents_allow_access" at moved(17, 19), fn(u32, *const AgentHandle, *const u32, *const c_void) -> Status;
        memory_lock = "hsa_amd_memory_lock" at moved(20, 22), fn(*mut c_void, usize, *mut AgentHandle, c_int, *mut *mut c_void) -> Status;
        memory_unlock = "hsa_amd_memory_unlock" at moved(21, 23), fn(*mut c_void) -> Status;
        memory_fill = "hsa_amd_memory_fill" at moved(22, 24), fn(*mut c_void, u32, usize) -> Status;
        interop_map = "hsa_amd_interop_map_buffer" at moved(23, 25),
            fn(u32, *mut AgentHandle, c_int, u32, *mut usize, *mut *mut c_void, *mut usize, *mut *const c_void) -> Status;
        interop_unmap = "hsa_amd_interop_unmap_buffer" at moved(24, 26), fn(*mut c_void) -> Status;
        pointer_info = "hsa_amd_pointer_info" at moved(26, 28),
            fn(
                *const c_void, *mut PointerInfo,
                Option<unsafe extern "C" fn(usize) -> *mut c_void>, *mut u32, *mut *mut AgentHandle
            ) -> Status;
        ipc_create = "hsa_amd_ipc_memory_create" at moved(28, 30), fn(*mut c_void, usize, *mut c_void) -> Status;
        ipc_attach = "hsa_amd_ipc_memory_attach" at moved(29, 31), fn(*const c_void, usize, u32, *const AgentHandle, *mut *mut c_void) -> Status;
        ipc_detach = "hsa_amd_ipc_memory_detach" at moved(30, 32), fn(*mut c_void) -> Status;
        intercept_create = "hsa_amd_queue_intercept_create" at moved(35, 37),
            fn(AgentHandle, u32, u32, QueueError, *mut c_void, u32, u32, *mut *mut Queue) -> Status;
        intercept_register = "hsa_amd_queue_intercept_register" at moved(36, 38), fn(*mut Queue, PacketHandler, *mut c_void) -> Status;
        queue_set_priority = "hsa_amd_queue_set_priority" at moved(37, 39), fn(*mut Queue, u32) -> Status;
        async_copy_rect = "hsa_amd_memory_async_copy_rect" at moved(38, 40),
            fn(
                *const PitchedPointer, *const Dim3, *const PitchedPointer, *const Dim3, *const Dim3, AgentHandle, u32,
                u32, *const Signal, Signal
            ) -> Status;
        lock_to_pool = "hsa_amd_memory_lock_to_pool" at moved(40, 42),
            fn(*mut c_void, usize, *mut AgentHandle, c_int, Pool, u32, *mut *mut c_void) -> Status;
    }
    may {
        extension_table = "hsa_system_get_major_extension_table" at Slot::Core(98), fn(u16, u16, usize, *mut c_void) -> Status;
        svm_set = "hsa_amd_svm_attributes_set" at moved(44, 46), fn(*mut c_void, usize, *mut c_void, usize) -> Status;
        async_copy_on_engine = "hsa_amd_memory_async_copy_on_engine" at newer(16),
            fn(
                *mut c_void, AgentHandle, *const c_void, AgentHandle, usize, u32, *const Signal, Signal, u32, bool
            ) -> Status;
        export_dmabuf = "hsa_amd_portable_export_dmabuf" at newer(53), fn(*const c_void, usize, *mut c_int, *mut u64) -> Status;
        vmem_handle_create = "hsa_amd_vmem_handle_create" at newer(57), fn(Pool, usize, u32, u64, *mut MemoryHandle) -> Status;
        vmem_map = "hsa_amd_vmem_map" at newer(59), fn(*mut c_void, usize, usize, MemoryHandle, u64) -> Status;
        vmem_unmap = "hsa_amd_vmem_unmap" at newer(60), fn(*mut c_void, usize) -> Status;
        vmem_set_access = "hsa_amd_vmem_set_access" at newer(61), fn(*mut c_void, usize, *const AccessDescription, usize) -> Status;
        vmem_export = "hsa_amd_vmem_export_shareable_handle" at newer(63), fn(*mut c_int, MemoryHandle, u64) -> Status;
        vmem_import = "hsa_amd_vmem_import_shareable_handle" at newer(64), fn(c_int, *mut MemoryHandle) -> Status;
        vmem_properties = "hsa_amd_vmem_get_alloc_properties_from_handle" at newer(66), fn(MemoryHandle, *mut Pool, *mut u32) -> Status;
        export_dmabuf_v2 = "hsa_amd_portable_export_dmabuf_v2" at newer(73), fn(*const c_void, usize, *mut c_int, *mut u64, u64) -> Status;
        file_write = "hsa_amd_ais_file_write" at newer(74), fn(u64, *mut c_void, u64, i64, *mut u64, *mut i32) -> Status;
        file_read = "hsa_amd_ais_file_read" at newer(75), fn(u64, *mut c_void, u64, i64, *mut u64, *mut i32) -> Status;
        counted_acquire = "hsa_amd_counted_queue_acquire" at newer(76),
            fn(AgentHandle, u32, u32, QueueError, *mut c_void, u64, *mut *mut Queue) -> Status;
        counted_release = "hsa_amd_counted_queue_release" at newer(77), fn(*mut Queue) -> Status;
        async_batch_copy = "hsa_amd_memory_async_batch_copy" at newer(78), fn(*const CopyOperation, u32, u32, *const Signal) -> Status;
        image_import = "hsa_ext_image_import" at Slot::Image(3),
            fn(AgentHandle, *const c_void, usize, usize, Image, *const c_void) -> Status;
        image_export = "hsa_ext_image_export" at Slot::Image(4),
            fn(AgentHandle, Image, *mut c_void, usize, usize, *const c_void) -> Status;
        image_copy = "hsa_ext_image_copy" at Slot::Image(5),
            fn(AgentHandle, Image, *const Dim3, Image, *const Dim3, *const Dim3) -> Status;
        image_clear = "hsa_ext_image_clear" at Slot::Image(6), fn(AgentHandle, Image, *const c_void, *const c_void) -> Status;
        image_destroy = "hsa_ext_image_destroy" at Slot::Image(7), fn(AgentHandle, Image) -> Status;
        sampler_destroy = "hsa_ext_sampler_destroy" at Slot::Image(9), fn(AgentHandle, Sampler) -> Status;
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use crate::tables::slot::Slot;
    use std::process::Command;

    /// Compares the places with the installed header, which is ROCr 5.2's on Debian 12.
    #[test]
    fn places_are_those_of_the_header() {
        let skipped = |why: &str| {
            assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "must not be skipped here: {why}");
            println!("skipped: {why}");
        };
        if !std::path::Path::new("/usr/include/hsa/hsa_api_trace.h").exists() {
            return skipped("ROCr's headers are missing; on Debian 12: apt-get install libhsa-runtime-dev");
        }
        let folder = std::env::temp_dir().join(format!("kreplay-places-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        let mut text = String::from("#define AMD_INTERNAL_BUILD\n#include <hsa/hsa_api_trace.h>\n");
        for (name, slot) in NAMES {
            let (table, index) = match *slot {
                Slot::Core(index) => ("CoreApiTable", index),
                Slot::Amd(Some(index), _) => ("AmdExtTable", index),
                Slot::Amd(None, _) => continue,
                Slot::Image(index) => ("ImageExtTable", index),
            };
            text += &format!("static_assert(offsetof({table}, {name}_fn) == 16 + 8 * {index}, \"{name}\");\n");
        }
        text += "static_assert(sizeof(CoreApiTable) == 1016 && sizeof(AmdExtTable) == 400 && offsetof(HsaApiTable, image_ext_) == 40, \"sizes\");\n";
        let source = folder.join("places.cpp");
        std::fs::write(&source, text).expect("the source can be written");
        let compiled =
            Command::new("c++").args(["-std=c++17", "-fsyntax-only", "-I/usr/include/hsa"]).arg(&source).output();
        let verdict = match compiled {
            Err(error) => return skipped(&format!("there is no C++ compiler: {error}")),
            Ok(output) => output,
        };
        let message = String::from_utf8_lossy(&verdict.stderr).into_owned();
        std::fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
        assert!(verdict.status.success(), "{message}");
    }
}
