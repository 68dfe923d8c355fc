// Kernels whose output is nowhere their input: right whatever is put back.
// without restore:
#include "check.h"

__global__ void add(uint32_t* out, const uint32_t* a, const uint32_t* b, size_t count) {
    size_t i = global_index();
    if (i < count) out[i] = a[i] + b[i];
}

__global__ void gather(uint32_t* out, const uint32_t* in, const uint32_t* order, size_t count) {
    size_t i = global_index();
    if (i < count) out[i] = in[order[i] % count];
}

__global__ void transpose(uint32_t* out, const uint32_t* in, unsigned side) {
    __shared__ uint32_t tile[16][17];
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * side + x];
    __syncthreads();
    unsigned column = blockIdx.y * 16 + threadIdx.x, row = blockIdx.x * 16 + threadIdx.y;
    out[row * side + column] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    const size_t count = 128 * 128;
    auto a = random_words(count, 5), b = random_words(count, 6);
    uint32_t *device_a = device_array(a), *device_b = device_array(b), *out = poisoned<uint32_t>(count);
    std::vector<uint32_t> expected(count);

    add<<<blocks(count), kBlock>>>(out, device_a, device_b, count);
    for (size_t i = 0; i < count; i++) expected[i] = a[i] + b[i];
    verdict("add", fetch(out, count), expected);

    CHECK(hipMemset(out, 0xa5, count * 4));
    gather<<<blocks(count), kBlock>>>(out, device_a, device_b, count);
    for (size_t i = 0; i < count; i++) expected[i] = a[b[i] % count];
    verdict("gather", fetch(out, count), expected);

    CHECK(hipMemset(out, 0xa5, count * 4));
    transpose<<<dim3(8, 8), dim3(16, 16)>>>(out, device_a, 128);
    CHECK(hipGetLastError());
    for (size_t y = 0; y < 128; y++)
        for (size_t x = 0; x < 128; x++) expected[x * 128 + y] = a[y * 128 + x];
    verdict("transpose", fetch(out, count), expected);
    CHECK(hipFree(device_a));
    CHECK(hipFree(device_b));
    CHECK(hipFree(out));
    return finish();
}
