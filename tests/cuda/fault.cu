// A kernel with a bad address: the program sees its own error, and ends as it would.
#include "check.cuh"

__global__ void good(unsigned* data) { data[threadIdx.x] += 1; }
__global__ void bad(unsigned* data) { data[threadIdx.x] = 1; }

int main() {
    auto* data = device_array<unsigned>(64);
    CHECK(cudaMemset(data, 0, 256));
    good<<<1, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    bad<<<1, 64>>>(reinterpret_cast<unsigned*>(8));
    cudaError_t status = cudaDeviceSynchronize();
    EXPECT(status == cudaErrorIllegalAddress, "%s", cudaGetErrorString(status));
    return finish("fault");
}
