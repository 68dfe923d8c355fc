//! What each function of the runtime's tables means to windows: which of them are replaced, and why the others need not be.
//!
//! A function that can write the GPUs' memory, make, free, hand over, map or change memory, or run something on a GPU has to be
//! replaced. The lists are in the order of the tables; a later table needs a decision for each function that it has more.

/// It is replaced.
const HOOKED: &str = "";

const ADDRESSES: &str = "there is no memory before it is mapped, or after it was unmapped";
const ASKS: &str = "only tells something";
const ASSIGN: &str = "does nothing: memory belongs to its pool's agent";
const CLOSES: &str = "what was exported may have been opened by others";
const CODE: &str = "only what is loaded and frozen can run";
const COHERENCY: &str = "says how caches are kept, not what is in memory";
const DEFINES: &str = "gives memory that is known a name";
const DESCRIBES: &str = "says what memory means that is known; its words lie in memory of the runtime's own";
const ENDS: &str = "windows end in OnUnload, which it calls";
const HANDLER: &str = "another tool's handler, beside ours";
const HOST: &str = "runs or announces functions of the host, whose calls are seen";
const INDEX: &str = "what is submitted is seen when the doorbell rings";
const LOADS: &str = "loads code of old compilers into new memory; it is looked at when it is frozen";
const MANAGED: &str = "no window captures managed memory";
const MIGRATES: &str = "moves memory, but changes neither its content nor its address";
const REGISTER: &str = "does nothing: memory of the host is given to GPUs by locking it";
const RELEASES: &str = "what is mapped of it stays mapped; a number is a new handle's when one is made";
const RUNS: &str = "there is nothing yet";
const SIGNAL: &str = "signals lie in memory of the runtime's own, which no window puts back";
const SOFT: &str = "the program itself reads the packets";
const SPM: &str = "fills a profiler's buffer in memory of the host, which no kernel is given";
const TABLES: &str = "hands out functions that go through the tables, or of extensions that write nothing";
const TUNES: &str = "changes how fast something is or what is told of it, not what it does";

