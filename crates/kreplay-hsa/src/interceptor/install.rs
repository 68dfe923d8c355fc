//! Puts our functions into the runtime's tables.

use super::{
    access, allocation_hooks, code, code_objects, copies, counted_queues, exports, foreign, host_access, images,
    in_flight, mappings, other_copies, queues,
};
use crate::tables::{RawTables, slots};

macro_rules! hooks {
    ($($slot:ident <- $function:path;)*) => {
        /// Where they stand.
        #[cfg(test)]
        pub(crate) const HOOKED: &[crate::tables::Slot] = &[$(slots::$slot),*];

        /// Puts all of them in. The state must be in place: from here on the runtime calls them.
        ///
        /// # Safety
        /// `tables` are the running runtime's, checked, and this library stays loaded until the process ends.
        pub(crate) unsafe fn install(tables: &RawTables) {$(
            // SAFETY: the function has the slot's signature, which `Api` declares next to the slot and the original is
            // called with; the library stays loaded.
            unsafe { slots::$slot.write(tables, $function as *mut ()) };
        )*}
    };
}

hooks! {
    pool_allocate <- allocation_hooks::pool_allocate;
    pool_free <- allocation_hooks::pool_free;
    memory_allocate <- allocation_hooks::memory_allocate;
    memory_free <- allocation_hooks::memory_free;
    allow_access <- access::allow_access;
    agent_pool_get_info <- host_access::agent_pool_get_info;
    memory_lock <- foreign::memory_lock;
    lock_to_pool <- foreign::lock_to_pool;
    memory_unlock <- foreign::memory_unlock;
    ipc_create <- exports::ipc_create;
    export_dmabuf <- exports::export_dmabuf;
    export_dmabuf_v2 <- exports::export_dmabuf_v2;
    vmem_export <- exports::vmem_export;
    vmem_import <- exports::vmem_import;
    ipc_attach <- foreign::ipc_attach;
    ipc_detach <- foreign::ipc_detach;
    interop_map <- foreign::interop_map;
    interop_unmap <- foreign::interop_unmap;
    svm_set <- foreign::svm_set;
    vmem_handle_create <- mappings::vmem_handle_create;
    vmem_map <- mappings::vmem_map;
    vmem_unmap <- mappings::vmem_unmap;
    vmem_set_access <- mappings::vmem_set_access;
    image_import <- images::image_import;
    image_export <- images::image_export;
    image_copy <- images::image_copy;
    image_clear <- images::image_clear;
    image_destroy <- images::image_destroy;
    sampler_destroy <- images::sampler_destroy;
    reader_from_memory <- code_objects::reader_from_memory;
    reader_from_file <- code_objects::reader_from_file;
    reader_destroy <- code_objects::reader_destroy;
    executable_load <- code_objects::executable_load;
    executable_load_program <- code_objects::executable_load_program;
    executable_freeze <- code::executable_freeze;
    executable_destroy <- code::executable_destroy;
    async_copy <- copies::async_copy;
    async_copy_on_engine <- copies::async_copy_on_engine;
    async_copy_rect <- copies::async_copy_rect;
    memory_copy <- copies::memory_copy;
    memory_fill <- copies::memory_fill;
    async_copy_time <- in_flight::async_copy_time;
    signal_destroy <- in_flight::signal_destroy;
    file_read <- other_copies::file_read;
    file_write <- other_copies::file_write;
    async_batch_copy <- other_copies::async_batch_copy;
    queue_destroy <- queues::queue_destroy;
    queue_inactivate <- queues::queue_inactivate;
    intercept_create <- queues::intercept_create;
    counted_acquire <- counted_queues::acquire;
    counted_release <- counted_queues::release;
    // Last: the first queue starts all the rest.
    queue_create <- queues::queue_create;
}
