// Copies and fills between launches, asynchronous and in every direction: memory that no kernel changed since the last
// window.
// without restore: mix
#include "check.h"

__global__ void mix(uint32_t* data, const uint32_t* other, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = data[i] * 5 + other[i];
}

int main() {
    const size_t count = 3000, bytes = count * 4;
    hipStream_t stream;
    CHECK(hipStreamCreate(&stream));
    uint32_t *data = poisoned<uint32_t>(count), *other = poisoned<uint32_t>(count), *pinned = nullptr;
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), bytes, hipHostMallocDefault));
    std::vector<uint32_t> expected(count, 0x11111111u), beside(count, 0xa5a5a5a5u);
    CHECK(hipMemsetAsync(data, 0x11, bytes, stream));
    for (uint32_t round = 0; round < 4; round++) {
        auto words = random_words(count, 120 + round);
        std::copy(words.begin(), words.end(), pinned);
        CHECK(hipMemcpyAsync(other, pinned, bytes, hipMemcpyHostToDevice, stream));
        mix<<<blocks(count), kBlock, 0, stream>>>(data, other, count);
        for (size_t i = 0; i < count; i++) expected[i] = expected[i] * 5 + words[i];
        // The first half from the other array, the last eighth filled.
        CHECK(hipMemcpyAsync(data, other, bytes / 2, hipMemcpyDeviceToDevice, stream));
        for (size_t i = 0; i < count / 2; i++) expected[i] = words[i];
        CHECK(hipMemsetAsync(data + count - count / 8, int(round + 1), count / 8 * 4, stream));
        for (size_t i = count - count / 8; i < count; i++) expected[i] = (round + 1) * 0x01010101u;
        mix<<<blocks(count), kBlock, 0, stream>>>(data, other, count);
        for (size_t i = 0; i < count; i++) expected[i] = expected[i] * 5 + words[i];
        CHECK(hipMemcpyAsync(pinned, data, bytes, hipMemcpyDeviceToHost, stream));
        CHECK(hipStreamSynchronize(stream));
        if (std::memcmp(pinned, expected.data(), bytes) != 0) wrong_kernels() += 1;
    }
    CHECK(hipGetLastError());
    verdict("mix", fetch(data, count), expected);
    CHECK(hipStreamDestroy(stream));
    CHECK(hipHostFree(pinned));
    return finish();
}
