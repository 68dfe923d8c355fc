// What the cases of `mappings.hip` share.
#pragma once
#include "../programs/check.h"
#include "newer.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <thread>

static const size_t kCount = 1024, kBytes = kCount * 4;
static const NewerCalls* calls;

#define MUST(call)                                                            \
    do {                                                                      \
        if ((call) != HSA_STATUS_SUCCESS) {                                   \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #call);   \
            std::exit(2);                                                     \
        }                                                                     \
    } while (0)

__global__ void fill(uint32_t* data, uint32_t word) { data[global_index()] = word + uint32_t(global_index()); }

__global__ void advance(uint32_t* data) { data[global_index()] = next_word(data[global_index()]); }

__global__ void add(uint32_t* out, const uint32_t* data) { out[global_index()] += data[global_index()]; }

__device__ uint32_t variable[kCount];

template <class... T>
static void launch(void (*kernel)(T...), T... arguments) {
    kernel<<<kCount / kBlock, kBlock>>>(arguments...);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
}

struct Out {
    std::vector<uint32_t> expected = random_words(kCount, 3);
    uint32_t* data = device_array(expected);
    void adds(const std::vector<uint32_t>& words) {
        for (size_t i = 0; i < kCount; i++) expected[i] += words[i];
    }
    void adds(uint32_t word) {
        for (uint32_t& one : expected) one += word;
    }
    void check(const char* name) { verdict(name, fetch(data, kCount), expected); }
};

static std::vector<uint32_t> filled(uint32_t word) {
    std::vector<uint32_t> words(kCount);
    for (size_t i = 0; i < kCount; i++) words[i] = word + uint32_t(i);
    return words;
}

static uint32_t* mapped(void* address, uint64_t handle) {
    MUST(calls->map(address, kBytes, handle));
    MUST(calls->access(address, kBytes, HSA_ACCESS_PERMISSION_RW));
    return static_cast<uint32_t*>(address);
}

static void advance_words(std::vector<uint32_t>& words) {
    for (uint32_t& word : words) word = next_word(word);
}

template <class T>
static T function(const char* name) {
    auto found = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
    if (!found) std::exit(2);
    return found;
}
