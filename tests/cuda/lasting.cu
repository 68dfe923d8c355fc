// A program of some seconds, for one whose profiler is killed meanwhile: it goes on and is right.
#include <chrono>
#include <thread>
#include <vector>
#include "check.cuh"

__global__ void step(unsigned* data, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
}

int main() {
    constexpr unsigned count = 8191, rounds = 300;
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    auto* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (unsigned k = 0; k < rounds; k++) {
        step<<<(count + 255) / 256, 256>>>(data, count);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < rounds; k++) host[i] = next_value(host[i]);
        EXPECT(found[i] == host[i], "element %u", i);
    }
    return finish("lasting");
}
