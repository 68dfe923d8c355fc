// An inclusive prefix sum in place: scan of each block, scan of the blocks' sums, sums added back.
// without restore: scan
#include "check.h"

__global__ void scan_block(uint32_t* data, uint32_t* sums, size_t count) {
    __shared__ uint32_t shared[2][kBlock];
    size_t i = global_index();
    unsigned lane = threadIdx.x, side = 0;
    shared[0][lane] = i < count ? data[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < kBlock; step *= 2) {
        uint32_t value = shared[side][lane];
        if (lane >= step) value += shared[side][lane - step];
        side ^= 1;
        shared[side][lane] = value;
        __syncthreads();
    }
    if (i < count) data[i] = shared[side][lane];
    if (sums && lane == kBlock - 1) sums[blockIdx.x] = shared[side][lane];
}

__global__ void add_sums(uint32_t* data, const uint32_t* sums, size_t count) {
    size_t i = global_index();
    if (i < count && blockIdx.x > 0) data[i] += sums[blockIdx.x - 1];
}

int main() {
    const size_t count = 30011;
    auto words = random_words(count, 23);
    uint32_t* data = device_array(words);
    unsigned groups = blocks(count);
    uint32_t* sums = poisoned<uint32_t>(groups);
    scan_block<<<groups, kBlock>>>(data, sums, count);
    scan_block<<<blocks(groups), kBlock>>>(sums, nullptr, groups);
    add_sums<<<groups, kBlock>>>(data, sums, count);
    CHECK(hipGetLastError());
    uint32_t sum = 0;
    for (auto& word : words) word = sum += word;
    verdict("scan", fetch(data, count), words);
    CHECK(hipFree(data));
    CHECK(hipFree(sums));
    return finish();
}
