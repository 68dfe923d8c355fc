// Agents, pools, queues, barrier packets, copies, fills, signals, timestamps, pointer queries: all through the real runtime.
#include "check.h"
#include <pthread.h>

static void agents(void) {
    char name[64];
    HSA(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
    CHECK(strcmp(name, "gfx90a") == 0);
    uint32_t wave;
    HSA(hsa_agent_get_info(gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE, &wave));
    CHECK(wave == 64);
    HSA(hsa_agent_get_info(gpu, HSA_AMD_AGENT_INFO_PRODUCT_NAME, name));
    CHECK(strstr(name, "software GPU"));
}

static void barriers(void) {
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    uint16_t and = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER;
    uint16_t or = HSA_PACKET_TYPE_BARRIER_OR | 1 << HSA_PACKET_HEADER_BARRIER;

    // Waits for both, in whatever order they fall.
    hsa_signal_t a = signal_of(1), b = signal_of(1), done = signal_of(1), after = signal_of(1);
    hsa_barrier_and_packet_t packet = {.dep_signal = {a, b}, .completion_signal = done};
    submit(queue, &packet, and);
    hsa_barrier_and_packet_t next = {.completion_signal = after};
    submit(queue, &next, and);
    hsa_signal_store_screlease(b, 0);
    CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 20000000, HSA_WAIT_STATE_BLOCKED) == 1);
    CHECK(hsa_signal_load_relaxed(after) == 1);
    hsa_signal_store_screlease(a, 0);
    CHECK(zero_within(done, 30) && zero_within(after, 30));

    // One is enough.
    hsa_signal_store_relaxed(a, 1);
    hsa_signal_store_relaxed(done, 1);
    hsa_barrier_or_packet_t any = {.dep_signal = {a, b}, .completion_signal = done};
    submit(queue, &any, or);
    CHECK(zero_within(done, 30));

    // More packets than the ring holds, several threads' worth of wrap-arounds.
    hsa_signal_t many = signal_of(1000);
    for (int i = 0; i < 1000; i++) {
        hsa_barrier_and_packet_t one = {.completion_signal = many};
        submit(queue, &one, and);
    }
    CHECK(zero_within(many, 30));

    // AMD's barrier on a value.
    hsa_signal_t value = signal_of(0x105);
    hsa_signal_store_relaxed(done, 1);
    hsa_amd_barrier_value_packet_t on_value = {
        .signal = value, .value = 7, .mask = 0xff, .cond = HSA_SIGNAL_CONDITION_GTE, .completion_signal = done};
    on_value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    submit(queue, &on_value, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER);
    CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 20000000, HSA_WAIT_STATE_BLOCKED) == 1);
    hsa_signal_store_screlease(value, 0x107);
    CHECK(zero_within(done, 30));

    // A queue can go while a packet waits.
    hsa_signal_t never = signal_of(1);
    hsa_barrier_and_packet_t stuck = {.dep_signal = {never}};
    submit(queue, &stuck, and);
    HSA(hsa_queue_destroy(queue));
}

struct producer {
    hsa_queue_t *queue;
    hsa_signal_t counter;
};

static void *produce(void *data) {
    struct producer *p = data;
    for (int i = 0; i < 3000; i++) {
        hsa_barrier_and_packet_t packet = {.completion_signal = p->counter};
        submit(p->queue, &packet, HSA_PACKET_TYPE_BARRIER_AND);
    }
    return NULL;
}

// Several threads on one queue: slots are filled and doorbells rung in any order, and later indices are overwritten by earlier ones.
static void producers(void) {
    struct producer p = {.counter = signal_of(4 * 3000)};
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &p.queue));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, produce, &p) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(zero_within(p.counter, 60));
    HSA(hsa_queue_destroy(p.queue));
}

