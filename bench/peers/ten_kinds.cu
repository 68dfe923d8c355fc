// Ten kinds of kernels in turn, for values kernel by kernel: ten_kinds LAUNCHES_OF_EACH
// In place, copy, reduction, matrix product in shared memory, tiny, long, one block, strided, atomic, divergent.
#include "check.hpp"

#include <cstdio>
#include <cstdlib>

__device__ unsigned at() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned next(unsigned v) { return v * 1664525u + 1013904223u; }

__global__ void kind_in_place(unsigned* data, unsigned count) {
    if (at() < count) data[at()] = next(data[at()]);
}

__global__ void kind_copy(unsigned* to, const unsigned* from, unsigned count) {
    for (unsigned i = at(); i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}

__global__ void kind_reduction(unsigned* out, const unsigned* data, unsigned count) {
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

__global__ void kind_product(float* c, const float* a, const float* b, int n) {
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

__global__ void kind_tiny(unsigned* data) { data[threadIdx.x] = threadIdx.x; }

__global__ void kind_long(unsigned* data, unsigned turns) {
    unsigned v = at();
    for (unsigned k = 0; k < turns; k++) v = next(v);
    data[at()] = v;
}

__global__ void kind_one_block(unsigned* data, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) data[i] = next(data[i]);
}

__global__ void kind_strided(unsigned* data, unsigned count, unsigned stride) {
    unsigned i = at() * stride;
    if (i < count) data[i] = next(data[i]);
}

__global__ void kind_atomic(unsigned* bins, unsigned count) {
    if (at() < count) atomicAdd(&bins[at() % 4096], 1u);
}

__global__ void kind_divergent(unsigned* data, unsigned count) {
    if (at() >= count) return;
    unsigned v = at();
    for (unsigned k = 0; k < (at() & 31); k++) v = next(v);
    data[at()] = v;
}

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: ten_kinds LAUNCHES_OF_EACH\n"), 2;
    constexpr unsigned count = 1 << 18;
    constexpr int n = 256;
    unsigned *data, *other;
    float *a, *b, *c;
    CUDA(cudaMalloc(&data, count * 4));
    CUDA(cudaMalloc(&other, count * 4));
    for (float** pointer : {&a, &b, &c}) {
        CUDA(cudaMalloc(pointer, n * n * 4));
        CUDA(cudaMemset(*pointer, 0, n * n * 4));
    }
    CUDA(cudaMemset(data, 1, count * 4));
    CUDA(cudaMemset(other, 0, count * 4));
    for (int k = 0; k < std::atoi(argv[1]); k++) {
        kind_in_place<<<count / 256, 256>>>(data, count);
        kind_copy<<<264, 256>>>(other, data, count);
        kind_reduction<<<128, 256>>>(other, data, count);
        kind_product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n);
        kind_tiny<<<1, 32>>>(other);
        kind_long<<<264, 256>>>(other, 20000);
        kind_one_block<<<1, 1024>>>(data, 16384);
        kind_strided<<<count / 256 / 32, 256>>>(data, count, 32);
        kind_atomic<<<count / 256, 256>>>(other, count);
        kind_divergent<<<count / 256, 256>>>(other, count);
    }
    CUDA(cudaDeviceSynchronize());
    std::printf("ten_kinds: done\n");
}
