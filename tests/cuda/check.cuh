// What every program here shares: errors end it, and a check that fails is printed and counted.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status_ = (call);                                                      \
        if (status_ != cudaSuccess) {                                                      \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            std::exit(2);                                                                  \
        }                                                                                  \
    } while (0)

// The same for calls of the driver, in programs that include cuda.h.
#define DRIVER(call)                                                                       \
    do {                                                                                   \
        CUresult status_ = (call);                                                         \
        if (status_ != CUDA_SUCCESS) {                                                     \
            std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, int(status_)); \
            std::exit(2);                                                                  \
        }                                                                                  \
    } while (0)

static int failures = 0;

#define EXPECT(condition, ...)                                                             \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            if (failures++ < 5) {                                                          \
                std::fprintf(stderr, "%s:%d: not %s: ", __FILE__, __LINE__, #condition);   \
                std::fprintf(stderr, __VA_ARGS__);                                         \
                std::fputc('\n', stderr);                                                  \
            }                                                                              \
        }                                                                                  \
    } while (0)

static int finish(const char* name) {
    std::printf("%s: %s\n", name, failures ? "wrong" : "right");
    return failures != 0;
}

// The step of an in-place recurrence: running it from the wrong memory gives another value.
__host__ __device__ inline unsigned next_value(unsigned v) { return v * 1664525u + 1013904223u; }
__host__ __device__ inline unsigned first_value(size_t i) { return unsigned(i * 2654435761u) ^ 3u; }

template <class T>
T* device_array(size_t count) {
    T* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, count * sizeof(T)));
    return pointer;
}

// A step of the recurrence of a whole array, in place.
__device__ inline void step_all(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = next_value(data[i]);
}

// An array that steps are taken on: it comes out right only where each began with what the last one left.
struct Recurrence {
    std::vector<unsigned> first;
    unsigned* data;

    explicit Recurrence(size_t count) : first(count), data(device_array<unsigned>(count)) {
        for (size_t i = 0; i < count; i++) first[i] = first_value(i);
        CHECK(cudaMemcpy(data, first.data(), count * 4, cudaMemcpyHostToDevice));
    }

    void expect(int steps) const {
        std::vector<unsigned> found(first.size(), 0xdeadbeef);
        CHECK(cudaMemcpy(found.data(), data, found.size() * 4, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < found.size(); i++) {
            unsigned expected = first[i];
            for (int k = 0; k < steps; k++) expected = next_value(expected);
            EXPECT(found[i] == expected, "element %zu", i);
        }
    }
};
