// What every test program uses: a check that says where it failed, and the agents and pools.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);        \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)
#define HSA(call)                                                                          \
    do {                                                                                   \
        hsa_status_t status_ = (call);                                                     \
        if (status_ != HSA_STATUS_SUCCESS) {                                               \
            fprintf(stderr, "%s:%d: 0x%x from %s\n", __FILE__, __LINE__, status_, #call);  \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, kernarg_pool, vram_pool;

static hsa_status_t note_agent(hsa_agent_t agent, void *data) {
    hsa_device_type_t type;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_GPU) {
        CHECK(gpu.handle == 0);
        gpu = agent;
    } else {
        cpu = agent;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void *data) {
    hsa_amd_segment_t segment;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    uint32_t flags;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (*(bool *)data) {
        if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) vram_pool = pool;
    } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
        kernarg_pool = pool;
    } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) {
        host_pool = pool;
    }
    return HSA_STATUS_SUCCESS;
}

static void start(void) {
    HSA(hsa_init());
    HSA(hsa_iterate_agents(note_agent, NULL));
    CHECK(gpu.handle != 0 && cpu.handle != 0);
    bool of_gpu = true;
    HSA(hsa_amd_agent_iterate_memory_pools(gpu, note_pool, &of_gpu));
    of_gpu = false;
    HSA(hsa_amd_agent_iterate_memory_pools(cpu, note_pool, &of_gpu));
    if (host_pool.handle == 0) host_pool = kernarg_pool;
    CHECK(host_pool.handle && kernarg_pool.handle && vram_pool.handle);
}

static void *host_alloc(size_t bytes) {
    void *p = NULL;
    HSA(hsa_amd_memory_pool_allocate(host_pool, bytes, 0, &p));
    HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, p));
    return p;
}

static void *vram_alloc(size_t bytes) {
    void *p = NULL;
    HSA(hsa_amd_memory_pool_allocate(vram_pool, bytes, 0, &p));
    return p;
}

static hsa_signal_t signal_of(hsa_signal_value_t value) {
    hsa_signal_t signal;
    HSA(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

// Seconds are a bound against hanging, not a measurement.
static bool zero_within(hsa_signal_t signal, unsigned seconds) {
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, seconds * 1000000000ull,
                                     HSA_WAIT_STATE_BLOCKED) == 0;
}

// Writes a packet's body, then its header, then rings.
static void submit(hsa_queue_t *queue, const void *packet, uint16_t header) {
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {}
    char *slot = (char *)queue->base_address + (index % queue->size) * 64;
    memcpy(slot + 2, (const char *)packet + 2, 62);
    __atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, index);
}
