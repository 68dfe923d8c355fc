// What ranges count of their own: range_traffic run           launches a kernel of a few durations, for a profiler.
//                                range_traffic METRIC        the same by CUPTI's Range Profiler; then ranges with none and several.
//                                range_traffic METRIC kinds  ten kinds in turn, with a range around one of them, or around none.
// Each launch of the first writes the same words, however long it lasts: what grows with its turns, or is there without a launch,
// is not the kernel's. A launch more in a range adds what is the launch's alone.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "kinds.hpp"
#include "range_session.hpp"

#include <cstring>
#include <functional>

static const int RANGES = 20, BLOCKS = 264, THREADS = 256;
static const int TURNS[] = {0, 20000, 80000, 320000};

static __global__ void store(unsigned* data, int turns) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, value = at;
    for (int k = 0; k < turns; k++) value = value * 1664525u + 1013904223u;
    data[at] = value;
}

// RANGES ranges around what `launch` launches; after each, something else. Nothing runs on from one to the other.
using Launch = std::function<void()>;
static void count(RangeSession& session, const std::string& what, int launches, const Launch& launch, const Launch& after) {
    session.program();
    session.start();
    for (int k = 0; k < RANGES; k++) {
        session.push(std::to_string(k).c_str());
        launch();
        session.pop();
        CUDA(cudaDeviceSynchronize());
        after();
        CUDA(cudaDeviceSynchronize());
    }
    session.stop();
    std::printf("%s launches %d:", what.c_str(), launches);
    for (size_t at = 0, ranges = session.decode(); at < ranges; at++) std::printf(" %.0f", session.values(at)[0]);
    std::printf("\n");
}

static void nothing() {}

int main(int argc, char** argv) {
    bool kinds = argc == 3 && !std::strcmp(argv[2], "kinds");
    if (argc != 2 && !kinds) return std::fprintf(stderr, "usage: range_traffic run | METRIC [kinds]\n"), 2;
    unsigned* data;
    CUDA(cudaMalloc(&data, BLOCKS * THREADS * 4));
    auto turning = [&](int turns, int launches) {
        return [=] {
            for (int at = 0; at < launches; at++) store<<<BLOCKS, THREADS>>>(data, turns);
        };
    };
    turning(0, 1)();
    Kinds all;
    auto some = [&](int from, int to) {
        return [=, &all] {
            for (int kind = from; kind < to; kind++) all.launch(kind % Kinds::ALL);
        };
    };
    if (kinds) some(0, Kinds::ALL)();
    CUDA(cudaDeviceSynchronize());
    if (!std::strcmp(argv[1], "run")) {
        for (int turns : TURNS) turning(turns, RANGES)();
        CUDA(cudaDeviceSynchronize());
        return 0;
    }
    CUcontext context;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return 2;
    RangeSession session;
    session.range = CUPTI_UserRange;
    session.open(context, argv[1], RANGES, CUPTI_UserReplay);
    if (session.passes != 1) return std::fprintf(stderr, "%s needs %zu passes\n", argv[1], session.passes), 2;
    if (kinds) {
        // Each kind finds what the others left, as in ten_kinds.
        for (int kind = 0; kind < Kinds::ALL; kind++)
            for (int launches : {0, 1})
                count(session, "kind " + std::to_string(kind), launches, some(kind, kind + launches), some(kind + launches, kind + Kinds::ALL));
    } else {
        for (int turns : TURNS) count(session, "turns " + std::to_string(turns), 1, turning(turns, 1), nothing);
        for (int launches : {0, 2, 4, 8}) count(session, "turns 0", launches, turning(0, launches), nothing);
    }
    session.close();
    return 0;
}
