// A library without kernels that frees memory of the host when it is closed, for `main.hip`.
#include "../programs/check.h"

#include <algorithm>

static uint32_t* held = nullptr;

// What the GPU calls memory with these words.
extern "C" uint32_t* hold(const uint32_t* words, size_t count) {
    void* seen = nullptr;
    CHECK(hipHostMalloc(reinterpret_cast<void**>(&held), count * 4, hipHostMallocMapped));
    std::copy(words, words + count, held);
    CHECK(hipHostGetDevicePointer(&seen, held, 0));
    return static_cast<uint32_t*>(seen);
}

__attribute__((destructor)) static void let_go() {
    if (held) CHECK(hipHostFree(held));
}
