// The library that `unloading` opens and closes.
#include "check.cuh"

__device__ unsigned unloaded_launches;

__global__ void unloaded_step(unsigned* data, size_t count) {
    if (blockIdx.x == 0 && threadIdx.x == 0) unloaded_launches++;
    step_all(data, count);
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
