// Host memory that a kernel finds by a pointer in device memory, and that is freed while the kernel's window is open.
// without restore:
#include "check.h"

#include <algorithm>

struct Table {
    const uint32_t* words;
};

__global__ void follow(uint32_t* out, const Table* table, size_t count) {
    size_t i = global_index();
    if (i < count) out[i] = table->words[i] * 3 + 1;
}

__global__ void beside(uint32_t* out, size_t count) {
    size_t i = global_index();
    if (i < count) out[i] = static_cast<uint32_t>(i);
}

int main() {
    const size_t count = 4096;
    auto words = random_words(count, 9);
    std::vector<uint32_t> expected(count);
    for (size_t i = 0; i < count; i++) expected[i] = words[i] * 3 + 1;
    uint32_t* out = poisoned<uint32_t>(count);
    Table* table;
    CHECK(hipMalloc(&table, sizeof(Table)));

    for (int round = 0; round < 2; round++) {
        uint32_t *host = nullptr, *seen = nullptr;
        CHECK(hipHostMalloc(reinterpret_cast<void**>(&host), count * 4, hipHostMallocMapped));
        std::copy(words.begin(), words.end(), host);
        CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), host, 0));
        Table filled{seen};
        CHECK(hipMemcpy(table, &filled, sizeof filled, hipMemcpyHostToDevice));
        follow<<<blocks(count), kBlock>>>(out, table, count);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
        CHECK(hipHostFree(host));
        verdict("follow", fetch(out, count), expected);
    }

    beside<<<blocks(count), kBlock>>>(out, count);
    for (size_t i = 0; i < count; i++) expected[i] = static_cast<uint32_t>(i);
    verdict("beside", fetch(out, count), expected);
    CHECK(hipFree(table));
    CHECK(hipFree(out));
    return finish();
}
