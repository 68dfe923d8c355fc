// What cannot be executed becomes an error that the program sees, and never a completion.
#include "check.h"
#include <time.h>

struct seen {
    _Atomic int calls;
    _Atomic int status;
    hsa_queue_t *queue;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data) {
    struct seen *seen = data;
    seen->queue = queue;
    seen->status = status;
    seen->calls++;
}

static bool within(_Atomic int *what, int value, int seconds) {
    for (int i = 0; i < seconds * 1000; i++) {
        if (*what == value) return true;
        struct timespec ms = {.tv_nsec = 1000000};
        nanosleep(&ms, NULL);
    }
    return false;
}

static void expect(const char *name, const void *packet, uint16_t header, hsa_status_t wanted) {
    struct seen seen = {0};
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, &seen, UINT32_MAX, UINT32_MAX, &queue));
    hsa_signal_t done = signal_of(1), after = signal_of(1);
    hsa_barrier_and_packet_t bad;
    memcpy(&bad, packet, sizeof bad);
    bad.completion_signal = done;
    submit(queue, &bad, header);
    hsa_barrier_and_packet_t next = {.completion_signal = after};
    submit(queue, &next, HSA_PACKET_TYPE_BARRIER_AND);
    if (!within(&seen.calls, 1, 30) || seen.status != wanted || seen.queue != queue) {
        fprintf(stderr, "%s: %d calls, status 0x%x, wanted 0x%x\n", name, seen.calls, seen.status, wanted);
        exit(1);
    }
    CHECK(hsa_signal_load_scacquire(done) == 1);
    CHECK(hsa_signal_load_scacquire(after) == 1);
    HSA(hsa_queue_destroy(queue));
    CHECK(seen.calls == 1);
}

static hsa_kernel_dispatch_packet_t dispatch(void *kernel) {
    hsa_kernel_dispatch_packet_t packet = {.setup = 1, .workgroup_size_x = 64, .workgroup_size_y = 1,
        .workgroup_size_z = 1, .grid_size_x = 64, .grid_size_y = 1, .grid_size_z = 1,
        .kernel_object = (uint64_t)kernel};
    return packet;
}

static _Atomic int faults;
static _Atomic uint64_t fault_address;

static hsa_status_t on_event(const hsa_amd_event_t *event, void *data) {
    CHECK(event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT);
    CHECK(event->memory_fault.agent.handle == gpu.handle);
    CHECK(event->memory_fault.fault_reason_mask & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
    fault_address = event->memory_fault.virtual_address;
    faults++;
    return HSA_STATUS_SUCCESS;
}

// A copy from memory that is gone, with nobody to handle it: the runtime ends the program, as on a real GPU.
static void copy_from_freed(void) {
    char *host = host_alloc(8 << 20), *vram = vram_alloc(8 << 20);
    HSA(hsa_amd_memory_pool_free(vram));
    hsa_signal_t done = signal_of(1);
    HSA(hsa_amd_memory_async_copy(host, cpu, vram, gpu, 4096, 0, NULL, done));
    zero_within(done, 30);
    puts("the copy went through");
    exit(0);
}

int main(int argc, char **argv) {
    start();
    if (argc > 1 && strcmp(argv[1], "copy-from-freed") == 0) copy_from_freed();
    bool memory_event = !(argc > 1 && strcmp(argv[1], "no-event") == 0);
    HSA(hsa_amd_register_system_event_handler(on_event, NULL));
    uint64_t nothing[8] = {0};
    expect("agent dispatch", nothing, HSA_PACKET_TYPE_AGENT_DISPATCH, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    expect("unknown type", nothing, 77, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    hsa_amd_barrier_value_packet_t vendor = {.header.AmdFormat = 9};
    expect("unknown vendor format", &vendor, 0, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);

    char *code = vram_alloc(4096);
    hsa_kernel_dispatch_packet_t packet = dispatch(code);
    packet.workgroup_size_y = 0;
    expect("work-group of zero", &packet, 2, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    packet = dispatch(code), packet.grid_size_x = 0;
    expect("grid of zero", &packet, 2, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    packet = dispatch(code), packet.setup = 0;
    expect("no dimensions", &packet, 2, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    packet = dispatch(code), packet.workgroup_size_y = 17;
    expect("work-group too large", &packet, 2, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    packet = dispatch(code), packet.group_segment_size = 65537;
    expect("too much LDS", &packet, 2, HSA_STATUS_ERROR_INVALID_ALLOCATION);
    packet = dispatch(NULL);
    expect("no kernel", &packet, 2, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    packet = dispatch(code + 32);
    expect("unaligned kernel", &packet, 2, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    packet = dispatch((void *)0x10000);
    expect("unmapped kernel", &packet, 2, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);

    // PM4 that is not known, in a buffer that is.
    uint32_t *pm4 = host_alloc(4096);
    pm4[0] = 0xc0000000u | 0x77 << 8;
    uint32_t words[16] = {1u << 16, 0xc0023f00u, (uint32_t)(uint64_t)pm4, (uint64_t)pm4 >> 32, 2 | 1 << 23, 10};
    expect("unknown PM4", words, 0, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    words[3] ^= 0x80;
    CHECK(faults == 0);
    // A buffer that is not: a memory fault.
    expect("unmapped PM4", words, 0, (hsa_status_t)HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
    if (memory_event) {
        CHECK(within(&faults, 1, 30));
        CHECK(fault_address == ((uint64_t)pm4 ^ 0x8000000000ull));
    }

    // The device goes on.
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    hsa_signal_t done = signal_of(1);
    hsa_barrier_and_packet_t good = {.completion_signal = done};
    submit(queue, &good, HSA_PACKET_TYPE_BARRIER_AND);
    CHECK(zero_within(done, 30));
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_shut_down());
    puts("errors ok");
    return 0;
}
