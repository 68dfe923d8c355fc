// Two kernels in turn and a third that comes in long runs: for filters. Each launch has another grid, so that a value that
// is attributed to the wrong launch shows.
#include <vector>
#include "check.cuh"

__device__ unsigned at() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void even(unsigned* data, unsigned count) {
    if (at() < count) data[at()] = next_value(data[at()]);
}

__global__ void odd(unsigned* data, unsigned count) {
    if (at() < count) data[at()] ^= 0x5a5a5a5au;
}

__global__ void idle(unsigned* data) { data[threadIdx.x] += 1; }

int main() {
    constexpr unsigned rounds = 24, count = 64 * (rounds + 1);
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    auto* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (unsigned k = 0; k < rounds; k++) {
        even<<<k + 1, 64>>>(data, count);
        odd<<<k + 2, 64>>>(data, count);
        for (unsigned n = 0; n < (k % 8 == 7 ? 40 : 1); n++) idle<<<1, 32>>>(data);
    }
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned k = 0; k < rounds; k++)
        for (unsigned i = 0; i < count; i++) {
            if (i < (k + 1) * 64) host[i] = next_value(host[i]);
            if (i < (k + 2) * 64) host[i] ^= 0x5a5a5a5au;
            if (i < 32) host[i] += k % 8 == 7 ? 40 : 1;
        }
    for (unsigned i = 0; i < count; i++) EXPECT(found[i] == host[i], "element %u", i);
    return finish("filters");
}
