// Managed memory: host and kernels write the same pages in turn.
// without restore: advance
#include "check.h"

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

int main() {
    const size_t count = 2000;
    uint32_t* data = nullptr;
    CHECK(hipMallocManaged(reinterpret_cast<void**>(&data), count * 4));
    auto expected = random_words(count, 100);
    std::copy(expected.begin(), expected.end(), data);
    for (int round = 0; round < 3; round++) {
        advance<<<blocks(count), kBlock>>>(data, count);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
        for (size_t i = 0; i < count; i++) {
            expected[i] = next_word(expected[i]) ^ uint32_t(i);
            data[i] ^= uint32_t(i);
        }
    }
    verdict("advance", std::vector<uint32_t>(data, data + count), expected);
    CHECK(hipFree(data));
    return finish();
}
