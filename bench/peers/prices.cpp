// What CUPTI's Range Profiler costs by what it counts: prices METRIC,METRIC,… LAUNCHES…
// One session after the other, each for windows of so many launches of a 4 µs kernel that changes 1 MiB in place. Of every pass of
// three windows, which follow each other as kreplay's do: ms of Start, of a launch, of Stop. Nothing is put back. The first Start of
// a session prepares the hardware and is printed apart; it is in the first window too. It is made as kreplay makes it where nobody
// else is on the GPU, so that the whole device is counted (see reach.cpp).
// nvcc -lcuda -lcupti -lnvperf_host -lnvperf_target
#include "launches.hpp"
#include "range_session.hpp"

static const size_t WRITTEN = 1 << 20;
static const int WINDOWS = 3;

// Prints the passes of a window; gives what its first Start took.
static double window(RangeSession& session, int number, unsigned* data, int launches) {
    double first = 0;
    std::printf("window %d:", number);
    session.program();
    for (bool done = false, begun = false; !done; begun = true) {
        double begin = now();
        session.start(!number && !begun);
        double started = now();
        launch_all(data, WRITTEN, launches);
        double launched = now();
        done = session.stop();
        double stopped = now();
        if (!begun) first = started - begin;
        std::printf(" | %.4f %.5f %.4f", started - begin, (launched - started) / launches, stopped - launched);
    }
    std::printf("\n");
    size_t ranges = session.decode();
    if (ranges != size_t(launches)) std::fprintf(stderr, "%zu ranges of %d launches\n", ranges, launches), std::exit(1);
    return first;
}

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: prices METRIC,METRIC,… LAUNCHES…\n"), 2;
    unsigned* data;
    CUDA(cudaMalloc(&data, WRITTEN));
    CUDA(cudaMemset(data, 3, WRITTEN));
    // What happens once, at a kernel's first launch, is before all sessions.
    launch_all(data, WRITTEN, 1);
    CUcontext context;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context) return 2;
    for (int at = 2; at < argc; at++) {
        int launches = std::atoi(argv[at]);
        RangeSession session;
        session.open(context, argv[1], launches, CUPTI_UserReplay);
        std::printf("session of %d launches, %zu passes; start, launch, stop of each in ms\n", launches, session.passes);
        double first = window(session, 0, data, launches);
        for (int number = 1; number < WINDOWS; number++) window(session, number, data, launches);
        std::printf("first start %.3f ms\n", first);
        session.close();
    }
    return 0;
}
