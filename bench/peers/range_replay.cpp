// Peers by CUPTI's Range Profiler, around the launches of an in-place kernel; every launch is a range (AutoRange).
// range_replay RESIDENT_MIB DISPATCHES WRITTEN_KIB METRIC,METRIC,… [kernel|user]   prints the loop's time in ms and the passes.
// kernel: CUPTI's own kernel replay, memory handling included. user: CUPTI's bare window: for each pass Start, all launches,
// Stop, and nothing is put back, so only the counting is measured; the first Start, which prepares the hardware once, is
// printed apart and counted as the others' mean.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CUPTI(call)                                                                          \
    do {                                                                                     \
        CUptiResult status_ = (call);                                                        \
        if (status_ != CUPTI_SUCCESS) std::fprintf(stderr, "%s: %d\n", #call, status_), std::exit(2); \
    } while (0)
#define CUDA(call)                                                                           \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_) std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_)), std::exit(2); \
    } while (0)
#define PARAMS(type, name) type name = {type##_STRUCT_SIZE}

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
    std::vector<std::string> names;
    for (std::string rest = argv[4]; !rest.empty();) {
        size_t comma = rest.find(',');
        names.push_back(rest.substr(0, comma));
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    std::vector<const char*> metrics;
    for (auto& name : names) metrics.push_back(name.c_str());
    unsigned *ballast, *data;
    if (resident) CUDA(cudaMalloc(&ballast, resident));
    CUDA(cudaMalloc(&data, written));
    CUDA(cudaMemset(data, 3, written));
    CUcontext context;
    cuCtxGetCurrent(&context);
    PARAMS(CUpti_Profiler_Initialize_Params, init);
    CUPTI(cuptiProfilerInitialize(&init));
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    CUPTI(cuptiDeviceGetChipName(&chip));
    PARAMS(CUpti_Profiler_GetCounterAvailability_Params, available);
    available.ctx = context;
    CUPTI(cuptiProfilerGetCounterAvailability(&available));
    std::vector<uint8_t> availability(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    CUPTI(cuptiProfilerGetCounterAvailability(&available));
    PARAMS(CUpti_Profiler_Host_Initialize_Params, host);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip.pChipName;
    host.pCounterAvailabilityImage = availability.data();
    CUPTI(cuptiProfilerHostInitialize(&host));
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = host.pHostObject;
    add.ppMetricNames = metrics.data();
    add.numMetrics = metrics.size();
    CUPTI(cuptiProfilerHostConfigAddMetrics(&add));
    PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = host.pHostObject;
    CUPTI(cuptiProfilerHostGetConfigImageSize(&size));
    std::vector<uint8_t> config(size.configImageSize);
    PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = host.pHostObject;
    get.configImageSize = config.size();
    get.pConfigImage = config.data();
    CUPTI(cuptiProfilerHostGetConfigImage(&get));
    PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = config.size();
    passes.pConfigImage = config.data();
    CUPTI(cuptiProfilerHostGetNumOfPasses(&passes));
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context;
    CUPTI(cuptiRangeProfilerEnable(&enable));
    auto* object = enable.pRangeProfilerObject;
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, bytes);
    bytes.pRangeProfilerObject = object;
    bytes.pMetricNames = metrics.data();
    bytes.numMetrics = metrics.size();
    bytes.maxNumOfRanges = dispatches;
    bytes.maxNumRangeTreeNodes = dispatches;
    CUPTI(cuptiRangeProfilerGetCounterDataSize(&bytes));
    std::vector<uint8_t> image(bytes.counterDataSize);
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, empty);
    empty.pRangeProfilerObject = object;
    empty.counterDataSize = image.size();
    empty.pCounterData = image.data();
    CUPTI(cuptiRangeProfilerCounterDataImageInitialize(&empty));
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = object;
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = image.size();
    set.pCounterDataImage = image.data();
    set.range = CUPTI_AutoRange;
    set.replayMode = user ? CUPTI_UserReplay : CUPTI_KernelReplay;
    set.maxRangesPerPass = dispatches;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    CUPTI(cuptiRangeProfilerSetConfig(&set));
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
    std::printf("passes %zu ranges %zu loop %.3f ms first start %.3f ms\n", passes.numOfPasses, info.numTotalRanges, ms, first);
    std::vector<double> values(metrics.size());
    PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    evaluate.pHostObject = host.pHostObject;
    evaluate.pCounterDataImage = image.data();
    evaluate.counterDataImageSize = image.size();
    evaluate.ppMetricNames = metrics.data();
    evaluate.numMetrics = metrics.size();
    evaluate.pMetricValues = values.data();
    CUPTI(cuptiProfilerHostEvaluateToGpuValues(&evaluate));
    for (size_t i = 0; i < names.size(); i++) std::printf("value %s %.17g\n", names[i].c_str(), values[i]);
    return int(info.numTotalRanges) != dispatches;
}
