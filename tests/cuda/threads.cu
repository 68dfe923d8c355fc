// Four host threads, each with its own stream and memory, and one counter for all.
#include <thread>
#include <vector>
#include "check.cuh"

__global__ void work(unsigned* data, unsigned count, unsigned* all) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
    if (i == 0) atomicAdd(all, 1u);
}

int main() {
    constexpr unsigned count = 10007, threads = 4, launches = 25;
    auto* all = device_array<unsigned>(1);
    CHECK(cudaMemset(all, 0, 4));
    std::vector<unsigned> host(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    std::vector<unsigned*> data(threads);
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; t++)
        running.emplace_back([&, t] {
            cudaStream_t stream;
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            data[t] = device_array<unsigned>(count);
            CHECK(cudaMemcpyAsync(data[t], host.data(), count * 4, cudaMemcpyHostToDevice, stream));
            for (unsigned k = 0; k < launches; k++) {
                work<<<(count + 127) / 128, 128, 0, stream>>>(data[t], count, all);
                if (k % 7 == 0) {
                    auto* passing = device_array<unsigned>(1000);
                    CHECK(cudaFree(passing));
                }
            }
            CHECK(cudaStreamSynchronize(stream));
        });
    for (auto& thread : running) thread.join();
    unsigned total = 0;
    CHECK(cudaMemcpy(&total, all, 4, cudaMemcpyDeviceToHost));
    EXPECT(total == threads * launches, "%u launches", total);
    std::vector<unsigned> found(count);
    for (unsigned t = 0; t < threads; t++) {
        CHECK(cudaMemcpy(found.data(), data[t], count * 4, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < count; i++) {
            unsigned expected = host[i];
            for (unsigned k = 0; k < launches; k++) expected = next_value(expected);
            EXPECT(found[i] == expected, "thread %u element %u", t, i);
        }
    }
    return finish("threads");
}
