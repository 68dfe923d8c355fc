// A tracer of kernels, as nsys traces them: CUPTI's activity records of each, collected in buffers, without any counter.
// The driver loads it into a program: CUDA_INJECTION64_PATH=…/tracing.so
// nvcc -shared -Xcompiler -fPIC -lcuda -lcupti
#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

static const size_t BYTES = 8 << 20;
static std::atomic<unsigned long long> kernels{0}, nanoseconds{0};

static void check(CUptiResult result, const char* call) {
    if (result == CUPTI_SUCCESS) return;
    const char* text = "";
    cuptiGetResultString(result, &text);
    std::fprintf(stderr, "tracing: %s: %s\n", call, text);
    std::_Exit(3);
}
#define CUPTI(call) check(call, #call)

static void CUPTIAPI give(uint8_t** buffer, size_t* size, size_t* most) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, BYTES));
    *size = BYTES;
    *most = 0;
}

static void CUPTIAPI take(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    for (CUpti_Activity* record = nullptr; cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS;) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
        auto* kernel = reinterpret_cast<CUpti_ActivityKernel9*>(record);
        kernels++;
        nanoseconds += kernel->end - kernel->start;
    }
    std::free(buffer);
}

static void end() {
    CUPTI(cuptiActivityFlushAll(1));
    std::printf("traced %llu kernels, %llu ns\n", kernels.load(), nanoseconds.load());
}

extern "C" int InitializeInjection() {
    CUPTI(cuptiActivityRegisterCallbacks(give, take));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    std::atexit(end);
    return 1;
}
