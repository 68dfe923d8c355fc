// What CUPTI's PM sampling costs: sampling_prices METRIC,METRIC,… …
// The groups are programmed in turn, four times each, as in a window that samples several: ms of the switch (the old group is
// disabled, the new one enabled and programmed), of Start, and of Stop after 300 launches of a 4 µs kernel that changes 1 MiB in
// place. Nothing is decoded.
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "host_config.hpp"
#include "launches.hpp"

#include <cupti_pmsampling.h>

static const size_t WRITTEN = 1 << 20;
static const int LAUNCHES = 300, ROUNDS = 4;
// As kreplay has them: bytes of the hardware's buffer, nanoseconds.
static const size_t BUFFER = 16 << 20;
static const uint64_t INTERVAL = 32000;

static CUpti_PmSampling_Object* program(CUpti_PmSampling_Object* old, const HostConfig& group) {
    if (old) {
        PARAMS(CUpti_PmSampling_Disable_Params, disable);
        disable.pPmSamplingObject = old;
        CUPTI(cuptiPmSamplingDisable(&disable));
    }
    PARAMS(CUpti_PmSampling_Enable_Params, enable);
    CUPTI(cuptiPmSamplingEnable(&enable));
    PARAMS(CUpti_PmSampling_SetConfig_Params, set);
    set.pPmSamplingObject = enable.pPmSamplingObject;
    set.configSize = group.config.size();
    set.pConfig = group.config.data();
    set.hardwareBufferSize = BUFFER;
    set.samplingInterval = INTERVAL;
    set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    CUPTI(cuptiPmSamplingSetConfig(&set));
    return enable.pPmSamplingObject;
}

int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: sampling_prices METRIC,METRIC,… …\n"), 2;
    unsigned* data;
    CUDA(cudaMalloc(&data, WRITTEN));
    CUDA(cudaMemset(data, 3, WRITTEN));
    launch_all(data, WRITTEN, 1);
    PARAMS(CUpti_Profiler_Initialize_Params, init);
    CUPTI(cuptiProfilerInitialize(&init));
    PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, available);
    CUPTI(cuptiPmSamplingGetCounterAvailability(&available));
    std::vector<uint8_t> availability(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    CUPTI(cuptiPmSamplingGetCounterAvailability(&available));
    std::vector<HostConfig> groups(argc - 1);
    for (int at = 1; at < argc; at++) groups[at - 1].prepare(argv[at], CUPTI_PROFILER_TYPE_PM_SAMPLING, availability);
    CUpti_PmSampling_Object* object = nullptr;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t at = 0; at < groups.size(); at++) {
            double begin = now();
            object = program(object, groups[at]);
            double programmed = now();
            PARAMS(CUpti_PmSampling_Start_Params, start);
            start.pPmSamplingObject = object;
            CUPTI(cuptiPmSamplingStart(&start));
            double started = now();
            launch_all(data, WRITTEN, LAUNCHES);
            double launched = now();
            PARAMS(CUpti_PmSampling_Stop_Params, stop);
            stop.pPmSamplingObject = object;
            CUPTI(cuptiPmSamplingStop(&stop));
            std::printf("round %d group %zu: switch %.3f start %.3f stop %.3f ms\n", round, at, programmed - begin, started - programmed,
                        now() - launched);
        }
    }
    return 0;
}
