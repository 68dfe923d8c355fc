// The library that `unloading` opens and closes.
#include "check.cuh"

__device__ unsigned unloaded_launches;

__global__ void unloaded_step(unsigned* data, size_t count) {
    if (blockIdx.x == 0 && threadIdx.x == 0) unloaded_launches++;
    step_all(data, count);
}

// Goes as the library is closed, while a window may hold launches.
struct Memory {
    unsigned* data = device_array<unsigned>(1024);
    ~Memory() { cudaFree(data); }
};

extern "C" void launch(unsigned* data, size_t count) {
    static Memory memory;
    CHECK(cudaMemsetAsync(memory.data, 1, 4096));
    unloaded_step<<<132, 256>>>(data, count);
    CHECK(cudaGetLastError());
}

extern "C" unsigned launches() {
    unsigned count = 0;
    CHECK(cudaMemcpyFromSymbol(&count, unloaded_launches, sizeof count));
    return count;
}
