// Stream-ordered allocations: memory that comes and goes in the stream's order.
// without restore: advance
#include "check.h"

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

int main() {
    const size_t count = 2500, bytes = count * 4;
    hipStream_t stream;
    CHECK(hipStreamCreate(&stream));
    auto host = random_words(count, 130);
    auto expected = host;
    for (int round = 0; round < 4; round++) {
        void* memory = nullptr;
        CHECK(hipMallocAsync(&memory, bytes, stream));
        uint32_t* data = static_cast<uint32_t*>(memory);
        CHECK(hipMemcpyAsync(data, host.data(), bytes, hipMemcpyHostToDevice, stream));
        advance<<<blocks(count), kBlock, 0, stream>>>(data, count);
        advance<<<blocks(count), kBlock, 0, stream>>>(data, count);
        CHECK(hipMemcpyAsync(host.data(), data, bytes, hipMemcpyDeviceToHost, stream));
        CHECK(hipFreeAsync(data, stream));
        CHECK(hipStreamSynchronize(stream));
        for (uint32_t& word : expected) word = next_word(next_word(word));
    }
    CHECK(hipGetLastError());
    verdict("advance", host, expected);
    // The stream is not destroyed: in HIP 5.2.3 hipStreamDestroy never returns for one that memory was freed on.
    return finish();
}
