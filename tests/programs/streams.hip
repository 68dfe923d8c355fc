// Four streams at once, each with its own data, and one counter that all of them share.
// without restore: advance shared
#include "check.h"

__global__ void advance(uint32_t* data, size_t count, uint32_t* shared) {
    size_t i = global_index();
    if (i >= count) return;
    data[i] = next_word(data[i]);
    if (i % 64 == 0) atomicAdd(shared, 1u);
}

int main() {
    const size_t count = 1024, launches = 15;
    hipStream_t streams[4];
    uint32_t* data[4];
    std::vector<uint32_t> expected, found;
    uint32_t* shared = device_array(std::vector<uint32_t>(1, 0));
    for (int s = 0; s < 4; s++) {
        CHECK(hipStreamCreate(&streams[s]));
        auto host = random_words(count, 80 + s);
        data[s] = device_array(host);
        for (size_t launch = 0; launch < launches; launch++)
            for (uint32_t& word : host) word = next_word(word);
        expected.insert(expected.end(), host.begin(), host.end());
    }
    for (size_t launch = 0; launch < launches; launch++)
        for (int s = 0; s < 4; s++) advance<<<blocks(count), kBlock, 0, streams[s]>>>(data[s], count, shared);
    CHECK(hipGetLastError());
    for (int s = 0; s < 4; s++) {
        CHECK(hipStreamSynchronize(streams[s]));
        auto part = fetch(data[s], count);
        found.insert(found.end(), part.begin(), part.end());
        CHECK(hipStreamDestroy(streams[s]));
    }
    verdict("advance", found, expected);
    verdict("shared", fetch(shared, 1), std::vector<uint32_t>(1, uint32_t(4 * launches * count / 64)));
    return finish();
}
