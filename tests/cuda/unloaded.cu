// The library that `unloading` opens and closes.
#include "check.cuh"

__device__ unsigned unloaded_launches;

__global__ void unloaded_step(unsigned* data, size_t count) {
    if (blockIdx.x == 0 && threadIdx.x == 0) unloaded_launches++;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = next_value(data[i]);
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
