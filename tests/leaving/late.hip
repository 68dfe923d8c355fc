// A library with a kernel of its own, for `main.hip`.
#include "../programs/check.h"

__global__ void of_the_library(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

extern "C" void launch(uint32_t* data, size_t count) {
    of_the_library<<<blocks(count), kBlock>>>(data, count);
    CHECK(hipGetLastError());
}
