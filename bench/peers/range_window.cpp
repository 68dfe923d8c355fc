// A window of CUPTI's Range Profiler around whatever a program launches, as a library for Python's ctypes. Nothing is put back between
// the passes, so only the counting is measured.
// nvcc -shared -Xcompiler -fPIC -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "range_session.hpp"

static RangeSession session;

// Prepares windows of at most `ranges` launches in the current context; gives the passes that the metrics take, or -1.
extern "C" int window_open(const char* list, int ranges) {
    CUcontext context;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return -1;
    session.open(context, list, ranges, CUPTI_UserReplay);
    return int(session.passes);
}

extern "C" void window_start() { session.start(); }

extern "C" void window_stop() { session.stop(); }

// Decodes what the passes counted; gives how many launches there were in each.
extern "C" int window_close() { return int(session.decode()); }