/// `CoreApiTable`: ROCr 5.2 to ROCm 7.
const CORE: &[(&str, &str)] = &[
    ("hsa_init", RUNS),
    ("hsa_shut_down", ENDS),
    ("hsa_system_get_info", ASKS),
    ("hsa_system_extension_supported", ASKS),
    ("hsa_system_get_extension_table", TABLES),
    ("hsa_iterate_agents", ASKS),
    ("hsa_agent_get_info", ASKS),
    ("hsa_queue_create", HOOKED),
    ("hsa_soft_queue_create", SOFT),
    ("hsa_queue_destroy", HOOKED),
    ("hsa_queue_inactivate", HOOKED),
    ("hsa_queue_load_read_index_scacquire", INDEX),
    ("hsa_queue_load_read_index_relaxed", INDEX),
    ("hsa_queue_load_write_index_scacquire", INDEX),
    ("hsa_queue_load_write_index_relaxed", INDEX),
    ("hsa_queue_store_write_index_relaxed", INDEX),
    ("hsa_queue_store_write_index_screlease", INDEX),
    ("hsa_queue_cas_write_index_scacq_screl", INDEX),
    ("hsa_queue_cas_write_index_scacquire", INDEX),
    ("hsa_queue_cas_write_index_relaxed", INDEX),
    ("hsa_queue_cas_write_index_screlease", INDEX),
    ("hsa_queue_add_write_index_scacq_screl", INDEX),
    ("hsa_queue_add_write_index_scacquire", INDEX),
    ("hsa_queue_add_write_index_relaxed", INDEX),
    ("hsa_queue_add_write_index_screlease", INDEX),
    ("hsa_queue_store_read_index_relaxed", INDEX),
    ("hsa_queue_store_read_index_screlease", INDEX),
    ("hsa_agent_iterate_regions", ASKS),
    ("hsa_region_get_info", ASKS),
    ("hsa_agent_get_exception_policies", ASKS),
    ("hsa_agent_extension_supported", ASKS),
    ("hsa_memory_register", REGISTER),
    ("hsa_memory_deregister", REGISTER),
    ("hsa_memory_allocate", HOOKED),
    ("hsa_memory_free", HOOKED),
    ("hsa_memory_copy", HOOKED),
    ("hsa_memory_assign_agent", ASSIGN),
    ("hsa_signal_create", SIGNAL),
    ("hsa_signal_destroy", HOOKED),
    ("hsa_signal_load_relaxed", SIGNAL),
    ("hsa_signal_load_scacquire", SIGNAL),
    ("hsa_signal_store_relaxed", SIGNAL),
    ("hsa_signal_store_screlease", SIGNAL),
    ("hsa_signal_wait_relaxed", SIGNAL),
    ("hsa_signal_wait_scacquire", SIGNAL),
    ("hsa_signal_and_relaxed", SIGNAL),
    ("hsa_signal_and_scacquire", SIGNAL),
    ("hsa_signal_and_screlease", SIGNAL),
    ("hsa_signal_and_scacq_screl", SIGNAL),
    ("hsa_signal_or_relaxed", SIGNAL),
    ("hsa_signal_or_scacquire", SIGNAL),
    ("hsa_signal_or_screlease", SIGNAL),
    ("hsa_signal_or_scacq_screl", SIGNAL),
    ("hsa_signal_xor_relaxed", SIGNAL),
    ("hsa_signal_xor_scacquire", SIGNAL),
    ("hsa_signal_xor_screlease", SIGNAL),
    ("hsa_signal_xor_scacq_screl", SIGNAL),
    ("hsa_signal_exchange_relaxed", SIGNAL),
    ("hsa_signal_exchange_scacquire", SIGNAL),
    ("hsa_signal_exchange_screlease", SIGNAL),
    ("hsa_signal_exchange_scacq_screl", SIGNAL),
    ("hsa_signal_add_relaxed", SIGNAL),
    ("hsa_signal_add_scacquire", SIGNAL),
    ("hsa_signal_add_screlease", SIGNAL),
    ("hsa_signal_add_scacq_screl", SIGNAL),
    ("hsa_signal_subtract_relaxed", SIGNAL),
    ("hsa_signal_subtract_scacquire", SIGNAL),
    ("hsa_signal_subtract_screlease", SIGNAL),
    ("hsa_signal_subtract_scacq_screl", SIGNAL),
    ("hsa_signal_cas_relaxed", SIGNAL),
    ("hsa_signal_cas_scacquire", SIGNAL),
    ("hsa_signal_cas_screlease", SIGNAL),
    ("hsa_signal_cas_scacq_screl", SIGNAL),
    ("hsa_isa_from_name", ASKS),
    ("hsa_isa_get_info", ASKS),
    ("hsa_isa_compatible", ASKS),
    ("hsa_code_object_serialize", CODE),
    ("hsa_code_object_deserialize", CODE),
    ("hsa_code_object_destroy", CODE),
    ("hsa_code_object_get_info", ASKS),
    ("hsa_code_object_get_symbol", ASKS),
    ("hsa_code_symbol_get_info", ASKS),
    ("hsa_code_object_iterate_symbols", ASKS),
    ("hsa_executable_create", CODE),
    ("hsa_executable_destroy", HOOKED),
    ("hsa_executable_load_code_object", LOADS),
    ("hsa_executable_freeze", HOOKED),
    ("hsa_executable_get_info", ASKS),
    ("hsa_executable_global_variable_define", DEFINES),
    ("hsa_executable_agent_global_variable_define", DEFINES),
    ("hsa_executable_readonly_variable_define", DEFINES),
    ("hsa_executable_validate", ASKS),
    ("hsa_executable_get_symbol", ASKS),
    ("hsa_executable_symbol_get_info", ASKS),
    ("hsa_executable_iterate_symbols", ASKS),
    ("hsa_status_string", ASKS),
    ("hsa_extension_get_name", ASKS),
    ("hsa_system_major_extension_supported", ASKS),
    ("hsa_system_get_major_extension_table", TABLES),
    ("hsa_agent_major_extension_supported", ASKS),
    ("hsa_cache_get_info", ASKS),
    ("hsa_agent_iterate_caches", ASKS),
    ("hsa_signal_silent_store_relaxed", SIGNAL),
    ("hsa_signal_silent_store_screlease", SIGNAL),
    ("hsa_signal_group_create", SIGNAL),
    ("hsa_signal_group_destroy", SIGNAL),
    ("hsa_signal_group_wait_any_scacquire", SIGNAL),
    ("hsa_signal_group_wait_any_relaxed", SIGNAL),
    ("hsa_agent_iterate_isas", ASKS),
    ("hsa_isa_get_info_alt", ASKS),
    ("hsa_isa_get_exception_policies", ASKS),
    ("hsa_isa_get_round_method", ASKS),
    ("hsa_wavefront_get_info", ASKS),
    ("hsa_isa_iterate_wavefronts", ASKS),
    ("hsa_code_object_get_symbol_from_name", ASKS),
    ("hsa_code_object_reader_create_from_file", HOOKED),
    ("hsa_code_object_reader_create_from_memory", HOOKED),
    ("hsa_code_object_reader_destroy", HOOKED),
    ("hsa_executable_create_alt", CODE),
    ("hsa_executable_load_program_code_object", HOOKED),
    ("hsa_executable_load_agent_code_object", HOOKED),
    ("hsa_executable_validate_alt", ASKS),
    ("hsa_executable_get_symbol_by_name", ASKS),
    ("hsa_executable_iterate_agent_symbols", ASKS),
    ("hsa_executable_iterate_program_symbols", ASKS),
];

