// Two GPUs side by side, then with peer access: each device's kernels are right, and those that reach the other decline.
#include <vector>
#include "check.cuh"

__global__ void step(unsigned* data, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
}

int main() {
    constexpr unsigned count = 20011;
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) return std::printf("two_devices: skipped: one device\n"), 0;
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    unsigned* data[2];
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        data[d] = device_array<unsigned>(count);
        CHECK(cudaMemcpy(data[d], host.data(), count * 4, cudaMemcpyHostToDevice));
    }
    for (int k = 0; k < 5; k++)
        for (int d = 0; d < 2; d++) {
            CHECK(cudaSetDevice(d));
            step<<<(count + 255) / 256, 256>>>(data[d], count);
        }
    int can = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(cudaSetDevice(0));
    if (can) {
        CHECK(cudaDeviceEnablePeerAccess(1, 0));
        CHECK(cudaSetDevice(1));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaSetDevice(0));
        step<<<(count + 255) / 256, 256>>>(data[1], count);
        CHECK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(found.data(), data[d], count * 4, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < count; i++) {
            unsigned expected = host[i];
            for (int k = 0; k < 5 + (d && can); k++) expected = next_value(expected);
            EXPECT(found[i] == expected, "device %d element %u", d, i);
        }
    }
    return finish("two_devices");
}
