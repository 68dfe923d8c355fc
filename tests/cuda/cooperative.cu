// A cooperative launch: the whole grid synchronises between two in-place steps.
#include <cooperative_groups.h>
#include <vector>
#include "check.cuh"
namespace cg = cooperative_groups;

__global__ void rotate(unsigned* data, unsigned* spare, unsigned count) {
    unsigned stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = first; i < count; i += stride) spare[(i + 1) % count] = next_value(data[i]);
    cg::this_grid().sync();
    for (unsigned i = first; i < count; i += stride) data[i] = spare[i];
}

int main() {
    unsigned count = 65537;
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    auto *data = device_array<unsigned>(count), *spare = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    void* arguments[] = {&data, &spare, &count};
    for (int i = 0; i < 4; i++)
        CHECK(cudaLaunchCooperativeKernel((void*)rotate, dim3(64), dim3(256), arguments, 0, nullptr));
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; i++) {
        unsigned expected = host[(i + count - 4) % count];
        for (int k = 0; k < 4; k++) expected = next_value(expected);
        EXPECT(found[i] == expected, "element %u", i);
    }
    return finish("cooperative");
}