/// `AmdExtTable` of ROCm 6 and 7, in the layout of major 2. ROCr 5.2's lacks some of them. Behind the last one versions in
/// development have had several functions in the same places.
const AMD: &[(&str, &str)] = &[
    ("hsa_amd_coherency_get_type", ASKS),
    ("hsa_amd_coherency_set_type", COHERENCY),
    ("hsa_amd_profiling_set_profiler_enabled", TUNES),
    ("hsa_amd_profiling_async_copy_enable", TUNES),
    ("hsa_amd_profiling_get_dispatch_time", ASKS),
    ("hsa_amd_profiling_get_async_copy_time", HOOKED),
    ("hsa_amd_profiling_convert_tick_to_system_domain", ASKS),
    ("hsa_amd_signal_async_handler", HOST),
    ("hsa_amd_async_function", HOST),
    ("hsa_amd_signal_wait_any", SIGNAL),
    ("hsa_amd_queue_cu_set_mask", TUNES),
    ("hsa_amd_memory_pool_get_info", ASKS),
    ("hsa_amd_agent_iterate_memory_pools", ASKS),
    ("hsa_amd_memory_pool_allocate", HOOKED),
    ("hsa_amd_memory_pool_free", HOOKED),
    ("hsa_amd_memory_async_copy", HOOKED),
    ("hsa_amd_memory_async_copy_on_engine", HOOKED),
    ("hsa_amd_memory_copy_engine_status", ASKS),
    ("hsa_amd_agent_memory_pool_get_info", HOOKED),
    ("hsa_amd_agents_allow_access", HOOKED),
    ("hsa_amd_memory_pool_can_migrate", ASKS),
    ("hsa_amd_memory_migrate", MIGRATES),
    ("hsa_amd_memory_lock", HOOKED),
    ("hsa_amd_memory_unlock", HOOKED),
    ("hsa_amd_memory_fill", HOOKED),
    ("hsa_amd_interop_map_buffer", HOOKED),
    ("hsa_amd_interop_unmap_buffer", HOOKED),
    ("hsa_amd_image_create", DESCRIBES),
    ("hsa_amd_pointer_info", ASKS),
    ("hsa_amd_pointer_info_set_userdata", TUNES),
    ("hsa_amd_ipc_memory_create", HOOKED),
    ("hsa_amd_ipc_memory_attach", HOOKED),
    ("hsa_amd_ipc_memory_detach", HOOKED),
    ("hsa_amd_signal_create", SIGNAL),
    ("hsa_amd_ipc_signal_create", SIGNAL),
    ("hsa_amd_ipc_signal_attach", SIGNAL),
    ("hsa_amd_register_system_event_handler", HOST),
    ("hsa_amd_queue_intercept_create", HOOKED),
    ("hsa_amd_queue_intercept_register", HANDLER),
    ("hsa_amd_queue_set_priority", TUNES),
    ("hsa_amd_memory_async_copy_rect", HOOKED),
    ("hsa_amd_runtime_queue_create_register", HOST),
    ("hsa_amd_memory_lock_to_pool", HOOKED),
    ("hsa_amd_register_deallocation_callback", HOST),
    ("hsa_amd_deregister_deallocation_callback", HOST),
    ("hsa_amd_signal_value_pointer", SIGNAL),
    ("hsa_amd_svm_attributes_set", HOOKED),
    ("hsa_amd_svm_attributes_get", ASKS),
    ("hsa_amd_svm_prefetch_async", MIGRATES),
    ("hsa_amd_spm_acquire", SPM),
    ("hsa_amd_spm_release", SPM),
    ("hsa_amd_spm_set_dest_buffer", SPM),
    ("hsa_amd_queue_cu_get_mask", ASKS),
    ("hsa_amd_portable_export_dmabuf", HOOKED),
    ("hsa_amd_portable_close_dmabuf", CLOSES),
    ("hsa_amd_vmem_address_reserve", ADDRESSES),
    ("hsa_amd_vmem_address_free", ADDRESSES),
    ("hsa_amd_vmem_handle_create", HOOKED),
    ("hsa_amd_vmem_handle_release", RELEASES),
    ("hsa_amd_vmem_map", HOOKED),
    ("hsa_amd_vmem_unmap", HOOKED),
    ("hsa_amd_vmem_set_access", HOOKED),
    ("hsa_amd_vmem_get_access", ASKS),
    ("hsa_amd_vmem_export_shareable_handle", HOOKED),
    ("hsa_amd_vmem_import_shareable_handle", HOOKED),
    ("hsa_amd_vmem_retain_alloc_handle", RELEASES),
    ("hsa_amd_vmem_get_alloc_properties_from_handle", ASKS),
    ("hsa_amd_agent_set_async_scratch_limit", TUNES),
    ("hsa_amd_queue_get_info", ASKS),
    ("hsa_amd_vmem_address_reserve_align", ADDRESSES),
    ("hsa_amd_enable_logging", TUNES),
    ("hsa_amd_signal_wait_all", SIGNAL),
    ("hsa_amd_memory_get_preferred_copy_engine", ASKS),
    ("hsa_amd_portable_export_dmabuf_v2", HOOKED),
    ("hsa_amd_ais_file_write", HOOKED),
    ("hsa_amd_ais_file_read", HOOKED),
    ("hsa_amd_counted_queue_acquire", HOOKED),
    ("hsa_amd_counted_queue_release", HOOKED),
    ("hsa_amd_memory_async_batch_copy", HOOKED),
    ("hsa_amd_agent_preload", TUNES),
    ("hsa_amd_svm_discard_batch_async", MANAGED),
    ("hsa_amd_signal_get_event_id", SIGNAL),
];

