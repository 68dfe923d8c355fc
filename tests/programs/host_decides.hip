// What the host reads decides what runs next: a wrong value anywhere gives another number of launches.
// without restore: halve
#include "check.h"

// Collatz steps on every element; says how many have not reached 1.
__global__ void halve(uint32_t* data, uint32_t* left, size_t count) {
    size_t i = global_index();
    if (i >= count || data[i] == 1) return;
    data[i] = data[i] % 2 == 0 ? data[i] / 2 : 3 * data[i] + 1;
    if (data[i] != 1) atomicAdd(left, 1u);
}

int main() {
    const size_t count = 120;
    std::vector<uint32_t> host;
    for (size_t i = 0; i < count; i++) host.push_back(uint32_t(i % 25 + 1));
    uint32_t *data = device_array(host), *left = poisoned<uint32_t>(1);
    std::vector<uint32_t> steps(1, 0), expected(1, 0);
    for (uint32_t unfinished = 1; unfinished != 0 && steps[0] < 100; steps[0]++) {
        CHECK(hipMemset(left, 0, 4));
        halve<<<blocks(count), kBlock>>>(data, left, count);
        CHECK(hipGetLastError());
        unfinished = fetch(left, 1)[0];
    }
    for (uint32_t start = 1; start <= 25; start++) {
        uint32_t needed = 0;
        for (uint32_t value = start; value != 1; needed++) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        expected[0] = needed > expected[0] ? needed : expected[0];
    }
    verdict("halve", steps, expected);
    return finish();
}
