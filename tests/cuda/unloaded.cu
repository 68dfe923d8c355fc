// The library that `unloading` opens and closes.
#include "check.cuh"

__device__ unsigned unloaded_launches;

__global__ void unloaded_step(unsigned* data, size_t count) {
    if (blockIdx.x == 0 && threadIdx.x == 0) unloaded_launches++;
    step_all(data, count);
}

struct Memory {
    unsigned* data = device_array<unsigned>(1024);
    ~Memory() { cudaFree(data); }
};

// Memory that goes as the library is closed, before its code does.
extern "C" void hold() {
    static Memory memory;
    CHECK(cudaMemsetAsync(memory.data, 1, 4096));
}

extern "C" void launch(unsigned* data, size_t count) {
    unloaded_step<<<132, 256>>>(data, count);
    CHECK(cudaGetLastError());
}

extern "C" unsigned launches() {
    unsigned count = 0;
    CHECK(cudaMemcpyFromSymbol(&count, unloaded_launches, sizeof count));
    return count;
}
