// Kernels that change their own input.
// without restore: advance reverse
#include "check.h"

__global__ void advance(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]);
}

// Swaps the two halves' mirror images: an even number of passes without a restore would undo it.
__global__ void reverse(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i >= count / 2) return;
    uint32_t low = data[i] + 1, high = data[count - 1 - i] + 2;
    data[i] = high;
    data[count - 1 - i] = low;
}

int main() {
    const size_t count = 10000;
    auto host = random_words(count, 1);
    uint32_t* data = device_array(host);
    for (int launch = 0; launch < 3; launch++) {
        advance<<<blocks(count), kBlock>>>(data, count);
        for (uint32_t& word : host) word = next_word(word);
    }
    CHECK(hipGetLastError());
    verdict("advance", fetch(data, count), host);

    host = random_words(count, 2);
    upload(data, host);
    reverse<<<blocks(count), kBlock>>>(data, count);
    CHECK(hipGetLastError());
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t low = host[i] + 1, high = host[count - 1 - i] + 2;
        host[i] = high;
        host[count - 1 - i] = low;
    }
    verdict("reverse", fetch(data, count), host);
    CHECK(hipFree(data));
    return finish();
}
