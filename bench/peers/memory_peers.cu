// The peers of the memory engine: what it costs to make P passes of a dispatch start from the same memory, by NVIDIA's
// libcheckpoint, and by whole copies to the device, to pinned and to pageable host memory.
// memory_peers RESIDENT_MIB WRITTEN_KIB PASSES DISPATCHES METHOD   (checkpoint, checkpoint_transfer, device, pinned, pageable)
// Prints ms a dispatch, and whether the in-place kernel came out right. nvcc -lcuda -lcheckpoint
#include "launches.hpp"

#include <cuda.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// The library's interface, by its published layout.
struct Checkpoint {
    size_t size = 48;
    CUcontext context = nullptr;
    size_t reserve_device_mib = 0, reserve_host_mib = 0;
    uint8_t allow_overwrite = 1, optimizations = 0;
    void* priv = nullptr;
};
static_assert(sizeof(Checkpoint) == 48);
extern "C" int cuptiCheckpointSave(Checkpoint*);
extern "C" int cuptiCheckpointRestore(Checkpoint*);
extern "C" int cuptiCheckpointFree(Checkpoint*);

#define NEED(call)                                                                           \
    do {                                                                                     \
        int status_ = (call);                                                                \
        if (status_) std::fprintf(stderr, "%s: %d\n", #call, status_), std::exit(2);         \
    } while (0)

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    size_t resident = size_t(std::atoll(argv[1])) << 20, written = size_t(std::atoll(argv[2])) << 10;
    int passes = std::atoi(argv[3]), dispatches = std::atoi(argv[4]);
    std::string method = argv[5];
    char* ballast = nullptr;
    unsigned* data;
    if (resident) {
        CUDA(cudaMalloc(&ballast, resident));
        CUDA(cudaMemset(ballast, 5, resident));
    }
    CUDA(cudaMalloc(&data, written));
    CUDA(cudaMemset(data, 0, written));
    char *copy_big = nullptr, *copy_small = nullptr;
    if (method == "device") {
        if (resident) CUDA(cudaMalloc(&copy_big, resident));
        CUDA(cudaMalloc(&copy_small, written));
    } else if (method == "pinned") {
        if (resident) CUDA(cudaMallocHost(&copy_big, resident));
        CUDA(cudaMallocHost(&copy_small, written));
    }
    Checkpoint checkpoint;
    cuCtxGetCurrent(&checkpoint.context);
    checkpoint.optimizations = method == "checkpoint_transfer";
    bool library = method.rfind("checkpoint", 0) == 0;
    std::vector<double> times;
    for (int d = 0; d < dispatches; d++) {
        CUDA(cudaDeviceSynchronize());
        double begin = now();
        if (method == "pageable") {
            // As the plain way does: fresh host memory for each capture.
            if (resident) copy_big = static_cast<char*>(std::malloc(resident));
            copy_small = static_cast<char*>(std::malloc(written));
        }
        if (library) {
            NEED(cuptiCheckpointSave(&checkpoint));
        } else {
            if (resident) CUDA(cudaMemcpy(copy_big, ballast, resident, cudaMemcpyDefault));
            CUDA(cudaMemcpy(copy_small, data, written, cudaMemcpyDefault));
        }
        for (int pass = 0; pass < passes; pass++) {
            if (pass) {
                if (library) {
                    NEED(cuptiCheckpointRestore(&checkpoint));
                } else {
                    if (resident) CUDA(cudaMemcpy(ballast, copy_big, resident, cudaMemcpyDefault));
                    CUDA(cudaMemcpy(data, copy_small, written, cudaMemcpyDefault));
                }
            }
            step<<<264, 256>>>(data, written / 4);
            CUDA(cudaDeviceSynchronize());
        }
        if (library) NEED(cuptiCheckpointFree(&checkpoint));
        if (method == "pageable") {
            std::free(copy_big);
            std::free(copy_small);
        }
        times.push_back(now() - begin);
    }
    std::vector<unsigned> found(written / 4);
    CUDA(cudaMemcpy(found.data(), data, written, cudaMemcpyDefault));
    unsigned expected = 0;
    for (int d = 0; d < dispatches; d++) expected = expected * 1664525u + 1013904223u;
    size_t wrong = std::count_if(found.begin(), found.end(), [&](unsigned v) { return v != expected; });
    std::sort(times.begin(), times.end());
    std::printf("median %.4f min %.4f max %.4f n %zu wrong %zu\n", times[times.size() / 2], times.front(), times.back(), times.size(), wrong);
    return wrong != 0;
}