/// `ImageExtTable`.
const IMAGE: &[(&str, &str)] = &[
    ("hsa_ext_image_get_capability", ASKS),
    ("hsa_ext_image_data_get_info", ASKS),
    ("hsa_ext_image_create", DESCRIBES),
    ("hsa_ext_image_import", HOOKED),
    ("hsa_ext_image_export", HOOKED),
    ("hsa_ext_image_copy", HOOKED),
    ("hsa_ext_image_clear", HOOKED),
    ("hsa_ext_image_destroy", HOOKED),
    ("hsa_ext_sampler_create", DESCRIBES),
    ("hsa_ext_sampler_destroy", HOOKED),
    ("hsa_ext_image_get_capability_with_layout", ASKS),
    ("hsa_ext_image_data_get_info_with_layout", ASKS),
    ("hsa_ext_image_create_with_layout", DESCRIBES),
    ("hsa_ext_sampler_create_v2", DESCRIBES),
];

mod tests {
    use super::{AMD, CORE, HOOKED, IMAGE};
    use crate::tables::{KNOWN, NAMES, Slot};
    use std::collections::BTreeSet;

    fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        CORE.iter().chain(AMD).chain(IMAGE).copied()
    }

    #[test]
    fn what_is_said_to_be_replaced_is() {
        let said: BTreeSet<&str> = all().filter(|(_, why)| *why == HOOKED).map(|(name, _)| name).collect();
        let is_hooked = |slot: &Slot| crate::interceptor::HOOKED.contains(slot);
        let hooked: BTreeSet<&str> = NAMES.iter().filter(|(_, slot)| is_hooked(slot)).map(|(name, _)| *name).collect();
        assert_eq!(said, hooked);
        assert_eq!(hooked.len(), crate::interceptor::HOOKED.len(), "nothing is replaced twice");
    }

    #[test]
    fn places_are_those_of_the_lists() {
        for (name, slot) in NAMES {
            let (list, index) = match *slot {
                Slot::Core(index) => (CORE, index),
                Slot::Image(index) => (IMAGE, index),
                Slot::Amd(_, index) => (AMD, index.expect("nothing has gone from the tables")),
            };
            assert_eq!(list.get(usize::from(index)).map(|(name, _)| *name), Some(*name));
        }
        assert_eq!([CORE.len(), AMD.len(), IMAGE.len()], KNOWN.map(usize::from));
    }

    /// The installed header has no function that the lists lack, and has them in their order.
    #[test]
    fn every_function_of_the_header_is_there() {
        let Ok(header) = std::fs::read_to_string("/usr/include/hsa/hsa_api_trace.h") else {
            assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "must not be skipped here");
            return println!("skipped: ROCr's headers are missing; on Debian 12: apt-get install libhsa-runtime-dev");
        };
        for (table, list) in [("CoreApiTable", CORE), ("AmdExtTable", AMD), ("ImageExtTable", IMAGE)] {
            let (_, body) = header.split_once(&format!("struct {table} {{")).expect("the table is in the header");
            let (body, _) = body.split_once("\n};").expect("a structure ends");
            let ends = body.match_indices("_fn;").map(|(end, _)| end);
            let names = ends.map(|end| body[..end].rsplit([' ', '*', '\n', '\t']).next().unwrap_or_default());
            let mut places = list.iter().map(|(name, _)| *name);
            let mut found = 0;
            for name in names {
                assert!(places.any(|place| place == name), "{table} has {name} where the list has it not");
                found += 1;
            }
            assert!(found > 10, "{table} was not read");
        }
    }
}
