// A list that kernels append to through an atomic counter: another order of the waves gives another list, so where a
// pass writes is not what pass 0 tells.
// without restore: append
// may diverge: append
#include "check.h"
#include <algorithm>

__global__ void append(uint32_t* list, uint32_t* length, const uint32_t* in, size_t count) {
    size_t i = global_index();
    if (i < count && in[i] % 3 == 0) list[atomicAdd(length, 1u)] = in[i];
}

int main() {
    const size_t count = 6000;
    auto in = random_words(count, 9);
    uint32_t *device_in = device_array(in), *list = poisoned<uint32_t>(3 * count);
    uint32_t* length = device_array(std::vector<uint32_t>(1, 0));
    std::vector<uint32_t> expected;
    for (int launch = 0; launch < 3; launch++) {
        append<<<blocks(count), kBlock>>>(list, length, device_in, count);
        for (uint32_t word : in)
            if (word % 3 == 0) expected.push_back(word);
    }
    CHECK(hipGetLastError());
    uint32_t found_length = fetch(length, 1)[0];
    auto found = fetch(list, 3 * count);
    // What lies past the list must still be poison.
    expected.resize(3 * count, 0xa5a5a5a5u);
    size_t sorted = found_length < found.size() ? found_length : found.size();
    std::sort(found.begin(), found.begin() + sorted);
    std::sort(expected.begin(), std::find(expected.begin(), expected.end(), 0xa5a5a5a5u));
    found.push_back(found_length);
    uint32_t right_length = 0;
    for (uint32_t word : in) right_length += 3 * (word % 3 == 0);
    expected.push_back(right_length);
    verdict("append", found, expected);
    return finish();
}
