// Ten kinds of kernels, for values kind by kind.
// In place, copy, reduction, matrix product in shared memory, tiny, long, one block, strided, atomic, divergent.
#pragma once
#include "check.hpp"

static __device__ unsigned at() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ unsigned next(unsigned v) { return v * 1664525u + 1013904223u; }

static __global__ void kind_in_place(unsigned* data, unsigned count) {
    if (at() < count) data[at()] = next(data[at()]);
}

static __global__ void kind_copy(unsigned* to, const unsigned* from, unsigned count) {
    for (unsigned i = at(); i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}

static __global__ void kind_reduction(unsigned* out, const unsigned* data, unsigned count) {
    __shared__ unsigned sums[256];
    unsigned sum = 0;
    for (unsigned i = at(); i < count; i += gridDim.x * blockDim.x) sum += data[i];
    sums[threadIdx.x] = sum;
    for (unsigned half = 128; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (!threadIdx.x) out[blockIdx.x] = sums[0];
}

static __global__ void kind_product(float* c, const float* a, const float* b, int n) {
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < n; start += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

static __global__ void kind_tiny(unsigned* data) { data[threadIdx.x] = threadIdx.x; }

static __global__ void kind_long(unsigned* data, unsigned turns) {
    unsigned v = at();
    for (unsigned k = 0; k < turns; k++) v = next(v);
    data[at()] = v;
}

static __global__ void kind_one_block(unsigned* data, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) data[i] = next(data[i]);
}

static __global__ void kind_strided(unsigned* data, unsigned count, unsigned stride) {
    unsigned i = at() * stride;
    if (i < count) data[i] = next(data[i]);
}

static __global__ void kind_atomic(unsigned* bins, unsigned count) {
    if (at() < count) atomicAdd(&bins[at() % 4096], 1u);
}

static __global__ void kind_divergent(unsigned* data, unsigned count) {
    if (at() >= count) return;
    unsigned v = at();
    for (unsigned k = 0; k < (at() & 31); k++) v = next(v);
    data[at()] = v;
}

// What they work on: 2.75 MiB, all of which stays in the second-level cache.
struct Kinds {
    static constexpr int ALL = 10;
    static constexpr unsigned COUNT = 1 << 18;
    static constexpr int N = 256;
    unsigned *data, *other;
    float *a, *b, *c;

    Kinds() {
        CUDA(cudaMalloc(&data, COUNT * 4));
        CUDA(cudaMalloc(&other, COUNT * 4));
        for (float** pointer : {&a, &b, &c}) {
            CUDA(cudaMalloc(pointer, N * N * 4));
            CUDA(cudaMemset(*pointer, 0, N * N * 4));
        }
        CUDA(cudaMemset(data, 1, COUNT * 4));
        CUDA(cudaMemset(other, 0, COUNT * 4));
    }

    void launch(int kind) const {
        switch (kind) {
            case 0: kind_in_place<<<COUNT / 256, 256>>>(data, COUNT); break;
            case 1: kind_copy<<<264, 256>>>(other, data, COUNT); break;
            case 2: kind_reduction<<<128, 256>>>(other, data, COUNT); break;
            case 3: kind_product<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(c, a, b, N); break;
            case 4: kind_tiny<<<1, 32>>>(other); break;
            case 5: kind_long<<<264, 256>>>(other, 20000); break;
            case 6: kind_one_block<<<1, 1024>>>(data, 16384); break;
            case 7: kind_strided<<<COUNT / 256 / 32, 256>>>(data, COUNT, 32); break;
            case 8: kind_atomic<<<COUNT / 256, 256>>>(other, COUNT); break;
            case 9: kind_divergent<<<COUNT / 256, 256>>>(other, COUNT); break;
        }
    }
};
