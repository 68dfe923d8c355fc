// The kernel workload of the peer benchmarks: in_place RESIDENT_MIB DISPATCHES WRITTEN_KIB
// An in-place integer recurrence: any pass that starts from the wrong memory makes the final check fail.
#include "check.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ unsigned next(unsigned v) { return v * 1664525u + 1013904223u; }

__global__ void step(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = next(data[i]);
}

__global__ void fill(unsigned* data, size_t count, unsigned seed) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = unsigned(i * 2654435761u) ^ seed;
}

int main(int argc, char** argv) {
    if (argc != 4) return std::fprintf(stderr, "usage: in_place RESIDENT_MIB DISPATCHES WRITTEN_KIB\n"), 2;
    size_t resident = size_t(std::atoll(argv[1])) << 20, written = size_t(std::atoll(argv[3])) << 10;
    int dispatches = std::atoi(argv[2]);
    unsigned *ballast = nullptr, *data = nullptr;
    if (resident) {
        CUDA(cudaMalloc(&ballast, resident));
        fill<<<1024, 256>>>(ballast, resident / 4, 7);
    }
    CUDA(cudaMalloc(&data, written));
    fill<<<1024, 256>>>(data, written / 4, 3);
    CUDA(cudaDeviceSynchronize());
    auto start = std::chrono::steady_clock::now(), middle = start;
    for (int i = 0; i < dispatches; i++) {
        // What happens once, at the first launch of a kernel, is in the first half.
        if (i == dispatches / 2) middle = std::chrono::steady_clock::now();
        step<<<264, 256>>>(data, written / 4);
    }
    CUDA(cudaDeviceSynchronize());
    auto end = std::chrono::steady_clock::now();
    auto since = [end](auto from) { return std::chrono::duration<double, std::milli>(end - from).count(); };
    double ms = since(start);
    std::vector<unsigned> host(written / 4);
    CUDA(cudaMemcpy(host.data(), data, written, cudaMemcpyDeviceToHost));
    // All steps at once, by doubling, so that the check costs the same for any number of them.
    unsigned factor = 1, added = 0, step_factor = 1664525u, step_added = 1013904223u;
    for (unsigned left = unsigned(dispatches); left; left /= 2) {
        if (left & 1) factor *= step_factor, added = added * step_factor + step_added;
        step_added *= step_factor + 1;
        step_factor *= step_factor;
    }
    size_t wrong = 0;
    for (size_t i = 0; i < host.size(); i++) wrong += (unsigned(i * 2654435761u) ^ 3) * factor + added != host[i];
    std::printf("resident %zu MiB dispatches %d written %zu KiB loop %.3f ms half %.3f ms wrong %zu\n", resident >> 20, dispatches,
                written >> 10, ms, since(middle), wrong);
    return wrong != 0;
}
