// Clusters: blocks read each other's shared memory; launched with attributes, one of which orders it after the launch
// before (programmatic stream serialisation).
#include <cooperative_groups.h>
#include <vector>
#include "check.cuh"
namespace cg = cooperative_groups;

__global__ void neighbours(unsigned* data) {
    __shared__ unsigned mine[128];
    auto cluster = cg::this_cluster();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = next_value(data[i]);
    cluster.sync();
    unsigned other = (cluster.block_rank() + 1) % cluster.num_blocks();
    data[i] = cluster.map_shared_rank(mine, other)[threadIdx.x];
    cluster.sync();
}

int main() {
    constexpr unsigned blocks = 32, count = blocks * 128, size = 4;
    std::vector<unsigned> host(count), found(count), expected(count);
    for (unsigned i = 0; i < count; i++) expected[i] = host[i] = first_value(i);
    auto* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaLaunchAttribute attributes[2];
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {size, 1, 1};
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 0;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = 128;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 2;
    for (int k = 0; k < 3; k++) {
        CHECK(cudaLaunchKernelEx(&config, neighbours, data));
        std::vector<unsigned> before = expected;
        for (unsigned i = 0; i < count; i++) {
            unsigned block = i / 128, group = block / size;
            expected[i] = next_value(before[(group * size + (block + 1) % size) * 128 + i % 128]);
        }
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; i++) EXPECT(found[i] == expected[i], "element %u", i);
    return finish("clusters");
}
