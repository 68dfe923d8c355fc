// What `newer.hip` gives a program: calls of newer runtimes than Debian's, as they go through the runtime's tables.
#pragma once
#include <hsa/hsa.h>
#include <hsa/hsa_ext_image.h>

#include <cstddef>
#include <cstdint>

struct NewerCalls {
    // Addresses for mappings, of which no tool hears. Nothing can be reached there yet.
    void* (*reserve)(size_t bytes);
    // `hsa_amd_vmem_handle_create`: memory to be mapped, all zeroes.
    uint64_t (*create)(size_t bytes);
    // `hsa_amd_vmem_handle_release`; its number is the next one's.
    void (*release)(uint64_t handle);
    // `hsa_amd_vmem_export_shareable_handle`, for nobody.
    hsa_status_t (*share)(uint64_t handle);
    // `hsa_amd_vmem_import_shareable_handle`, of memory that another process has created.
    uint64_t (*import)(size_t bytes);
    // `hsa_amd_ipc_memory_create` and `hsa_amd_portable_export_dmabuf` in both versions, for nobody.
    hsa_status_t (*ipc)(void* address, size_t bytes);
    hsa_status_t (*dmabuf)(void* address, size_t bytes);
    hsa_status_t (*dmabuf_v2)(void* address, size_t bytes);
    // `hsa_amd_vmem_map`.
    hsa_status_t (*map)(void* address, size_t bytes, uint64_t handle);
    // `hsa_amd_vmem_unmap`.
    hsa_status_t (*unmap)(void* address, size_t bytes);
    // `hsa_amd_vmem_set_access`, for the GPU.
    hsa_status_t (*access)(void* address, size_t bytes, hsa_access_permission_t permission);
    // `hsa_amd_memory_async_batch_copy` of one operation, and `hsa_amd_ais_file_read`; over when they return.
    hsa_status_t (*batch_copy)(void* to, const void* from, size_t bytes);
    hsa_status_t (*file_read)(void* to, int file, size_t bytes);
    // `hsa_amd_counted_queue_acquire` and `_release`.
    hsa_queue_t* (*acquire)();
    hsa_status_t (*release_queue)(hsa_queue_t* queue);
    // The GPU.
    hsa_agent_t (*gpu)();
    // How many such queues the runtime has made.
    int (*counted)();
    // Memory of the host that the GPU reaches, of which no tool hears; `munmap` ends it.
    void* (*managed)(size_t bytes);
    // `hsa_amd_svm_attributes_set`, without one.
    hsa_status_t (*attributes)(void* address, size_t bytes);
    // What an image or sampler is to kernels: words at its address, of which no tool hears.
    uint64_t (*describe)(uint32_t word, size_t words);
    // `hsa_ext_image_destroy`; the words are others then.
    hsa_status_t (*image_destroy)(uint64_t image);
    // `hsa_ext_sampler_destroy`, likewise.
    hsa_status_t (*sampler_destroy)(uint64_t sampler);
    // `hsa_ext_image_clear`, `_copy`, `_import` and `_export`: each puts this word into the image.
    hsa_status_t (*image_clear)(uint64_t image, uint32_t word);
    hsa_status_t (*image_copy)(uint64_t image, uint32_t word);
    hsa_status_t (*image_import)(uint64_t image, uint32_t word);
    hsa_status_t (*image_export)(uint64_t image, uint32_t word);
};

// The library's only symbol for programs: valid once the runtime was started.
extern "C" const NewerCalls* newer_calls();
