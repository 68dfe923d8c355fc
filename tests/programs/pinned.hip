// Pinned host memory that kernels read and write where it lies.
// without restore: advance
#include "check.h"

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

__global__ void copy_out(uint32_t* host, const uint32_t* device, size_t count) {
    size_t i = global_index();
    if (i < count) host[i] = device[i] + 1;
}

int main() {
    const size_t count = 2000;
    uint32_t *pinned = nullptr, *mapped = nullptr;
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), count * 4, hipHostMallocMapped));
    CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&mapped), pinned, 0));
    auto expected = random_words(count, 110);
    std::copy(expected.begin(), expected.end(), pinned);
    for (int round = 0; round < 2; round++) {
        advance<<<blocks(count), kBlock>>>(mapped, count);
        for (uint32_t& word : expected) word = next_word(word);
    }
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    verdict("advance", std::vector<uint32_t>(pinned, pinned + count), expected);

    auto words = random_words(count, 111);
    uint32_t* device = device_array(words);
    std::memset(pinned, 0xa5, count * 4);
    copy_out<<<blocks(count), kBlock>>>(mapped, device, count);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    for (uint32_t& word : words) word += 1;
    verdict("copy_out", std::vector<uint32_t>(pinned, pinned + count), words);
    CHECK(hipHostFree(pinned));
    return finish();
}
