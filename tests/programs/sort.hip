// Sorts: bitonic in place over global memory, and a stable radix pass (histogram, offsets, scatter) out of place.
// without restore: radix
#include "check.h"

#include <algorithm>

__global__ void bitonic_step(uint32_t* keys, unsigned run, unsigned distance) {
    unsigned i = static_cast<unsigned>(global_index()), other = i ^ distance;
    if (other <= i) return;
    bool ascending = (i & run) == 0;
    uint32_t low = keys[i], high = keys[other];
    if ((low > high) == ascending) {
        keys[i] = high;
        keys[other] = low;
    }
}

__global__ void count_digits(const uint32_t* keys, unsigned* histogram, unsigned count, unsigned shift) {
    unsigned i = static_cast<unsigned>(global_index());
    if (i < count) atomicAdd(histogram + (keys[i] >> shift & 15u), 1u);
}

// One thread a digit: the offsets are changed in place, and the order of equal keys is kept.
__global__ void scatter(uint32_t* out, const uint32_t* keys, unsigned* offsets, unsigned count, unsigned shift) {
    unsigned digit = threadIdx.x;
    for (unsigned i = 0; i < count; i++)
        if ((keys[i] >> shift & 15u) == digit) out[offsets[digit]++] = keys[i];
}

__global__ void exclusive_offsets(unsigned* histogram) {
    unsigned sum = 0;
    for (unsigned digit = 0; digit < 16; digit++) {
        unsigned here = histogram[digit];
        histogram[digit] = sum;
        sum += here;
    }
}

int main() {
    const unsigned count = 2048;
    auto keys = random_words(count, 24);
    uint32_t* device_keys = device_array(keys);
    for (unsigned run = 2; run <= count; run *= 2)
        for (unsigned distance = run / 2; distance > 0; distance /= 2)
            bitonic_step<<<blocks(count), kBlock>>>(device_keys, run, distance);
    CHECK(hipGetLastError());
    auto sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    verdict("bitonic", fetch(device_keys, count), sorted);

    const unsigned few = 700;
    std::vector<uint32_t> small(keys.begin(), keys.begin() + few);
    for (auto& key : small) key &= 0xffu;
    uint32_t* from = device_array(small);
    uint32_t* to = poisoned<uint32_t>(few);
    for (unsigned shift = 0; shift < 8; shift += 4) {
        unsigned* histogram = device_array(std::vector<unsigned>(16, 0));
        count_digits<<<blocks(few), kBlock>>>(from, histogram, few, shift);
        exclusive_offsets<<<1, 1>>>(histogram);
        scatter<<<1, 16>>>(to, from, histogram, few, shift);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
        CHECK(hipFree(histogram));
        std::swap(from, to);
    }
    std::stable_sort(small.begin(), small.end());
    verdict("radix", fetch(from, few), small);
    CHECK(hipFree(device_keys));
    CHECK(hipFree(from));
    CHECK(hipFree(to));
    return finish();
}
