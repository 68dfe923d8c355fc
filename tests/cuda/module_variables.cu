// Variables of the module: counters that kernels change, initialised and not, a constant, and one of odd size.
#include <vector>
#include "check.cuh"

__device__ unsigned launches = 40;
__device__ unsigned long long sums[100];
__device__ unsigned char odd[7];
__constant__ unsigned factor = 3;

__global__ void count_launch(unsigned* out) {
    unsigned t = threadIdx.x;
    if (t == 0 && blockIdx.x == 0) launches++;
    if (t < 100 && blockIdx.x == 0) sums[t] += t * factor;
    if (t < 7 && blockIdx.x == 0) odd[t] += t + 1;
    if (t == 0) atomicAdd(out, 1u);
}

int main() {
    auto* out = device_array<unsigned>(1);
    CHECK(cudaMemset(out, 0, 4));
    for (int i = 0; i < 6; i++) count_launch<<<3, 128>>>(out);
    unsigned count = 0, total = 0;
    unsigned long long found[100];
    unsigned char bytes[7];
    CHECK(cudaMemcpyFromSymbol(&count, launches, 4));
    CHECK(cudaMemcpyFromSymbol(found, sums, sizeof found));
    CHECK(cudaMemcpyFromSymbol(bytes, odd, 7));
    CHECK(cudaMemcpy(&total, out, 4, cudaMemcpyDeviceToHost));
    EXPECT(count == 46, "%u launches", count);
    EXPECT(total == 18, "%u blocks", total);
    for (unsigned i = 0; i < 100; i++) EXPECT(found[i] == 6ull * i * 3, "sum %u is %llu", i, found[i]);
    for (unsigned i = 0; i < 7; i++) EXPECT(bytes[i] == 6 * (i + 1), "byte %u", i);
    unsigned changed = 5;
    CHECK(cudaMemcpyToSymbol(factor, &changed, 4));
    count_launch<<<3, 128>>>(out);
    CHECK(cudaMemcpyFromSymbol(found, sums, sizeof found));
    for (unsigned i = 0; i < 100; i++) EXPECT(found[i] == i * 23ull, "sum %u is %llu", i, found[i]);
    return finish("module_variables");
}
