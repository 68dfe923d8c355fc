// Hundreds of small allocations, freed and made again between launches, so that old addresses get new owners.
// without restore: add_one
#include "check.h"

__global__ void add_one(uint32_t** cells, size_t count) {
    size_t i = global_index();
    if (i < count) *cells[i] = *cells[i] * 3 + 1;
}

int main() {
    const size_t count = 300;
    std::vector<uint32_t*> cells(count);
    std::vector<uint32_t> expected(count);
    for (size_t i = 0; i < count; i++) {
        expected[i] = uint32_t(i);
        cells[i] = device_array(std::vector<uint32_t>(1 + i % 40, expected[i]));
    }
    uint32_t** device_cells = poisoned<uint32_t*>(count);
    for (size_t round = 0; round < 4; round++) {
        upload(device_cells, cells);
        add_one<<<blocks(count), kBlock>>>(device_cells, count);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
        for (uint32_t& value : expected) value = value * 3 + 1;
        // Every third cell moves; its old address goes to the next one of the same size.
        for (size_t i = round; i < count; i += 3) {
            CHECK(hipFree(cells[i]));
            expected[i] = uint32_t(1000 * round + i);
            cells[i] = device_array(std::vector<uint32_t>(1 + i % 40, expected[i]));
        }
    }
    std::vector<uint32_t> found;
    for (uint32_t* cell : cells) found.push_back(fetch(cell, 1)[0]);
    verdict("add_one", found, expected);
    for (uint32_t* cell : cells) CHECK(hipFree(cell));
    CHECK(hipFree(device_cells));
    return finish();
}
