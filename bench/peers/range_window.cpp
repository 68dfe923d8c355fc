// A window of CUPTI's Range Profiler around whatever a program launches, as a library for Python's ctypes. Nothing is put back between
// the passes, so only the counting is measured.
// nvcc -shared -Xcompiler -fPIC -lcuda -lcupti -lnvperf_host -lnvperf_target
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cstdio>
#include <string>
#include <vector>

#define CUPTI(call)                                                                    \
    do {                                                                               \
        CUptiResult status_ = (call);                                                  \
        if (status_ != CUPTI_SUCCESS) return std::fprintf(stderr, "%s: %d\n", #call, status_), -1; \
    } while (0)
#define PARAMS(type, name) type name = {type##_STRUCT_SIZE}

static std::vector<std::string> names;
static std::vector<const char*> metrics;
static std::vector<uint8_t> config, image;
static CUpti_RangeProfiler_Object* session;

// Prepares windows of at most `ranges` launches in the current context; gives the passes that the metrics take, or -1.
extern "C" int window_open(const char* list, int ranges) {
    for (std::string rest = list; !rest.empty();) {
        size_t comma = rest.find(',');
        names.push_back(rest.substr(0, comma));
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    for (auto& name : names) metrics.push_back(name.c_str());
    CUcontext context;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return -1;
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
    config.resize(size.configImageSize);
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
    session = enable.pRangeProfilerObject;
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, bytes);
    bytes.pRangeProfilerObject = session;
    bytes.pMetricNames = metrics.data();
    bytes.numMetrics = metrics.size();
    bytes.maxNumOfRanges = ranges;
    bytes.maxNumRangeTreeNodes = ranges;
    CUPTI(cuptiRangeProfilerGetCounterDataSize(&bytes));
    image.resize(bytes.counterDataSize);
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, empty);
    empty.pRangeProfilerObject = session;
    empty.counterDataSize = image.size();
    empty.pCounterData = image.data();
    CUPTI(cuptiRangeProfilerCounterDataImageInitialize(&empty));
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = session;
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = image.size();
    set.pCounterDataImage = image.data();
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    CUPTI(cuptiRangeProfilerSetConfig(&set));
    return int(passes.numOfPasses);
}

extern "C" int window_start() {
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = session;
    CUPTI(cuptiRangeProfilerStart(&start));
    return 0;
}

extern "C" int window_stop() {
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = session;
    CUPTI(cuptiRangeProfilerStop(&stop));
    return 0;
}

// Decodes what the passes counted; gives how many launches there were in each, or -1.
extern "C" int window_close() {
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = session;
    CUPTI(cuptiRangeProfilerDecodeData(&decode));
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    CUPTI(cuptiRangeProfilerGetCounterDataInfo(&info));
    return int(info.numTotalRanges);
}
