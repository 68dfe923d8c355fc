// Atomic append: the order, and so what each pass writes where, moves from pass to pass.
#include <algorithm>
#include <vector>
#include "check.cuh"

__global__ void append(unsigned* out, unsigned* length, unsigned base, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    // Work of different lengths, so that the order differs.
    unsigned v = i;
    for (unsigned k = 0; k < (i * 7919u) % 61; k++) v = next_value(v);
    if (v % 3 != 4) out[atomicAdd(length, 1u)] = base + i;
}

int main() {
    constexpr unsigned count = 50000, launches = 5, room = count * launches + 4096;
    auto* out = device_array<unsigned>(room);
    auto* length = device_array<unsigned>(1);
    CHECK(cudaMemset(out, 0xff, room * 4));
    CHECK(cudaMemset(length, 0, 4));
    for (unsigned k = 0; k < launches; k++) append<<<(count + 255) / 256, 256>>>(out, length, k * count, count);
    std::vector<unsigned> found(room);
    unsigned n = 0;
    CHECK(cudaMemcpy(found.data(), out, room * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&n, length, 4, cudaMemcpyDeviceToHost));
    EXPECT(n == count * launches, "length %u", n);
    for (unsigned i = count * launches; i < room; i++) EXPECT(found[i] == ~0u, "element %u past the end", i);
    std::sort(found.begin(), found.begin() + count * launches);
    for (unsigned i = 0; i < count * launches; i++) EXPECT(found[i] == i, "element %u", i);
    return finish("append");
}
