// A tool of the runtime that makes Debian's look like a newer one with images to the tool that `NEWER_TOOL` names, and to
// programs that ask for `newer_calls`. Mappings are those of the host, which the software GPU shares.
#define AMD_INTERNAL_BUILD
#include "newer.h"

#include <dlfcn.h>
#include <hsa/hsa_api_trace.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

// Functions of ROCr 5.2's extension table but for the last; those from this one on stand two places further in newer ones.
constexpr size_t kOlder = 47, kMoved = 16, kNewer = 82, kPage = 4096;
constexpr size_t kIpcCreate = 30, kSvmSet = 46, kDmabuf = 53, kCreate = 57, kRelease = 58, kMap = 59, kUnmap = 60;
constexpr size_t kSetAccess = 61, kExport = 63, kImport = 64, kProperties = 66, kDmabufV2 = 73, kFileRead = 75;
constexpr size_t kAcquire = 76, kReleaseQueue = 77, kBatchCopy = 78;

struct Extension {
    ApiTableVersion version;
    void* functions[kNewer];
};

struct Access {
    hsa_access_permission_t permission;
    hsa_agent_t agent;
};

struct CopyOperation {
    uint16_t version, kind, entries, traffic;
    hsa_signal_t completion;
    const void* from;
    hsa_agent_t from_agent, to_agent;
    void* to;
    size_t bytes, unused;
    uint64_t wait[4], signal[3], reserved;
};
static_assert(sizeof(CopyOperation) == 128, "as in the header");

static CoreApiTable originals;
static AmdExtTable original_extension;
static Extension extension;
static ImageExtTable images;
static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;

using IpcCreate = hsa_status_t (*)(void*, size_t, hsa_amd_ipc_memory_t*);
using Dmabuf = hsa_status_t (*)(const void*, size_t, int*, uint64_t*);
using DmabufV2 = hsa_status_t (*)(const void*, size_t, int*, uint64_t*, uint64_t);
using Create = hsa_status_t (*)(hsa_amd_memory_pool_t, size_t, int, uint64_t, uint64_t*);
using Release = hsa_status_t (*)(uint64_t);
using Export = hsa_status_t (*)(int*, uint64_t, uint64_t);
using Import = hsa_status_t (*)(int, uint64_t*);
using FileRead = hsa_status_t (*)(uint64_t, void*, uint64_t, int64_t, uint64_t*, int32_t*);
using QueueError = void (*)(hsa_status_t, hsa_queue_t*, void*);
using Acquire = hsa_status_t (*)(hsa_agent_t, uint32_t, uint32_t, QueueError, void*, uint64_t, hsa_queue_t**);
using ReleaseQueue = hsa_status_t (*)(hsa_queue_t*);
using BatchCopy = hsa_status_t (*)(const CopyOperation*, uint32_t, uint32_t, const hsa_signal_t*);
using Map = hsa_status_t (*)(void*, size_t, size_t, uint64_t, uint64_t);
using Unmap = hsa_status_t (*)(void*, size_t);
using SetAccess = hsa_status_t (*)(void*, size_t, const Access*, size_t);
using SvmSet = hsa_status_t (*)(void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t);

