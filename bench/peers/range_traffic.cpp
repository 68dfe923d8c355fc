// What ranges count of their own: range_traffic run     launches a kernel of a few durations, for a profiler.
//                                range_traffic METRIC  the same by CUPTI's Range Profiler; then none, one and several in a range.
// Each launch writes the same words, however long it lasts: what grows with its turns, or is there without a launch, is not the
// kernel's.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "launches.hpp"
#include "range_session.hpp"

#include <cstring>

static const int LAUNCHES = 20, BLOCKS = 264, THREADS = 256;
static const int TURNS[] = {0, 20000, 80000, 320000};

static __global__ void store(unsigned* data, int turns) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, value = at;
    for (int k = 0; k < turns; k++) value = value * 1664525u + 1013904223u;
    data[at] = value;
}

static void launch(unsigned* data, int turns, int launches) {
    for (int k = 0; k < launches; k++) store<<<BLOCKS, THREADS>>>(data, turns);
}

// LAUNCHES ranges of so many launches each.
static void count(RangeSession& session, unsigned* data, int turns, int launches) {
    session.program();
    session.start();
    for (int k = 0; k < LAUNCHES; k++) {
        session.push(std::to_string(k).c_str());
        launch(data, turns, launches);
        session.pop();
    }
    CUDA(cudaDeviceSynchronize());
    session.stop();
    std::printf("turns %d launches %d:", turns, launches);
    for (size_t at = 0, ranges = session.decode(); at < ranges; at++) std::printf(" %.0f", session.values(at)[0]);
    std::printf("\n");
}

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: range_traffic run|METRIC\n"), 2;
    unsigned* data;
    CUDA(cudaMalloc(&data, BLOCKS * THREADS * 4));
    launch(data, 0, 1);
    CUDA(cudaDeviceSynchronize());
    if (!std::strcmp(argv[1], "run")) {
        for (int turns : TURNS) launch(data, turns, LAUNCHES);
        CUDA(cudaDeviceSynchronize());
        return 0;
    }
    CUcontext context;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return 2;
    RangeSession session;
    session.range = CUPTI_UserRange;
    session.open(context, argv[1], LAUNCHES, CUPTI_UserReplay);
    for (int turns : TURNS) count(session, data, turns, 1);
    for (int launches : {0, 2, 4, 8}) count(session, data, 0, launches);
    session.close();
    return 0;
}
