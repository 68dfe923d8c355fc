// Peers by CUPTI's Range Profiler, around the launches of an in-place kernel; every launch is a range (AutoRange).
// range_replay RESIDENT_MIB DISPATCHES WRITTEN_KIB METRIC,METRIC,… [kernel|user]   prints the loop's time in ms and the passes.
// kernel: CUPTI's own kernel replay, memory handling included. user: CUPTI's bare window: for each pass Start, all launches,
// Stop, and nothing is put back, so only the counting is measured; the first Start, which prepares the hardware once, is
// printed apart and counted as the others' mean.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "range_session.hpp"

#include <cuda_runtime.h>
#include <chrono>

#define CUDA(call)                                                                           \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_) std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_)), std::exit(2); \
    } while (0)

__global__ void step(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = data[i] * 1664525u + 1013904223u;
}

static double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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
    auto& image = session.image;
    auto* object = session.object;
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = object;
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = object;
    auto launch_all = [&] {
        for (int i = 0; i < dispatches; i++) step<<<264, 256>>>(data, written / 4);
        CUDA(cudaDeviceSynchronize());
    };
    double ms = 0, first = 0;
    CUDA(cudaDeviceSynchronize());
    if (user) {
        double starts = 0;
        size_t pass = 0;
        for (bool done = false; !done; pass++) {
            double begin = now();
            CUPTI(cuptiRangeProfilerStart(&start));
            double started = now();
            (pass ? starts : first) += started - begin;
            launch_all();
            CUPTI(cuptiRangeProfilerStop(&stop));
            ms += now() - started;
            done = stop.isAllPassSubmitted;
        }
        ms += pass > 1 ? starts * pass / (pass - 1) : first;
    } else {
        CUPTI(cuptiRangeProfilerStart(&start));
        double begin = now();
        launch_all();
        ms = now() - begin;
        CUPTI(cuptiRangeProfilerStop(&stop));
    }
    double decoding = now();
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = object;
    CUPTI(cuptiRangeProfilerDecodeData(&decode));
    if (user) ms += now() - decoding;
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    CUPTI(cuptiRangeProfilerGetCounterDataInfo(&info));
    std::printf("passes %zu ranges %zu loop %.3f ms first start %.3f ms\n", session.passes, info.numTotalRanges, ms, first);
    std::vector<double> values(metrics.size());
    PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    evaluate.pHostObject = session.host;
    evaluate.pCounterDataImage = image.data();
    evaluate.counterDataImageSize = image.size();
    evaluate.ppMetricNames = metrics.data();
    evaluate.numMetrics = metrics.size();
    evaluate.pMetricValues = values.data();
    CUPTI(cuptiProfilerHostEvaluateToGpuValues(&evaluate));
    for (size_t i = 0; i < metrics.size(); i++) std::printf("value %s %.17g\n", metrics[i], values[i]);
    return int(info.numTotalRanges) != dispatches;
}
