// Memory of the process that was not allocated for the GPU, and what only seems to be.
#pragma once
#include "cases.h"

// Where the GPU reaches all memory of the process: kernels are given what was not allocated for it.
static void process_memory() {
    Out out;
    std::vector<uint32_t> words = random_words(kCount, 8), expected = words;
    launch(advance, words.data());
    advance_words(expected);
    launch(add, out.data, static_cast<const uint32_t*>(words.data()));
    out.adds(expected);
    launch(advance, out.data);
    advance_words(out.expected);
    verdict("process", words, expected);
    out.check("process");
}

// Named as HIP names those with which it copies.
extern "C" __global__ void __amd_rocclr_copyBufferTest(uint32_t* to, const uint32_t* from) {
    to[global_index()] = from[global_index()];
}

// Such a copy from memory of the process, which is written anew when it has ended.
static void copied_process_memory() {
    Out out;
    launch(advance, out.data);
    std::vector<uint32_t> words = random_words(kCount, 14);
    launch(__amd_rocclr_copyBufferTest, out.data, static_cast<const uint32_t*>(words.data()));
    out.expected = words;
    words.assign(kCount, 0);
    launch(advance, out.data);
    advance_words(out.expected);
    out.check("copied process memory");
}

// Stores into one of three, and looks at what only seem to be addresses.
__global__ void choose(uint32_t* first, uint32_t* end, uint32_t* other) {
    size_t i = global_index();
    if (first != other && first + i < end) first[i] = next_word(first[i]);
}

// What is no memory of the process's that a kernel could use: nothing, what was freed, an end, a number; and a variable.
static void no_memory() {
    Out out;
    uint32_t* freed = poisoned<uint32_t>(kCount);
    CHECK(hipFree(freed));
    auto reserved = static_cast<uint32_t*>(calls->reserve(kBytes));
    uint32_t* number = reinterpret_cast<uint32_t*>(3);
    for (uint32_t* other : {static_cast<uint32_t*>(nullptr), freed, reserved, number}) {
        launch(choose, out.data, out.data + kCount, other);
        advance_words(out.expected);
    }
    void* address = nullptr;
    CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    launch(fill, static_cast<uint32_t*>(address), 3u);
    launch(add, out.data, static_cast<const uint32_t*>(address));
    out.adds(filled(3));
    out.check("no memory");
}
