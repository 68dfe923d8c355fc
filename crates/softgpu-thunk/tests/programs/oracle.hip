// The write oracle against what a kernel is known to write, and faults in what a kernel writes.
#include <hip/hip_runtime.h>

#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "softgpu.h"

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)
#define HIP(call) CHECK((call) == hipSuccess)

const int pages = 4, ints = pages * 1024;

// Every third int gets its index; the others are not touched.
__global__ void thirds(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0) x[i] = i;
}

__global__ void bump(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&x[i], i == 7 ? 0 : 256);
}

static std::vector<int> host(const int *p, int n) {
    std::vector<int> v(n);
    HIP(hipMemcpy(v.data(), p, n * 4, hipMemcpyDeviceToHost));
    return v;
}

static void run(int *x) {
    thirds<<<(ints + 255) / 256, 256>>>(x, ints);
    HIP(hipDeviceSynchronize());
}

int main() {
    int *x, *other;
    HIP(hipMalloc(&x, ints * 4));
    HIP(hipMalloc(&other, ints * 4));
    // The first launch uploads the module's code, with a kernel of the runtime.
    run(x);
    HIP(hipMemset(x, 0, ints * 4));
    HIP(hipMemset(other, 0, ints * 4));
    HIP(hipDeviceSynchronize());
    softgpu_load();
    CHECK(softgpu_oracle_keep(1) == 0);

    std::vector<softgpu_range> stored(ints), changed(ints);
    size_t n_stored = 1, n_changed = 1;
    uint64_t dispatch = 0;
    run(x);
    // Too small an array says how large it must be, and loses nothing.
    CHECK(softgpu_oracle_take(0, &dispatch, stored.data(), &n_stored, changed.data(), &n_changed) == -1);
    const size_t thirds_count = (ints + 2) / 3;
    CHECK(n_stored == thirds_count);
    n_stored = n_changed = ints;
    CHECK(softgpu_oracle_take(0, &dispatch, stored.data(), &n_stored, changed.data(), &n_changed) == 1);
    CHECK(dispatch > 0 && n_stored == thirds_count);
    // Values were zero: a byte changes where the index has one, and runs join.
    std::vector<softgpu_range> want;
    for (int i = 0; i < ints; i++) {
        if (i % 3 == 0) CHECK(stored[i / 3].address == (uint64_t)(x + i) && stored[i / 3].bytes == 4);
        for (int b = 0; b < 4; b++) {
            uint64_t at = (uint64_t)(x + i) + b;
            if (i % 3 || !(i >> 8 * b & 255)) continue;
            if (!want.empty() && want.back().address + want.back().bytes == at) want.back().bytes++;
            else want.push_back({at, 1});
        }
    }
    CHECK(n_changed == want.size());
    CHECK(memcmp(changed.data(), want.data(), n_changed * sizeof(softgpu_range)) == 0);

    // The same again stores and changes nothing.
    run(x);
    n_stored = n_changed = ints;
    CHECK(softgpu_oracle_take(0, &dispatch, stored.data(), &n_stored, changed.data(), &n_changed) == 1);
    CHECK(n_stored == thirds_count && n_changed == 0);
    CHECK(softgpu_oracle_take(0, &dispatch, stored.data(), &n_stored, changed.data(), &n_changed) == 0);

    // Atomics.
    bump<<<1, 64>>>(other, 64);
    HIP(hipDeviceSynchronize());
    n_stored = n_changed = ints;
    CHECK(softgpu_oracle_take(0, &dispatch, stored.data(), &n_stored, changed.data(), &n_changed) == 1);
    CHECK(n_stored == 1 && stored[0].address == (uint64_t)other && stored[0].bytes == 256);
    CHECK(n_changed == 63 && changed[0].address == (uint64_t)other + 1 && changed[0].bytes == 1);
    CHECK(softgpu_oracle_keep(0) == 0);

    // A missed write: what the first chunk should hold is not there, the rest is.
    HIP(hipMemset(x, 0xff, ints * 4));
    HIP(hipDeviceSynchronize());
    CHECK(softgpu_fault_inject("missed-write:n=1,chunk=4096") == 0);
    run(x);
    auto v = host(x, ints);
    for (int i = 0; i < ints; i++) CHECK(v[i] == (i % 3 || i < 1024 ? -1 : i));
    CHECK(softgpu_fault_clear() == 0);

    // An escaped write, where it is told to be.
    auto before = host(other, ints);
    char text[100];
    snprintf(text, sizeof text, "escaped-write:n=2,address=%p", (void *)(other + 1500));
    CHECK(softgpu_fault_inject(text) == 0);
    run(x);
    CHECK(host(other, ints) == before);
    run(x);
    auto after = host(other, ints);
    for (int i = 0; i < ints; i++) CHECK((before[i] != after[i]) == (i == 1500));
    CHECK(softgpu_fault_clear() == 0);

    // Without an address it is in the page behind those that the kernel wrote.
    before = host(other, ints);
    CHECK(softgpu_fault_inject("escaped-write:n=1") == 0);
    bump<<<1, 64>>>(other, 64);
    after = host(other, ints);
    for (int i = 64; i < ints; i++) CHECK((before[i] ^ after[i]) == (i == 1024 ? 0x5a : 0));
    CHECK(softgpu_fault_clear() == 0);

    // Somebody else's write before the dispatch.
    snprintf(text, sizeof text, "foreign-write:n=1,address=%p,bytes=0102", (void *)(other + 9));
    CHECK(softgpu_fault_inject(text) == 0);
    run(x);
    CHECK((host(other, 10)[9] & 0xffff) == 0x0201);
    CHECK(softgpu_fault_clear() == 0);

    // A dispatch that hangs, until the fault is taken out; then it is as any other.
    HIP(hipMemset(x, 0xff, ints * 4));
    HIP(hipDeviceSynchronize());
    CHECK(softgpu_fault_inject("spin:n=1") == 0);
    thirds<<<(ints + 255) / 256, 256>>>(x, ints);
    usleep(50000);
    CHECK(hipStreamQuery(nullptr) == hipErrorNotReady);
    CHECK(softgpu_fault_clear() == 0);
    HIP(hipDeviceSynchronize());
    v = host(x, ints);
    for (int i = 0; i < ints; i++) CHECK(v[i] == (i % 3 ? -1 : i));

    // A completion that never comes, of a kernel that did run.
    HIP(hipMemset(x, 0xff, ints * 4));
    HIP(hipDeviceSynchronize());
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    CHECK(softgpu_fault_inject("drop-signal:n=1") == 0);
    hipEvent_t event;
    HIP(hipEventCreate(&event));
    thirds<<<(ints + 255) / 256, 256, 0, stream>>>(x, ints);
    HIP(hipEventRecord(event, stream));
    volatile int *seen = x;
    for (int i = 0; i < 30000 && seen[ints - 1] != ints - 1; i++) usleep(1000);
    CHECK(seen[ints - 1] == ints - 1);
    usleep(100000);
    puts("oracle ok");
    fflush(stdout);
    // HIP would wait for ever at its end.
    _exit(0);
}
