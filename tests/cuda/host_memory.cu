// Kernels that write pinned host memory and managed memory: declined, and right.
#include <vector>
#include "check.cuh"

__global__ void into(unsigned* data, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
}

int main() {
    constexpr unsigned count = 4099;
    unsigned *pinned, *managed;
    CHECK(cudaMallocHost(&pinned, count * 4));
    CHECK(cudaMallocManaged(&managed, count * 4));
    std::vector<unsigned> registered(count);
    CHECK(cudaHostRegister(registered.data(), count * 4, cudaHostRegisterMapped));
    for (unsigned i = 0; i < count; i++) pinned[i] = managed[i] = registered[i] = first_value(i);
    for (unsigned* data : {pinned, managed, registered.data()})
        for (int k = 0; k < 2; k++) into<<<(count + 255) / 256, 256>>>(data, count);
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < count; i++) {
        unsigned expected = next_value(next_value(first_value(i)));
        EXPECT(pinned[i] == expected && managed[i] == expected && registered[i] == expected, "element %u", i);
    }
    CHECK(cudaHostUnregister(registered.data()));
    return finish("host_memory");
}
