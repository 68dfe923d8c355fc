// In place: every pass must start from the same memory.
#include <vector>
#include "check.cuh"

__global__ void in_place_step(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = next_value(data[i]);
}

int main() {
    constexpr size_t count = 300007;
    constexpr int launches = 7;
    std::vector<unsigned> host(count);
    for (size_t i = 0; i < count; i++) host[i] = first_value(i);
    unsigned* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (int i = 0; i < launches; i++) in_place_step<<<132, 256>>>(data, count);
    std::vector<unsigned> found(count, 0xdeadbeef);
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        unsigned expected = host[i];
        for (int k = 0; k < launches; k++) expected = next_value(expected);
        EXPECT(found[i] == expected, "element %zu", i);
    }
    return finish("in_place");
}
