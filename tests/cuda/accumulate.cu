// Accumulating: y += a * x, and a running sum in one word.
#include <vector>
#include "check.cuh"

__global__ void accumulate(unsigned long long* y, const unsigned* x, size_t count, unsigned a) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count) y[i] += (unsigned long long)a * x[i];
}

__global__ void total(unsigned long long* sum, const unsigned* x, size_t count) {
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) mine += x[i];
    atomicAdd(sum, mine);
}

int main() {
    constexpr size_t count = 100003;
    std::vector<unsigned> x(count);
    unsigned long long expected_sum = 0;
    for (size_t i = 0; i < count; i++) expected_sum += x[i] = unsigned(i * 7 + 1);
    auto* dx = device_array<unsigned>(count);
    auto* dy = device_array<unsigned long long>(count);
    auto* sum = device_array<unsigned long long>(1);
    CHECK(cudaMemcpy(dx, x.data(), count * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dy, 0, count * 8));
    CHECK(cudaMemset(sum, 0, 8));
    for (unsigned a = 1; a <= 5; a++) {
        accumulate<<<(count + 255) / 256, 256>>>(dy, dx, count, a);
        total<<<64, 256>>>(sum, dx, count);
    }
    std::vector<unsigned long long> y(count, ~0ull);
    unsigned long long found = 0;
    CHECK(cudaMemcpy(y.data(), dy, count * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found, sum, 8, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) EXPECT(y[i] == 15ull * x[i], "element %zu", i);
    EXPECT(found == 5 * expected_sum, "%llu", found);
    return finish("accumulate");
}
