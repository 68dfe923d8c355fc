// How CUPTI's host side programs a list of metrics, for whichever of its profilers.
#pragma once
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
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

struct HostConfig {
    std::vector<std::string> names;
    std::vector<const char*> metrics;
    std::vector<uint8_t> config;
    CUpti_Profiler_Host_Object* host = nullptr;
    size_t passes = 0;

    // For the metrics of a list, separated by commas, of those that are available.
    void prepare(const char* list, CUpti_ProfilerType type, const std::vector<uint8_t>& availability) {
        for (std::string rest = list; !rest.empty();) {
            size_t comma = rest.find(',');
            names.push_back(rest.substr(0, comma));
            rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        }
        for (auto& name : names) metrics.push_back(name.c_str());
        PARAMS(CUpti_Device_GetChipName_Params, chip);
        CUPTI(cuptiDeviceGetChipName(&chip));
        PARAMS(CUpti_Profiler_Host_Initialize_Params, made);
        made.profilerType = type;
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
    }

    void end() {
        PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
        params.pHostObject = host;
        CUPTI(cuptiProfilerHostDeinitialize(&params));
    }
};
