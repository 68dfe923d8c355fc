// A captured graph: launches under capture do not run, the graph's launches decline, the result is right.
#include <vector>
#include "check.cuh"

__global__ void step(unsigned* data, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
}

int main() {
    constexpr unsigned count = 8191;
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    auto* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    step<<<(count + 255) / 256, 256, 0, stream>>>(data, count);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < 3; k++) step<<<(count + 255) / 256, 256, 0, stream>>>(data, count);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 2; k++) CHECK(cudaGraphLaunch(exec, stream));
    step<<<(count + 255) / 256, 256, 0, stream>>>(data, count);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; i++) {
        unsigned expected = host[i];
        for (int k = 0; k < 8; k++) expected = next_value(expected);
        EXPECT(found[i] == expected, "element %u", i);
    }
    return finish("graphs");
}