static hsa_status_t placed(void* address, size_t bytes, int protection, int flags, int file, size_t offset) {
    void* at = mmap(address, bytes, protection, flags | MAP_FIXED, file, off_t(offset));
    return at == MAP_FAILED ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

static hsa_status_t real_create(hsa_amd_memory_pool_t, size_t bytes, int, uint64_t, uint64_t* handle) {
    int file = memfd_create("memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, off_t(bytes)) != 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *handle = uint64_t(file);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_release(uint64_t handle) { return close(int(handle)) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR; }
static hsa_status_t real_share(int* file, uint64_t handle, uint64_t) {
    *file = int(handle);
    return HSA_STATUS_SUCCESS;
}
static hsa_status_t real_import_handle(int file, uint64_t* handle) {
    *handle = uint64_t(file);
    return HSA_STATUS_SUCCESS;
}
static hsa_status_t real_ipc(void*, size_t, hsa_amd_ipc_memory_t*) { return HSA_STATUS_SUCCESS; }
static hsa_status_t real_dmabuf(const void*, size_t, int*, uint64_t*) { return HSA_STATUS_SUCCESS; }
static hsa_status_t real_dmabuf_v2(const void*, size_t, int*, uint64_t*, uint64_t) { return HSA_STATUS_SUCCESS; }

static hsa_status_t real_map(void* address, size_t bytes, size_t offset, uint64_t handle, uint64_t) {
    // Nobody may reach it before access is given.
    return placed(address, bytes, PROT_NONE, MAP_SHARED, int(handle), offset);
}

static hsa_status_t real_unmap(void* address, size_t bytes) {
    return placed(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static hsa_status_t real_set_access(void* address, size_t bytes, const Access* access, size_t count) {
    if (count != 1) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    int protection = access->permission == HSA_ACCESS_PERMISSION_RW   ? PROT_READ | PROT_WRITE
                     : access->permission == HSA_ACCESS_PERMISSION_RO ? PROT_READ
                                                                      : PROT_NONE;
    return mprotect(address, bytes, protection) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t real_properties(uint64_t, hsa_amd_memory_pool_t* found, uint32_t* kind) {
    *found = pool;
    *kind = 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_svm_set(void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t) { return HSA_STATUS_SUCCESS; }

static hsa_status_t real_file_read(uint64_t file, void* to, uint64_t bytes, int64_t offset, uint64_t*, int32_t*) {
    return pread(int(file), to, bytes, offset) == ssize_t(bytes) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static int counted;
static hsa_status_t real_acquire(hsa_agent_t agent, uint32_t kind, uint32_t, QueueError error, void* data, uint64_t,
                                 hsa_queue_t** queue) {
    counted++;
    return originals.hsa_queue_create_fn(agent, 64, kind, error, data, UINT32_MAX, UINT32_MAX, queue);
}
static hsa_status_t real_release_queue(hsa_queue_t* queue) { return originals.hsa_queue_destroy_fn(queue); }

static hsa_status_t real_batch_copy(const CopyOperation* operations, uint32_t count, uint32_t, const hsa_signal_t*) {
    for (uint32_t i = 0; i < count; i++) {
        std::memcpy(operations[i].to, operations[i].from, operations[i].bytes);
        originals.hsa_signal_subtract_screlease_fn(operations[i].completion, 1);
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t put(uint64_t image, uint32_t word) {
    *reinterpret_cast<uint32_t*>(image) = word;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t real_image_destroy(hsa_agent_t, hsa_ext_image_t image) { return put(image.handle, 0xdead); }
static hsa_status_t real_sampler_destroy(hsa_agent_t, hsa_ext_sampler_t sampler) { return put(sampler.handle, 0xdead); }
static hsa_status_t real_clear(hsa_agent_t, hsa_ext_image_t image, const void* word, const hsa_ext_image_region_t*) {
    return put(image.handle, *static_cast<const uint32_t*>(word));
}
static hsa_status_t real_copy(hsa_agent_t, hsa_ext_image_t from, const hsa_dim3_t*, hsa_ext_image_t to, const hsa_dim3_t*,
                              const hsa_dim3_t*) {
    return put(to.handle, uint32_t(from.handle));
}
static hsa_status_t real_import(hsa_agent_t, const void* from, size_t, size_t, hsa_ext_image_t to,
                                const hsa_ext_image_region_t*) {
    return put(to.handle, *static_cast<const uint32_t*>(from));
}
static hsa_status_t real_export(hsa_agent_t, hsa_ext_image_t from, void* to, size_t, size_t, const hsa_ext_image_region_t*) {
    return put(uint64_t(to), uint32_t(from.handle));
}

static void* allocated(size_t bytes) {
    void* memory = nullptr;
    if (original_extension.hsa_amd_memory_pool_allocate_fn(pool, bytes, 0, &memory) != HSA_STATUS_SUCCESS) std::abort();
    return memory;
}

static void look() {
    auto visit = [](hsa_agent_t agent, void*) {
        hsa_device_type_t kind;
        hsa_status_t status = originals.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &kind);
        if (status == HSA_STATUS_SUCCESS && kind == HSA_DEVICE_TYPE_GPU) gpu = agent;
        return status;
    };
    auto choose = [](hsa_amd_memory_pool_t one, void*) {
        uint32_t flags = 0;
        auto ask = original_extension.hsa_amd_memory_pool_get_info_fn;
        hsa_status_t status = ask(one, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
        if (status == HSA_STATUS_SUCCESS && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) pool = one;
        return HSA_STATUS_SUCCESS;
    };
    if (originals.hsa_iterate_agents_fn(visit, nullptr) != HSA_STATUS_SUCCESS) std::abort();
    if (original_extension.hsa_amd_agent_iterate_memory_pools_fn(gpu, choose, nullptr) != HSA_STATUS_SUCCESS) std::abort();
}

template <class T>
static T function(size_t index) {
    return reinterpret_cast<T>(extension.functions[index]);
}

static const NewerCalls calls = {
    [](size_t bytes) {
        void* memory = allocated(bytes);
        if (real_unmap(memory, bytes) != HSA_STATUS_SUCCESS) std::abort();
        return memory;
    },
    [](size_t bytes) {
        uint64_t handle = 0;
        if (function<Create>(kCreate)(pool, bytes, 0, 0, &handle) != HSA_STATUS_SUCCESS) std::abort();
        return handle;
    },
    [](uint64_t handle) {
        if (function<Release>(kRelease)(handle) != HSA_STATUS_SUCCESS) std::abort();
    },
    [](uint64_t handle) {
        int file = -1;
        return function<Export>(kExport)(&file, handle, 0);
    },
    [](size_t bytes) {
        uint64_t theirs = 0, handle = 0;
        if (real_create(pool, bytes, 0, 0, &theirs) != HSA_STATUS_SUCCESS) std::abort();
        if (function<Import>(kImport)(int(theirs), &handle) != HSA_STATUS_SUCCESS) std::abort();
        return handle;
    },
    [](void* address, size_t bytes) {
        hsa_amd_ipc_memory_t handle;
        return function<IpcCreate>(kIpcCreate)(address, bytes, &handle);
    },
    [](void* address, size_t bytes) {
        int file = -1;
        uint64_t offset = 0;
        return function<Dmabuf>(kDmabuf)(address, bytes, &file, &offset);
    },
    [](void* address, size_t bytes) {
        int file = -1;
        uint64_t offset = 0;
        return function<DmabufV2>(kDmabufV2)(address, bytes, &file, &offset, 0);
    },
    [](void* address, size_t bytes, uint64_t handle) { return function<Map>(kMap)(address, bytes, 0, handle, 0); },
    [](void* address, size_t bytes) { return function<Unmap>(kUnmap)(address, bytes); },
    [](void* address, size_t bytes, hsa_access_permission_t permission) {
        Access access{permission, gpu};
        return function<SetAccess>(kSetAccess)(address, bytes, &access, 1);
    },
    [](void* to, const void* from, size_t bytes) {
        CopyOperation operation{};
        operation.version = 1;
        operation.from = from;
        operation.from_agent = operation.to_agent = gpu;
        operation.to = to;
        operation.bytes = bytes;
        hsa_status_t status = originals.hsa_signal_create_fn(1, 0, nullptr, &operation.completion);
        if (status == HSA_STATUS_SUCCESS) status = function<BatchCopy>(kBatchCopy)(&operation, 1, 0, nullptr);
        if (status != HSA_STATUS_SUCCESS) return status;
        auto wait = originals.hsa_signal_wait_scacquire_fn;
        while (wait(operation.completion, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) > 0) {
        }
        return originals.hsa_signal_destroy_fn(operation.completion);
    },
    [](void* to, int file, size_t bytes) {
        uint64_t copied = 0;
        int32_t result = 0;
        return function<FileRead>(kFileRead)(uint64_t(file), to, bytes, 0, &copied, &result);
    },
    [] {
        hsa_queue_t* queue = nullptr;
        auto acquire = function<Acquire>(kAcquire);
        if (acquire(gpu, HSA_QUEUE_TYPE_MULTI, 0, nullptr, nullptr, 0, &queue) != HSA_STATUS_SUCCESS) std::abort();
        return queue;
    },
    [](hsa_queue_t* queue) { return function<ReleaseQueue>(kReleaseQueue)(queue); },
    [] { return gpu; },
    [] { return counted; },
    [](size_t bytes) {
        void* memory = allocated(bytes);
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        if (placed(memory, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != HSA_STATUS_SUCCESS) std::abort();
        return memory;
    },
    [](void* address, size_t bytes) { return function<SvmSet>(kSvmSet)(address, bytes, nullptr, 0); },
    [](uint32_t word, size_t words) {
        auto described = static_cast<uint32_t*>(allocated((words * 4 + kPage - 1) / kPage * kPage));
        for (size_t i = 0; i < words; i++) described[i] = word;
        return uint64_t(described);
    },
    [](uint64_t image) { return images.hsa_ext_image_destroy_fn(gpu, hsa_ext_image_t{image}); },
    [](uint64_t sampler) { return images.hsa_ext_sampler_destroy_fn(gpu, hsa_ext_sampler_t{sampler}); },
    [](uint64_t image, uint32_t word) {
        return images.hsa_ext_image_clear_fn(gpu, hsa_ext_image_t{image}, &word, nullptr);
    },
    [](uint64_t image, uint32_t word) {
        return images.hsa_ext_image_copy_fn(gpu, hsa_ext_image_t{word}, nullptr, hsa_ext_image_t{image}, nullptr, nullptr);
    },
    [](uint64_t image, uint32_t word) {
        return images.hsa_ext_image_import_fn(gpu, &word, 0, 0, hsa_ext_image_t{image}, nullptr);
    },
    [](uint64_t image, uint32_t word) {
        void* to = reinterpret_cast<void*>(image);
        return images.hsa_ext_image_export_fn(gpu, hsa_ext_image_t{word}, to, 0, 0, nullptr);
    },
};

extern "C" const NewerCalls* newer_calls() {
    if (gpu.handle == 0) look();
    return &calls;
}

static void* tool(const char* function) {
    const char* name = std::getenv("NEWER_TOOL");
    void* library = name ? dlopen(name, RTLD_NOW) : nullptr;
    return library ? dlsym(library, function) : nullptr;
}

extern "C" bool OnLoad(HsaApiTable* table, uint64_t version, uint64_t failed, const char* const* names) {
    originals = *table->core_;
    original_extension = *table->amd_ext_;
    void** older = reinterpret_cast<void**>(&table->amd_ext_->version + 1);
    extension.version = {2, sizeof extension, 0, 0};
    for (size_t i = 0; i < kOlder; i++) extension.functions[i < kMoved ? i : i + 2] = older[i];
    extension.functions[kIpcCreate] = reinterpret_cast<void*>(real_ipc);
    extension.functions[kDmabuf] = reinterpret_cast<void*>(real_dmabuf);
    extension.functions[kDmabufV2] = reinterpret_cast<void*>(real_dmabuf_v2);
    extension.functions[kCreate] = reinterpret_cast<void*>(real_create);
    extension.functions[kRelease] = reinterpret_cast<void*>(real_release);
    extension.functions[kExport] = reinterpret_cast<void*>(real_share);
    extension.functions[kImport] = reinterpret_cast<void*>(real_import_handle);
    extension.functions[kFileRead] = reinterpret_cast<void*>(real_file_read);
    extension.functions[kAcquire] = reinterpret_cast<void*>(real_acquire);
    extension.functions[kReleaseQueue] = reinterpret_cast<void*>(real_release_queue);
    extension.functions[kBatchCopy] = reinterpret_cast<void*>(real_batch_copy);
    extension.functions[kSvmSet] = reinterpret_cast<void*>(real_svm_set);
    extension.functions[kMap] = reinterpret_cast<void*>(real_map);
    extension.functions[kUnmap] = reinterpret_cast<void*>(real_unmap);
    extension.functions[kSetAccess] = reinterpret_cast<void*>(real_set_access);
    extension.functions[kProperties] = reinterpret_cast<void*>(real_properties);
    images.version = {2, sizeof images, 0, 0};
    images.hsa_ext_image_destroy_fn = real_image_destroy;
    images.hsa_ext_sampler_destroy_fn = real_sampler_destroy;
    images.hsa_ext_image_clear_fn = real_clear;
    images.hsa_ext_image_copy_fn = real_copy;
    images.hsa_ext_image_import_fn = real_import;
    images.hsa_ext_image_export_fn = real_export;
    auto load = reinterpret_cast<bool (*)(HsaApiTable*, uint64_t, uint64_t, const char* const*)>(tool("OnLoad"));
    if (!load) return true;
    HsaApiTable shown = *table;
    shown.amd_ext_ = reinterpret_cast<AmdExtTable*>(&extension);
    shown.image_ext_ = &images;
    if (!load(&shown, version, failed, names)) return false;
    // What the tool has put in stands in the runtime's own table too.
    for (size_t i = 0; i < kOlder; i++) {
        if (i + 2 != kSvmSet && i + 2 != kIpcCreate) older[i] = extension.functions[i < kMoved ? i : i + 2];
    }
    return true;
}

extern "C" void OnUnload() {
    if (auto unload = reinterpret_cast<void (*)()>(tool("OnUnload"))) unload();
}