static void copies(void) {
    size_t sizes[] = {1, 3, 64, 4096, 100001, 9 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        unsigned char *from = host_alloc(n), *to = host_alloc(n), *vram = vram_alloc(n);
        for (size_t j = 0; j < n; j++) from[j] = j * 31 + 7;
        memset(to, 0xee, n);
        hsa_signal_t first = signal_of(1), second = signal_of(1);
        HSA(hsa_amd_profiling_async_copy_enable(true));
        // The second copy waits for the first on the GPU.
        HSA(hsa_amd_memory_async_copy(vram, gpu, from, cpu, n, 0, NULL, first));
        HSA(hsa_amd_memory_async_copy(to, cpu, vram, gpu, n, 1, &first, second));
        CHECK(zero_within(second, 60));
        CHECK(memcmp(from, to, n) == 0);
        hsa_amd_profiling_async_copy_time_t time;
        HSA(hsa_amd_profiling_get_async_copy_time(second, &time));
        CHECK(time.start > 0 && time.end >= time.start);
        // Memory of the program, known to nobody.
        unsigned char *plain = malloc(n + 16);
        memset(plain, 0xdd, n + 16);
        HSA(hsa_memory_copy(plain + 5, vram, n));
        CHECK(memcmp(plain + 5, from, n) == 0 && plain[4] == 0xdd && plain[n + 5] == 0xdd);
        free(plain);
        HSA(hsa_amd_memory_pool_free(from));
        HSA(hsa_amd_memory_pool_free(to));
        HSA(hsa_amd_memory_pool_free(vram));
        HSA(hsa_signal_destroy(first));
        HSA(hsa_signal_destroy(second));
    }
}

static void fills(void) {
    size_t n = 1 << 20;
    uint32_t *vram = vram_alloc(n * 4), *back = host_alloc(n * 4);
    memset(back, 0x77, n * 4);
    HSA(hsa_memory_copy(vram, back, n * 4));
    HSA(hsa_amd_memory_fill(vram + 1, 0xdeadbeef, n - 2));
    HSA(hsa_memory_copy(back, vram, n * 4));
    CHECK(back[0] == 0x77777777 && back[n - 1] == 0x77777777);
    for (size_t i = 1; i < n - 1; i++) CHECK(back[i] == 0xdeadbeef);
    HSA(hsa_amd_memory_pool_free(vram));
    HSA(hsa_amd_memory_pool_free(back));
}

static void pointers(void) {
    void *vram = vram_alloc(3 << 20);
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    HSA(hsa_amd_pointer_info((char *)vram + 4097, &info, NULL, NULL, NULL));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == vram && info.sizeInBytes >= 3 << 20);
    CHECK(info.agentOwner.handle == gpu.handle);
    int *mine = malloc(10000), local;
    HSA(hsa_amd_pointer_info(mine, &info, NULL, NULL, NULL));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN);
    void *seen;
    HSA(hsa_amd_memory_lock(mine, 10000, &gpu, 1, &seen));
    HSA(hsa_amd_pointer_info(mine, &info, NULL, NULL, NULL));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_LOCKED);
    HSA(hsa_amd_memory_unlock(mine));
    free(mine);
    HSA(hsa_amd_memory_pool_free(vram));
}

static hsa_status_t count_memory(size_t wanted) {
    void *p;
    hsa_status_t status = hsa_amd_memory_pool_allocate(vram_pool, wanted, 0, &p);
    if (status == HSA_STATUS_SUCCESS) HSA(hsa_amd_memory_pool_free(p));
    return status;
}

static void limit(void) {
    // The test's environment sets 256 MiB.
    size_t bytes;
    HSA(hsa_amd_memory_pool_get_info(vram_pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes));
    CHECK(bytes == 256 << 20);
    CHECK(count_memory(200 << 20) == HSA_STATUS_SUCCESS);
    CHECK(count_memory(200 << 20) == HSA_STATUS_SUCCESS);
    CHECK(count_memory(257 << 20) != HSA_STATUS_SUCCESS);
}

int main(void) {
    start();
    agents();
    barriers();
    producers();
    copies();
    fills();
    pointers();
    limit();
    HSA(hsa_shut_down());
    // Again, in the same process.
    cpu.handle = gpu.handle = 0;
    start();
    copies();
    HSA(hsa_shut_down());
    puts("basics ok");
    return 0;
}
