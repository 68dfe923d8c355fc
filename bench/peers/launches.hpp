// What is launched and timed around CUPTI's sessions: the in-place kernel, and a clock.
#pragma once
#include "check.hpp"

#include <chrono>

static __global__ void step(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = data[i] * 1664525u + 1013904223u;
}

// Launches it so often over `bytes`, and waits.
static void launch_all(unsigned* data, size_t bytes, int launches) {
    for (int i = 0; i < launches; i++) step<<<264, 256>>>(data, bytes / 4);
    CUDA(cudaDeviceSynchronize());
}

static double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
