// A kernel that waits for the host, through a pointer that no argument shows. With a short deadline the window is given
// up, the program goes on, and the kernel is not replayed again: kreplay profile --pass-deadline 500 -- spinning
// A pass that was given up ends when the host answers, beside the program's own: so its step may be counted twice.
#include "check.cuh"

__device__ volatile unsigned* flag_pointer;

__global__ void wait_for_host(unsigned* data) {
    while (*flag_pointer == 0) {}
    atomicAdd(&data[threadIdx.x], 1u);
}

int main() {
    unsigned *flag, *device_flag;
    CHECK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&device_flag, flag, 0));
    CHECK(cudaMemcpyToSymbol(flag_pointer, &device_flag, sizeof device_flag));
    auto* data = device_array<unsigned>(32);
    CHECK(cudaMemset(data, 0, 128));
    for (int k = 0; k < 2; k++) {
        *(volatile unsigned*)flag = 0;
        wait_for_host<<<1, 32>>>(data);
        *(volatile unsigned*)flag = 1;
        CHECK(cudaDeviceSynchronize());
    }
    unsigned found[32];
    CHECK(cudaMemcpy(found, data, 128, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 32; i++) EXPECT(found[i] == 2 || found[i] == 3, "element %u is %u", i, found[i]);
    return finish("spinning");
}
