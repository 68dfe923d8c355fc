// Launches kernels of its own and of a library, and ends. The first argument is the library; the second tells when that is
// loaded: `before` the first launch, `after` it, or so that it is `closed` again before the last one. `holder`: the library is
// `holder.hip`, and it is closed after a launch that finds its memory by a pointer.
#include "../programs/check.h"

#include <dlfcn.h>

__global__ void of_the_program(uint32_t* data, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] = next_word(data[i]) + 1;
}

__global__ void follow(uint32_t* data, uint32_t* const* table, size_t count) {
    size_t i = global_index();
    if (i < count) data[i] += (*table)[i];
}

static int holder(void* library) {
    const size_t count = 1000;
    auto expected = random_words(count, 12), words = random_words(count, 13);
    uint32_t* data = device_array(expected);
    auto hold = reinterpret_cast<uint32_t* (*)(const uint32_t*, size_t)>(dlsym(library, "hold"));
    uint32_t** table = device_array(std::vector<uint32_t*>{hold(words.data(), count)});
    follow<<<blocks(count), kBlock>>>(data, table, count);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    dlclose(library);
    of_the_program<<<blocks(count), kBlock>>>(data, count);
    CHECK(hipGetLastError());
    for (size_t i = 0; i < count; i++) expected[i] = next_word(expected[i] + words[i]) + 1;
    verdict("holder", fetch(data, count), expected);
    return finish();
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    if (!std::strcmp(argv[2], "holder")) return holder(dlopen(argv[1], RTLD_NOW));
    const size_t count = 1000;
    auto expected = random_words(count, 12);
    uint32_t* data = device_array(expected);
    auto own = [&] {
        of_the_program<<<blocks(count), kBlock>>>(data, count);
        CHECK(hipGetLastError());
        for (uint32_t& word : expected) word = next_word(word) + 1;
    };
    const bool before = !std::strcmp(argv[2], "before"), closed = !std::strcmp(argv[2], "closed");
    if (!before) own();
    void* library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    auto launch = reinterpret_cast<void (*)(uint32_t*, size_t)>(dlsym(library, "launch"));
    for (int round = 0; round < 2; round++) {
        launch(data, count);
        for (uint32_t& word : expected) word = next_word(word);
    }
    CHECK(hipDeviceSynchronize());
    if (closed) dlclose(library);
    if (before || closed) own();
    verdict("both", fetch(data, count), expected);
    // Neither freed nor waited for: the process's end takes it.
    return finish();
}
