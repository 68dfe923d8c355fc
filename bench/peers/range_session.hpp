// A session of CUPTI's Range Profiler, prepared for a list of metrics; every launch in it is a range (AutoRange).
#pragma once
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CUPTI(call)                                                                          \
    do {                                                                                     \
        CUptiResult status_ = (call);                                                        \
        if (status_ != CUPTI_SUCCESS) std::fprintf(stderr, "%s: %d\n", #call, status_), std::exit(2); \
    } while (0)
#define PARAMS(type, name) type name = {type##_STRUCT_SIZE}

struct RangeSession {
    std::vector<std::string> names;
    std::vector<const char*> metrics;
    std::vector<uint8_t> availability, config, image;
    CUpti_Profiler_Host_Object* host = nullptr;
    CUpti_RangeProfiler_Object* object = nullptr;
    size_t passes = 0;
    int ranges = 0;
    CUpti_ProfilerReplayMode replay = CUPTI_UserReplay;

    // For the metrics of a list, separated by commas; at most `most` launches a pass.
    void open(CUcontext context, const char* list, int most, CUpti_ProfilerReplayMode mode) {
        ranges = most;
        replay = mode;
        for (std::string rest = list; !rest.empty();) {
            size_t comma = rest.find(',');
            names.push_back(rest.substr(0, comma));
            rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        }
        for (auto& name : names) metrics.push_back(name.c_str());
        PARAMS(CUpti_Profiler_Initialize_Params, init);
        CUPTI(cuptiProfilerInitialize(&init));
        PARAMS(CUpti_Device_GetChipName_Params, chip);
        CUPTI(cuptiDeviceGetChipName(&chip));
        PARAMS(CUpti_Profiler_GetCounterAvailability_Params, available);
        available.ctx = context;
        CUPTI(cuptiProfilerGetCounterAvailability(&available));
        availability.resize(available.counterAvailabilityImageSize);
        available.pCounterAvailabilityImage = availability.data();
        CUPTI(cuptiProfilerGetCounterAvailability(&available));
        PARAMS(CUpti_Profiler_Host_Initialize_Params, made);
        made.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        made.pChipName = chip.pChipName;
        made.pCounterAvailabilityImage = availability.data();
        CUPTI(cuptiProfilerHostInitialize(&made));
        host = made.pHostObject;
        PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
        add.pHostObject = host;
        add.ppMetricNames = metrics.data();
        add.numMetrics = metrics.size();
        CUPTI(cuptiProfilerHostConfigAddMetrics(&add));
        PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
        size.pHostObject = host;
        CUPTI(cuptiProfilerHostGetConfigImageSize(&size));
        config.resize(size.configImageSize);
        PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
        get.pHostObject = host;
        get.configImageSize = config.size();
        get.pConfigImage = config.data();
        CUPTI(cuptiProfilerHostGetConfigImage(&get));
        PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
        count.configImageSize = config.size();
        count.pConfigImage = config.data();
        CUPTI(cuptiProfilerHostGetNumOfPasses(&count));
        passes = count.numOfPasses;
        PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
        enable.ctx = context;
        CUPTI(cuptiRangeProfilerEnable(&enable));
        object = enable.pRangeProfilerObject;
        PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, bytes);
        bytes.pRangeProfilerObject = object;
        bytes.pMetricNames = metrics.data();
        bytes.numMetrics = metrics.size();
        bytes.maxNumOfRanges = ranges;
        bytes.maxNumRangeTreeNodes = ranges;
        CUPTI(cuptiRangeProfilerGetCounterDataSize(&bytes));
        image.resize(bytes.counterDataSize);
        program();
    }

    // Begins with the first pass, on an empty image.
    void program() {
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
        set.replayMode = replay;
        set.maxRangesPerPass = ranges;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        set.targetNestingLevel = 1;
        CUPTI(cuptiRangeProfilerSetConfig(&set));
    }

    void start() {
        PARAMS(CUpti_RangeProfiler_Start_Params, params);
        params.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerStart(&params));
    }

    // Whether that was the last pass.
    bool stop() {
        PARAMS(CUpti_RangeProfiler_Stop_Params, params);
        params.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerStop(&params));
        return params.isAllPassSubmitted;
    }

    // Decodes what the passes counted; gives how many launches there were in each.
    size_t decode() {
        PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
        params.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerDecodeData(&params));
        PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
        info.pCounterDataImage = image.data();
        info.counterDataImageSize = image.size();
        CUPTI(cuptiRangeProfilerGetCounterDataInfo(&info));
        return info.numTotalRanges;
    }

    void close() {
        PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
        disable.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerDisable(&disable));
        PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
        end.pHostObject = host;
        CUPTI(cuptiProfilerHostDeinitialize(&end));
    }
};
