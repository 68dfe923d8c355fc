// Arguments by value that hold pointers, one of them at a multiple of four only.
#include <vector>
#include "check.cuh"

struct __attribute__((packed, aligned(4))) Odd {
    unsigned scale;
    unsigned* data;
};

struct Many {
    char tag;
    struct { unsigned* in; unsigned* out; } pair[3];
    double unused[20];
    size_t count;
};

__global__ void packed_struct(Odd odd, size_t count) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count) odd.data[i] = odd.data[i] * odd.scale + 1;
}

__global__ void large_struct(Many many) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= many.count) return;
    for (auto& pair : many.pair) pair.out[i] += pair.in[i] + many.tag;
}

int main() {
    constexpr size_t count = 5003;
    std::vector<unsigned> host(count), found(count);
    for (size_t i = 0; i < count; i++) host[i] = first_value(i);
    auto* in = device_array<unsigned>(count);
    CHECK(cudaMemcpy(in, host.data(), count * 4, cudaMemcpyHostToDevice));
    Many many{};
    many.tag = 5;
    many.count = count;
    for (auto& pair : many.pair) {
        pair.in = in;
        pair.out = device_array<unsigned>(count);
        CHECK(cudaMemset(pair.out, 0, count * 4));
    }
    for (int i = 0; i < 3; i++) large_struct<<<(count + 63) / 64, 64>>>(many);
    packed_struct<<<(count + 63) / 64, 64>>>(Odd{3, in}, count);
    packed_struct<<<(count + 63) / 64, 64>>>(Odd{3, in}, count);
    for (auto& pair : many.pair) {
        CHECK(cudaMemcpy(found.data(), pair.out, count * 4, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < count; i++) EXPECT(found[i] == 3 * (host[i] + 5), "element %zu", i);
    }
    CHECK(cudaMemcpy(found.data(), in, count * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) EXPECT(found[i] == (host[i] * 3 + 1) * 3 + 1, "element %zu", i);
    return finish("structures");
}
