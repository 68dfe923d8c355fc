// Threads that launch on their own default streams. nvcc --default-stream per-thread
// Four threads do so, each with its own memory and with one counter for all. With the argument `waiting` one thread's kernel waits for
// the host, which answers only once another thread has launched: no stream but that thread's own shows that the context is busy.
// kreplay profile --exclude wait_for_host --drain-deadline 1000 -- per_thread waiting
#include <cstring>
#include <future>
#include <thread>
#include "check.cuh"

__global__ void step(unsigned* data, size_t count) {
    step_all(data, count);
}

__global__ void counted_step(unsigned* data, size_t count, unsigned* all) {
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(all, 1u);
    step_all(data, count);
}

__global__ void wait_for_host(volatile unsigned* flag, unsigned* passed) {
    while (*flag == 0) {}
    atomicAdd(passed, 1u);
}

static int working() {
    constexpr int threads = 4, launches = 25;
    constexpr size_t count = 10007;
    auto* all = device_array<unsigned>(1);
    CHECK(cudaMemset(all, 0, 4));
    std::vector<Recurrence> arrays;
    for (int t = 0; t < threads; t++) arrays.emplace_back(count);
    CHECK(cudaDeviceSynchronize());
    std::vector<std::thread> running;
    for (int t = 0; t < threads; t++)
        running.emplace_back([&, t] {
            for (int k = 0; k < launches; k++) {
                counted_step<<<40, 128>>>(arrays[t].data, count, all);
                // The same stream, by its handle.
                step<<<40, 128, 0, cudaStreamPerThread>>>(arrays[t].data, count);
            }
            CHECK(cudaGetLastError());
            CHECK(cudaStreamSynchronize(cudaStreamPerThread));
        });
    for (auto& thread : running) thread.join();
    unsigned total = 0;
    CHECK(cudaMemcpy(&total, all, 4, cudaMemcpyDeviceToHost));
    EXPECT(total == threads * launches, "%u launches", total);
    for (auto& array : arrays) array.expect(2 * launches);
    return finish("per_thread");
}

static int waiting() {
    constexpr int launches = 3;
    constexpr size_t count = 10007;
    unsigned *flag, *device_flag;
    CHECK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&device_flag, flag, 0));
    auto* passed = device_array<unsigned>(1);
    CHECK(cudaMemset(passed, 0, 4));
    Recurrence array(count);
    // Code is loaded at its first launch, which would wait for the kernel that waits.
    *(volatile unsigned*)flag = 1;
    wait_for_host<<<1, 1>>>(device_flag, passed);
    step<<<40, 128>>>(array.data, count);
    CHECK(cudaDeviceSynchronize());
    *(volatile unsigned*)flag = 0;
    std::promise<void> launched;
    std::thread other([&] {
        wait_for_host<<<1, 1>>>(device_flag, passed);
        CHECK(cudaGetLastError());
        launched.set_value();
        CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    });
    launched.get_future().wait();
    for (int k = 0; k < launches; k++) step<<<40, 128>>>(array.data, count);
    CHECK(cudaGetLastError());
    *(volatile unsigned*)flag = 1;
    other.join();
    CHECK(cudaDeviceSynchronize());
    unsigned found = 0;
    CHECK(cudaMemcpy(&found, passed, 4, cudaMemcpyDeviceToHost));
    EXPECT(found == 2, "%u passed", found);
    array.expect(1 + launches);
    return finish("per_thread");
}

int main(int count, char** arguments) {
    return count > 1 && std::strcmp(arguments[1], "waiting") == 0 ? waiting() : working();
}
