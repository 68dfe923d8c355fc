// One host thread launches kernels that change their data in place; another one copies new data to the device, copies it
// back and looks at it, all the time. A copy that falls into a window would be undone by the window's end.
// without restore: advance
#include "check.h"
#include <thread>

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

static void copy(std::vector<uint32_t>* found) {
    const size_t count = 3000;
    hipStream_t stream;
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    uint32_t *device = nullptr, *pinned = nullptr;
    CHECK(hipMalloc(reinterpret_cast<void**>(&device), count * 4));
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), count * 4, hipHostMallocDefault));
    for (int round = 0; round < 40; round++) {
        auto words = random_words(count, 300 + round);
        std::copy(words.begin(), words.end(), pinned);
        CHECK(hipMemcpyAsync(device, pinned, count * 4, hipMemcpyHostToDevice, stream));
        CHECK(hipStreamSynchronize(stream));
        std::memset(pinned, 0xa5, count * 4);
        std::this_thread::yield();
        CHECK(hipMemcpyAsync(pinned, device, count * 4, hipMemcpyDeviceToHost, stream));
        CHECK(hipStreamSynchronize(stream));
        found->insert(found->end(), pinned, pinned + count);
    }
    CHECK(hipHostFree(pinned));
    CHECK(hipFree(device));
    CHECK(hipStreamDestroy(stream));
}

int main() {
    const size_t count = 2000;
    auto expected = random_words(count, 299);
    uint32_t* data = device_array(expected);
    std::vector<uint32_t> copied, words;
    std::thread beside(copy, &copied);
    for (int launch = 0; launch < 12; launch++) {
        advance<<<blocks(count), kBlock>>>(data, count);
        for (uint32_t& word : expected) word = next_word(word);
    }
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    beside.join();
    verdict("advance", fetch(data, count), expected);
    for (int round = 0; round < 40; round++) {
        auto part = random_words(3000, 300 + round);
        words.insert(words.end(), part.begin(), part.end());
    }
    verdict("copies", copied, words);
    return finish();
}
