// Kernels of several milliseconds, so that other processes on the GPU get their turns within them: slow [ROUNDS]
#include "check.cuh"

// What so many steps of the recurrence do to a value: v * by + more.
struct Steps {
    unsigned by, more;
    Steps then(Steps next) const { return {by * next.by, more * next.by + next.more}; }
};

static Steps steps(unsigned long long count) {
    Steps all{1, 0}, some{1664525u, 1013904223u};
    for (; count; count /= 2, some = some.then(some))
        if (count % 2) all = all.then(some);
    return all;
}

__global__ void slow(unsigned* data, unsigned times) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, value = data[i];
    for (unsigned k = 0; k < times; k++) value = next_value(value);
    data[i] = value;
}

int main(int argc, char** argv) {
    constexpr unsigned blocks = 264, threads = 256, times = 3'000'000;
    unsigned rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    std::vector<unsigned> host(blocks * threads);
    std::vector<unsigned long long> done(blocks);
    for (unsigned i = 0; i < host.size(); i++) host[i] = first_value(i);
    auto* data = device_array<unsigned>(host.size());
    CHECK(cudaMemcpy(data, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    for (unsigned k = 0; k < rounds; k++) {
        unsigned grid = blocks - 33 * (k % 3);
        slow<<<grid, threads>>>(data, times);
        CHECK(cudaDeviceSynchronize());
        for (unsigned block = 0; block < grid; block++) done[block] += times;
    }
    std::vector<unsigned> found(host.size());
    CHECK(cudaMemcpy(found.data(), data, found.size() * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < host.size(); i++) {
        Steps all = steps(done[i / threads]);
        EXPECT(found[i] == host[i] * all.by + all.more, "element %u", i);
    }
    return finish("slow");
}
