// Faults that need no kernel: allocations, copies, queues, spinning; and that nothing leaks.
#include "check.h"
#include "softgpu.h"
#include <time.h>

static _Atomic int calls;
static _Atomic int seen_status;

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data) {
    seen_status = status;
    calls++;
}

static hsa_queue_t *queue_of(void) {
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    return queue;
}

static hsa_kernel_dispatch_packet_t dispatch(void *kernel, hsa_signal_t done) {
    hsa_kernel_dispatch_packet_t packet = {.setup = 1, .workgroup_size_x = 64, .workgroup_size_y = 1,
        .workgroup_size_z = 1, .grid_size_x = 64, .grid_size_y = 1, .grid_size_z = 1,
        .kernel_object = (uint64_t)kernel, .completion_signal = done};
    return packet;
}

static hsa_status_t big(hsa_amd_memory_pool_t pool) {
    void *p;
    // Large enough to go past the runtime's own allocator.
    hsa_status_t status = hsa_amd_memory_pool_allocate(pool, 8 << 20, 0, &p);
    if (status == HSA_STATUS_SUCCESS) HSA(hsa_amd_memory_pool_free(p));
    return status;
}

static void allocations(void) {
    // Twice, since the runtime gives its cached blocks back and tries again.
    CHECK(softgpu_fault_inject("alloc-fail:n=2,count=2,pool=vram") == 0);
    CHECK(big(vram_pool) == HSA_STATUS_SUCCESS);
    CHECK(big(host_pool) == HSA_STATUS_SUCCESS);
    CHECK(big(vram_pool) == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK(big(vram_pool) == HSA_STATUS_SUCCESS);
    CHECK(softgpu_fault_clear() == 0);
    CHECK(softgpu_fault_inject("alloc-fail:n=1,pool=host,count=all") == 0);
    CHECK(big(host_pool) != HSA_STATUS_SUCCESS && big(host_pool) != HSA_STATUS_SUCCESS);
    CHECK(big(vram_pool) == HSA_STATUS_SUCCESS);
    CHECK(softgpu_fault_clear() == 0);
    CHECK(softgpu_fault_inject("no such thing") == -1);
}

static void corrupt(void) {
    char *from = host_alloc(100), *to = host_alloc(100);
    memset(from, 3, 100);
    CHECK(softgpu_fault_inject("corrupt-copy:n=2") == 0);
    for (int i = 1; i <= 3; i++) {
        memset(to, 0xa5, 100);
        hsa_signal_t done = signal_of(1);
        char *vram = vram_alloc(100);
        HSA(hsa_amd_memory_async_copy(vram, gpu, from, cpu, 100, 0, NULL, done));
        CHECK(zero_within(done, 30));
        CHECK((memcmp(vram, from, 100) != 0) == (i == 2));
        HSA(hsa_amd_memory_pool_free(vram));
        HSA(hsa_signal_destroy(done));
    }
    CHECK(softgpu_fault_clear() == 0);
    HSA(hsa_amd_memory_pool_free(from));
    HSA(hsa_amd_memory_pool_free(to));
}

static void spin(void *kernel) {
    hsa_queue_t *queue = queue_of(), *other = queue_of();
    hsa_signal_t done = signal_of(1), after = signal_of(1), elsewhere = signal_of(1);
    char specification[64];
    snprintf(specification, sizeof specification, "spin:n=1,kernel=%p", kernel);
    CHECK(softgpu_fault_inject(specification) == 0);
    hsa_kernel_dispatch_packet_t packet = dispatch(kernel, done);
    submit(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    hsa_barrier_and_packet_t next = {.completion_signal = after};
    submit(queue, &next, HSA_PACKET_TYPE_BARRIER_AND);
    next.completion_signal = elsewhere;
    submit(other, &next, HSA_PACKET_TYPE_BARRIER_AND);
    // The other queue goes on.
    CHECK(zero_within(elsewhere, 30));
    CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 100000000, HSA_WAIT_STATE_BLOCKED) == 1);
    // Destroying the queue ends it, without a completion.
    HSA(hsa_queue_destroy(queue));
    CHECK(hsa_signal_load_relaxed(done) == 1 && hsa_signal_load_relaxed(after) == 1 && calls == 0);
    HSA(hsa_queue_destroy(other));
    HSA(hsa_signal_destroy(done));
    HSA(hsa_signal_destroy(after));
    HSA(hsa_signal_destroy(elsewhere));
    CHECK(softgpu_fault_clear() == 0);
}

static void queue_error(void *kernel) {
    hsa_queue_t *queue = queue_of();
    hsa_signal_t done = signal_of(1);
    CHECK(softgpu_fault_inject("queue-error:n=1") == 0);
    hsa_kernel_dispatch_packet_t packet = dispatch(kernel, done);
    submit(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    for (int i = 0; i < 30000 && !calls; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(calls == 1 && seen_status == (int)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
    CHECK(hsa_signal_load_relaxed(done) == 1);
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_signal_destroy(done));
    CHECK(softgpu_fault_clear() == 0);
}

static void foreign(void) {
    char *vram = vram_alloc(100);
    memset(vram, 1, 100);
    CHECK(softgpu_foreign_write((uint64_t)vram + 10, "xyz", 3) == 0);
    CHECK(memcmp(vram + 9, "\1xyz\1", 5) == 0);
    CHECK(softgpu_foreign_write(0x1000, "xyz", 3) == -1);
    HSA(hsa_amd_memory_pool_free(vram));
}

int main(void) {
    start();
    softgpu_load();
    // Code that is never run: the faults come before it.
    char *kernel = vram_alloc(4096);
    struct softgpu_counts before = {0}, after = {0};
    for (int round = 0; round < 3; round++) {
        calls = 0;
        allocations();
        corrupt();
        foreign();
        spin(kernel);
        queue_error(kernel);
        // The first round warms the runtime's pools up.
        CHECK(softgpu_counts_get(round < 2 ? &before : &after) == 0);
    }
    CHECK(before.vram_allocations > 0 && before.vram_allocations == after.vram_allocations);
    CHECK(before.vram_bytes == after.vram_bytes && before.host_allocations == after.host_allocations);
    CHECK(before.queues == after.queues && before.registrations == after.registrations);
    CHECK(before.events == after.events);
    CHECK(after.errors == 3 && after.completed == 0 && after.dispatches == 6);
    HSA(hsa_amd_memory_pool_free(kernel));
    HSA(hsa_shut_down());
    CHECK(softgpu_counts_get(&after) == 0);
    CHECK(after.queues == 0 && after.registrations == 0 && after.vram_bytes == 0);
    puts("faults ok");
    return 0;
}
