// Peers by CUPTI's Range Profiler, around the launches of an in-place kernel; every launch is a range (AutoRange).
// range_replay RESIDENT_MIB DISPATCHES WRITTEN_KIB METRIC,METRIC,… [kernel|user]   prints the loop's time in ms and the passes.
// kernel: CUPTI's own kernel replay, memory handling included. user: CUPTI's bare window: for each pass Start, all launches,
// Stop, and nothing is put back, so only the counting is measured; the first Start, which prepares the hardware once, is
// printed apart and counted as the others' mean.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "launches.hpp"
#include "range_session.hpp"

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) return 2;
    bool user = argc == 6 && std::string(argv[5]) == "user";
    size_t resident = size_t(std::atoll(argv[1])) << 20, written = size_t(std::atoll(argv[3])) << 10;
    int dispatches = std::atoi(argv[2]);
    unsigned *ballast, *data;
    if (resident) CUDA(cudaMalloc(&ballast, resident));
    CUDA(cudaMalloc(&data, written));
    CUDA(cudaMemset(data, 3, written));
    CUcontext context;
    cuCtxGetCurrent(&context);
    RangeSession session;
    session.open(context, argv[4], dispatches, user ? CUPTI_UserReplay : CUPTI_KernelReplay);
    auto& metrics = session.metrics;
    double ms = 0, first = 0;
    CUDA(cudaDeviceSynchronize());
    if (user) {
        double starts = 0;
        size_t pass = 0;
        for (bool done = false; !done; pass++) {
            double begin = now();
            session.start();
            double started = now();
            (pass ? starts : first) += started - begin;
            launch_all(data, written, dispatches);
            done = session.stop();
            ms += now() - started;
        }
        ms += pass > 1 ? starts * pass / (pass - 1) : first;
    } else {
        session.start();
        double begin = now();
        launch_all(data, written, dispatches);
        ms = now() - begin;
        session.stop();
    }
    double decoding = now();
    size_t ranges = session.decode();
    if (user) ms += now() - decoding;
    std::printf("passes %zu ranges %zu loop %.3f ms first start %.3f ms\n", session.passes, ranges, ms, first);
    std::vector<double> values = session.values(0);
    for (size_t i = 0; i < metrics.size(); i++) std::printf("value %s %.17g\n", metrics[i], values[i]);
    return int(ranges) != dispatches;
}
