// Events, callbacks and waiting across streams: the program sees each completion once and in order.
// without restore: advance
#include "check.h"
#include <atomic>

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

static void called(hipStream_t, hipError_t, void* counter) { static_cast<std::atomic<uint32_t>*>(counter)->fetch_add(1); }

int main() {
    const size_t count = 800;
    hipStream_t first, second;
    hipEvent_t begin, middle, end;
    CHECK(hipStreamCreate(&first));
    CHECK(hipStreamCreate(&second));
    CHECK(hipEventCreate(&begin));
    CHECK(hipEventCreate(&middle));
    CHECK(hipEventCreate(&end));
    auto expected = random_words(count, 140);
    uint32_t* data = device_array(expected);
    std::atomic<uint32_t> calls{0};
    CHECK(hipEventRecord(begin, first));
    for (int round = 0; round < 5; round++) {
        advance<<<blocks(count), kBlock, 0, first>>>(data, count);
        CHECK(hipEventRecord(middle, first));
        CHECK(hipStreamWaitEvent(second, middle, 0));
        advance<<<blocks(count), kBlock, 0, second>>>(data, count);
        CHECK(hipStreamAddCallback(second, called, &calls, 0));
        CHECK(hipEventRecord(end, second));
        CHECK(hipStreamWaitEvent(first, end, 0));
        for (uint32_t& word : expected) word = next_word(next_word(word));
    }
    CHECK(hipGetLastError());
    CHECK(hipEventSynchronize(end));
    CHECK(hipStreamSynchronize(second));
    float elapsed = -1;
    CHECK(hipEventElapsedTime(&elapsed, begin, end));
    verdict("advance", fetch(data, count), expected);
    verdict("callbacks", std::vector<uint32_t>(1, calls.load()), std::vector<uint32_t>(1, 5));
    verdict("elapsed", std::vector<uint32_t>(1, elapsed >= 0), std::vector<uint32_t>(1, 1));
    return finish();
}
