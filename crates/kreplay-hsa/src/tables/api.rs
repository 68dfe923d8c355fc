//! The runtime's own functions, as they stood before ours were put in, and where they stand.

use super::slot::Slot;
use super::{RawTables, TablesError};
use crate::abi::{
    AgentHandle, Dim3, Executable, LoadedCodeObject, MemoryHandle, Packet, PitchedPointer, PointerInfo, Pool,
    ProfilingTime, Queue, Reader, Region, Signal, Status, Symbol,
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
        need { $($(#[$need_doc:meta])* $need:ident: $need_slot:expr, fn($($need_arg:ty),*) -> $need_ret:ty;)* }
        may { $($(#[$may_doc:meta])* $may:ident: $may_slot:expr, fn($($may_arg:ty),*) -> $may_ret:ty;)* }
    ) => {
        /// The saved functions. Those that some runtimes lack are optional.
        #[derive(Clone, Copy)]
        pub(crate) struct Api {
            $($(#[$need_doc])* pub(crate) $need: unsafe extern "C" fn($($need_arg),*) -> $need_ret,)*
            $($(#[$may_doc])* pub(crate) $may: Option<unsafe extern "C" fn($($may_arg),*) -> $may_ret>,)*
        }

        /// Where the functions stand. Not all of them are replaced.
        pub(crate) mod slots {
            use super::{Slot, moved, newer, same};
            $(#[allow(non_upper_case_globals, dead_code)] pub(crate) const $need: Slot = $need_slot;)*
            $(#[allow(non_upper_case_globals, dead_code)] pub(crate) const $may: Slot = $may_slot;)*
        }

        impl Api {
            /// Saves the functions that stand in the tables now.
            ///
            /// # Errors
            /// [`TablesError::Function`] when one that is needed is missing.
            pub(crate) fn save(tables: &RawTables) -> Result<Api, TablesError> {
                Ok(Api {
                    $(
                        // SAFETY: the slot of a known layout holds a function of this signature.
                        $need: unsafe {
                            std::mem::transmute::<*mut (), unsafe extern "C" fn($($need_arg),*) -> $need_ret>(
                                $need_slot.need(tables, concat!("hsa function ", stringify!($need)))?,
                            )
                        },
                    )*
                    $(
                        $may: $may_slot.read(tables).map(|function| {
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
        /// `hsa_iterate_agents`.
        iterate_agents: Slot::Core(5), fn(AgentVisitor, *mut c_void) -> Status;
        /// `hsa_agent_get_info`.
        agent_get_info: Slot::Core(6), fn(AgentHandle, u32, *mut c_void) -> Status;
        /// `hsa_queue_create`.
        queue_create: Slot::Core(7),
            fn(AgentHandle, u32, u32, QueueError, *mut c_void, u32, u32, *mut *mut Queue) -> Status;
        /// `hsa_queue_destroy`.
        queue_destroy: Slot::Core(9), fn(*mut Queue) -> Status;
        /// `hsa_queue_load_read_index_scacquire`.
        queue_read_index: Slot::Core(11), fn(*const Queue) -> u64;
        /// `hsa_queue_add_write_index_scacq_screl`.
        queue_add_write_index: Slot::Core(21), fn(*const Queue, u64) -> u64;
        /// `hsa_memory_allocate`.
        memory_allocate: Slot::Core(33), fn(Region, usize, *mut *mut c_void) -> Status;
        /// `hsa_memory_free`.
        memory_free: Slot::Core(34), fn(*mut c_void) -> Status;
        /// `hsa_memory_copy`.
        memory_copy: Slot::Core(35), fn(*mut c_void, *const c_void, usize) -> Status;
        /// `hsa_signal_create`.
        signal_create: Slot::Core(37), fn(i64, u32, *const AgentHandle, *mut Signal) -> Status;
        /// `hsa_signal_destroy`.
        signal_destroy: Slot::Core(38), fn(Signal) -> Status;
        /// `hsa_signal_load_scacquire`.
        signal_load: Slot::Core(40), fn(Signal) -> i64;
        /// `hsa_signal_store_screlease`.
        signal_store: Slot::Core(42), fn(Signal, i64) -> ();
        /// `hsa_signal_wait_scacquire`: signal, condition, value, timeout in system ticks, wait state.
        signal_wait: Slot::Core(44), fn(Signal, u32, i64, u64, u32) -> i64;
        /// `hsa_signal_add_screlease`.
        signal_add: Slot::Core(63), fn(Signal, i64) -> ();
        /// `hsa_signal_subtract_screlease`.
        signal_subtract: Slot::Core(67), fn(Signal, i64) -> ();
        /// `hsa_executable_destroy`.
        executable_destroy: Slot::Core(84), fn(Executable) -> Status;
        /// `hsa_executable_freeze`.
        executable_freeze: Slot::Core(86), fn(Executable, *const c_char) -> Status;
        /// `hsa_executable_symbol_get_info`.
        symbol_get_info: Slot::Core(93), fn(Symbol, u32, *mut c_void) -> Status;
        /// `hsa_code_object_reader_create_from_memory`.
        reader_from_memory: Slot::Core(116), fn(*const c_void, usize, *mut Reader) -> Status;
        /// `hsa_code_object_reader_destroy`.
        reader_destroy: Slot::Core(117), fn(Reader) -> Status;
        /// `hsa_executable_create_alt`.
        executable_create: Slot::Core(118), fn(u32, u32, *const c_char, *mut Executable) -> Status;
        /// `hsa_executable_load_agent_code_object`.
        executable_load: Slot::Core(120),
            fn(Executable, AgentHandle, Reader, *const c_char, *mut LoadedCodeObject) -> Status;
        /// `hsa_executable_get_symbol_by_name`.
        executable_symbol: Slot::Core(122), fn(Executable, *const c_char, *const AgentHandle, *mut Symbol) -> Status;
        /// `hsa_executable_iterate_agent_symbols`.
        agent_symbols: Slot::Core(123), fn(Executable, AgentHandle, SymbolVisitor, *mut c_void) -> Status;
        /// `hsa_amd_profiling_set_profiler_enabled`.
        set_profiler_enabled: same(2), fn(*mut Queue, c_int) -> Status;
        /// `hsa_amd_profiling_get_async_copy_time`.
        async_copy_time: same(5), fn(Signal, *mut ProfilingTime) -> Status;
        /// `hsa_amd_signal_async_handler`.
        signal_async_handler: same(7), fn(Signal, u32, i64, SignalHandler, *mut c_void) -> Status;
        /// `hsa_amd_memory_pool_get_info`.
        pool_get_info: same(11), fn(Pool, u32, *mut c_void) -> Status;
        /// `hsa_amd_agent_iterate_memory_pools`.
        iterate_pools: same(12), fn(AgentHandle, PoolVisitor, *mut c_void) -> Status;
        /// `hsa_amd_memory_pool_allocate`.
        pool_allocate: same(13), fn(Pool, usize, u32, *mut *mut c_void) -> Status;
        /// `hsa_amd_memory_pool_free`.
        pool_free: same(14), fn(*mut c_void) -> Status;
        /// `hsa_amd_memory_async_copy`.
        async_copy: same(15),
            fn(*mut c_void, AgentHandle, *const c_void, AgentHandle, usize, u32, *const Signal, Signal) -> Status;
        /// `hsa_amd_agents_allow_access`.
        allow_access: moved(17, 19), fn(u32, *const AgentHandle, *const u32, *const c_void) -> Status;
        /// `hsa_amd_memory_lock`.
        memory_lock: moved(20, 22), fn(*mut c_void, usize, *mut AgentHandle, c_int, *mut *mut c_void) -> Status;
        /// `hsa_amd_memory_unlock`.
        memory_unlock: moved(21, 23), fn(*mut c_void) -> Status;
        /// `hsa_amd_memory_fill`.
        memory_fill: moved(22, 24), fn(*mut c_void, u32, usize) -> Status;
        /// `hsa_amd_interop_map_buffer`.
        interop_map: moved(23, 25),
            fn(u32, *mut AgentHandle, c_int, u32, *mut usize, *mut *mut c_void, *mut usize, *mut *const c_void) -> Status;
        /// `hsa_amd_interop_unmap_buffer`.
        interop_unmap: moved(24, 26), fn(*mut c_void) -> Status;
        /// `hsa_amd_pointer_info`.
        pointer_info: moved(26, 28),
            fn(
                *const c_void, *mut PointerInfo,
                Option<unsafe extern "C" fn(usize) -> *mut c_void>, *mut u32, *mut *mut AgentHandle
            ) -> Status;
        /// `hsa_amd_ipc_memory_create`.
        ipc_create: moved(28, 30), fn(*mut c_void, usize, *mut c_void) -> Status;
        /// `hsa_amd_ipc_memory_attach`.
        ipc_attach: moved(29, 31), fn(*const c_void, usize, u32, *const AgentHandle, *mut *mut c_void) -> Status;
        /// `hsa_amd_ipc_memory_detach`.
        ipc_detach: moved(30, 32), fn(*mut c_void) -> Status;
        /// `hsa_amd_queue_intercept_create`.
        intercept_create: moved(35, 37),
            fn(AgentHandle, u32, u32, QueueError, *mut c_void, u32, u32, *mut *mut Queue) -> Status;
        /// `hsa_amd_queue_intercept_register`.
        intercept_register: moved(36, 38), fn(*mut Queue, PacketHandler, *mut c_void) -> Status;
        /// `hsa_amd_memory_async_copy_rect`.
        async_copy_rect: moved(38, 40),
            fn(
                *const PitchedPointer, *const Dim3, *const PitchedPointer, *const Dim3, *const Dim3, AgentHandle, u32,
                u32, *const Signal, Signal
            ) -> Status;
        /// `hsa_amd_memory_lock_to_pool`.
        lock_to_pool: moved(40, 42),
            fn(*mut c_void, usize, *mut AgentHandle, c_int, Pool, u32, *mut *mut c_void) -> Status;
    }
    may {
        /// `hsa_system_get_major_extension_table`.
        extension_table: Slot::Core(98), fn(u16, u16, usize, *mut c_void) -> Status;
        /// `hsa_amd_svm_attributes_set`.
        svm_set: moved(44, 46), fn(*mut c_void, usize, *mut c_void, usize) -> Status;
        /// `hsa_amd_memory_async_copy_on_engine`.
        async_copy_on_engine: newer(16),
            fn(
                *mut c_void, AgentHandle, *const c_void, AgentHandle, usize, u32, *const Signal, Signal, u32, bool
            ) -> Status;
        /// `hsa_amd_vmem_map`.
        vmem_map: newer(59), fn(*mut c_void, usize, usize, MemoryHandle, u64) -> Status;
        /// `hsa_amd_vmem_unmap`.
        vmem_unmap: newer(60), fn(*mut c_void, usize) -> Status;
        /// `hsa_amd_vmem_get_alloc_properties_from_handle`.
        vmem_properties: newer(66), fn(MemoryHandle, *mut Pool, *mut u32) -> Status;
    }
}
