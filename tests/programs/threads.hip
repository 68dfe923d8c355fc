// Four host threads, each with its own stream, that allocate, launch, copy and free at the same time.
// without restore: advance
#include "check.h"
#include <thread>

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

static void work(int thread, std::vector<uint32_t>* found) {
    const size_t count = 700;
    hipStream_t stream;
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    std::vector<uint32_t> host = random_words(count, 90 + thread);
    for (int round = 0; round < 6; round++) {
        uint32_t* data = nullptr;
        CHECK(hipMalloc(reinterpret_cast<void**>(&data), count * 4));
        CHECK(hipMemcpyAsync(data, host.data(), count * 4, hipMemcpyHostToDevice, stream));
        advance<<<blocks(count), kBlock, 0, stream>>>(data, count);
        advance<<<blocks(count), kBlock, 0, stream>>>(data, count);
        CHECK(hipGetLastError());
        CHECK(hipMemcpyAsync(host.data(), data, count * 4, hipMemcpyDeviceToHost, stream));
        CHECK(hipStreamSynchronize(stream));
        CHECK(hipFree(data));
    }
    CHECK(hipStreamDestroy(stream));
    *found = host;
}

int main() {
    std::vector<uint32_t> parts[4], found, expected;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; thread++) threads.emplace_back(work, thread, &parts[thread]);
    for (int thread = 0; thread < 4; thread++) {
        threads[thread].join();
        found.insert(found.end(), parts[thread].begin(), parts[thread].end());
        for (uint32_t word : random_words(700, 90 + thread)) {
            for (int launch = 0; launch < 12; launch++) word = next_word(word);
            expected.push_back(word);
        }
    }
    verdict("advance", found, expected);
    return finish();
}
