// A session of CUPTI's Range Profiler, prepared for a list of metrics; every launch in it is a range (AutoRange), or what lies
// between push and pop is one (UserRange).
#pragma once
#include "host_config.hpp"

#include <cupti_range_profiler.h>

struct RangeSession : HostConfig {
    std::vector<uint8_t> availability, image;
    CUpti_RangeProfiler_Object* object = nullptr;
    int ranges = 0;
    CUpti_ProfilerReplayMode replay = CUPTI_UserReplay;
    CUpti_ProfilerRange range = CUPTI_AutoRange;

    // For the metrics of a list, separated by commas; at most `most` launches a pass.
    void open(CUcontext context, const char* list, int most, CUpti_ProfilerReplayMode mode) {
        ranges = most;
        replay = mode;
        PARAMS(CUpti_Profiler_Initialize_Params, init);
        CUPTI(cuptiProfilerInitialize(&init));
        PARAMS(CUpti_Profiler_GetCounterAvailability_Params, available);
        available.ctx = context;
        CUPTI(cuptiProfilerGetCounterAvailability(&available));
        availability.resize(available.counterAvailabilityImageSize);
        available.pCounterAvailabilityImage = availability.data();
        CUPTI(cuptiProfilerGetCounterAvailability(&available));
        prepare(list, CUPTI_PROFILER_TYPE_RANGE_PROFILER, availability);
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
        set.range = range;
        set.replayMode = replay;
        set.maxRangesPerPass = ranges;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        set.targetNestingLevel = 1;
        CUPTI(cuptiRangeProfilerSetConfig(&set));
    }

    // A first start that is made while no context is current to the thread (`apart`) makes the session count the whole device.
    void start(bool apart = false) {
        CUcontext current = nullptr;
        if (apart) cuCtxGetCurrent(&current), cuCtxSetCurrent(nullptr);
        PARAMS(CUpti_RangeProfiler_Start_Params, params);
        params.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerStart(&params));
        if (apart) cuCtxSetCurrent(current);
    }

    // Whether that was the last pass.
    bool stop() {
        PARAMS(CUpti_RangeProfiler_Stop_Params, params);
        params.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerStop(&params));
        return params.isAllPassSubmitted;
    }

    // Around what a range of a session of UserRange counts.
    void push(const char* name) {
        PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
        params.pRangeProfilerObject = object;
        params.pRangeName = name;
        CUPTI(cuptiRangeProfilerPushRange(&params));
    }

    void pop() {
        PARAMS(CUpti_RangeProfiler_PopRange_Params, params);
        params.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerPopRange(&params));
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

    // The values of a decoded range, in the order of the metrics.
    std::vector<double> values(size_t at) {
        std::vector<double> found(metrics.size());
        PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, read);
        read.pHostObject = host;
        read.pCounterDataImage = image.data();
        read.counterDataImageSize = image.size();
        read.rangeIndex = at;
        read.ppMetricNames = metrics.data();
        read.numMetrics = metrics.size();
        read.pMetricValues = found.data();
        CUPTI(cuptiProfilerHostEvaluateToGpuValues(&read));
        return found;
    }

    void close() {
        PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
        disable.pRangeProfilerObject = object;
        CUPTI(cuptiRangeProfilerDisable(&disable));
        end();
    }
};
