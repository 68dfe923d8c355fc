// Host threads that allocate, copy, launch and free at the same time, each on a stream of its own.
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define HIP(call)                                                                                     \
    do {                                                                                              \
        hipError_t error_ = (call);                                                                   \
        if (error_ != hipSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s from %s\n", __FILE__, __LINE__, hipGetErrorString(error_), #call); \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

__global__ void mix(unsigned *x, int n, unsigned key) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = x[i] * 1664525u + key;
}
__global__ void tally(const unsigned *x, int n, unsigned long long *sum) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, (unsigned long long)x[i]);
}

static std::atomic<unsigned long long> expected;

static void work(unsigned thread, unsigned long long *sum) {
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    for (unsigned round = 0; round < 12; round++) {
        // Past and below what the runtime allocates in one piece.
        int n = 1000 + 77777 * (round % 3) * (thread % 2 + 1);
        std::vector<unsigned> host(n, thread);
        unsigned *x;
        HIP(hipMalloc(&x, n * 4));
        HIP(hipMemcpyAsync(x, host.data(), n * 4, hipMemcpyHostToDevice, stream));
        for (unsigned k = 0; k < 3; k++) mix<<<4, 256, 0, stream>>>(x, n, round + k);
        tally<<<2, 64, 0, stream>>>(x, n, sum);
        HIP(hipMemcpyAsync(host.data(), x, n * 4, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        unsigned want = thread;
        for (unsigned k = 0; k < 3; k++) want = want * 1664525u + round + k;
        for (unsigned v : host)
            if (v != want) fprintf(stderr, "thread %u, round %u: %u, not %u\n", thread, round, v, want), exit(1);
        expected += (unsigned long long)want * n;
        HIP(hipFree(x));
    }
    HIP(hipStreamDestroy(stream));
}

int main() {
    unsigned long long *sum;
    HIP(hipMalloc(&sum, 8));
    HIP(hipMemset(sum, 0, 8));
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; t++) threads.emplace_back(work, t, sum);
    for (auto &t : threads) t.join();
    unsigned long long got;
    HIP(hipMemcpy(&got, sum, 8, hipMemcpyDeviceToHost));
    if (got != expected) return fprintf(stderr, "sum %llu, not %llu\n", got, expected.load()), 1;
    puts("threads ok");
    return 0;
}
