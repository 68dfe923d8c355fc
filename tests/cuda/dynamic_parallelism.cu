// Kernels that launch kernels. Either replayed rightly or declined; never wrong. nvcc -rdc=true
#include <vector>
#include "check.cuh"

__global__ void child(unsigned* data, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
}

__global__ void parent(unsigned* data, unsigned count) {
    if (threadIdx.x == 0) child<<<(count + 127) / 128, 128>>>(data, count);
}

int main() {
    constexpr unsigned count = 4001;
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    auto* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (int i = 0; i < 3; i++) parent<<<1, 32>>>(data, count);
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; i++)
        EXPECT(found[i] == next_value(next_value(next_value(host[i]))), "element %u", i);
    return finish("dynamic_parallelism");
}
