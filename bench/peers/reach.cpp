// Whose work CUPTI's Range Profiler counts, and what that costs: reach METRIC,METRIC,…
// Sessions whose first Start is made while the context is current to the thread, and while none is; both alone on the GPU and
// beside a process that computes on it. Of each, over three windows: the median ms of Start, launch and Stop of the passes with a kernel of
// microseconds, and the values of three kernels of milliseconds, within which processes take turns.
// reach busy: such a process, until it is killed.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "launches.hpp"
#include "range_session.hpp"

#include <algorithm>
#include <cstring>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

static const size_t WRITTEN = 1 << 20;
static const int WINDOWS = 3, KERNELS = 3, TURNS = 3000000;

static __global__ void slow(unsigned* data, int turns) {
    unsigned value = threadIdx.x;
    for (int k = 0; k < turns; k++) value = value * 1664525u + 1013904223u;
    data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void slow_ones(unsigned* data) {
    for (int at = 1; at <= KERNELS; at++) slow<<<132 * at, 256>>>(data, TURNS);
    CUDA(cudaDeviceSynchronize());
}

static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Times of short kernels' passes, then the values of long ones.
static void count(const char* who, bool apart, CUcontext context, const char* list, unsigned* data) {
    RangeSession session;
    session.open(context, list, KERNELS, CUPTI_UserReplay);
    std::vector<double> starts, launches, stops;
    for (int number = 0; number < 2 * WINDOWS; number++) {
        session.program();
        for (bool done = false, begun = false; !done; begun = true) {
            double begin = now();
            session.start(apart && !number && !begun);
            double started = now();
            number < WINDOWS ? launch_all(data, WRITTEN, 1) : slow_ones(data);
            double launched = now();
            done = session.stop();
            if (!number || number >= WINDOWS) continue;
            starts.push_back(started - begin), launches.push_back(launched - started), stops.push_back(now() - launched);
        }
        size_t ranges = session.decode();
        if (number < WINDOWS) continue;
        std::printf("%s, %s:", who, apart ? "device" : "context");
        for (size_t at = 0; at < ranges; at++)
            for (double value : session.values(at)) std::printf(" %.10g", value);
        std::printf("\n");
    }
    std::printf("%s, %s: start %.3f launch %.3f stop %.3f ms\n", who, apart ? "device" : "context", median(starts), median(launches), median(stops));
    session.close();
}

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: reach METRIC,METRIC,…\n"), 2;
    unsigned* data;
    CUDA(cudaMalloc(&data, WRITTEN));
    CUDA(cudaMemset(data, 3, WRITTEN));
    for (bool busy = !std::strcmp(argv[1], "busy"); busy;) slow_ones(data);
    launch_all(data, WRITTEN, 1);
    slow_ones(data);
    CUcontext context;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return 2;
    for (bool apart : {false, true}) count("alone", apart, context, argv[1], data);
    std::fflush(stdout);
    pid_t other = fork();
    if (!other) execl("/proc/self/exe", argv[0], "busy", (char*)nullptr), _exit(2);
    sleep(2);
    for (bool apart : {false, true}) count("beside", apart, context, argv[1], data);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    return 0;
}
