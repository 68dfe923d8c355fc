// State that lies in the code object: variables that kernels change, constants that the host changes.
// without restore: count scale_by_variable
#include "check.h"

__device__ uint32_t launches = 10;
__device__ uint32_t table[512];
__constant__ uint32_t factors[4] = {1, 2, 3, 4};

__global__ void count(uint32_t* out) {
    size_t i = global_index();
    table[i] += launches + uint32_t(i);
    out[i] = table[i];
    __syncthreads();
    if (i == 0) launches += 1;
}

__global__ void scale_by_constant(uint32_t* out, const uint32_t* in, size_t length) {
    size_t i = global_index();
    if (i < length) out[i] = in[i] * factors[i % 4];
}

__global__ void scale_by_variable(uint32_t* data, size_t length) {
    size_t i = global_index();
    if (i < length) data[i] = data[i] * table[i % 256] + 1;
}

int main() {
    // One work-group, so that the barrier orders the reads of `launches` before its change.
    std::vector<uint32_t> start(512, 5);
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(table), start.data(), 512 * 4));
    uint32_t* out = poisoned<uint32_t>(256);
    for (int launch = 0; launch < 3; launch++) count<<<1, 256>>>(out);
    CHECK(hipGetLastError());
    std::vector<uint32_t> expected, found = fetch(out, 256), rest(512);
    for (uint32_t i = 0; i < 256; i++) expected.push_back(5 + 10 + 11 + 12 + 3 * i);
    CHECK(hipMemcpyFromSymbol(rest.data(), HIP_SYMBOL(table), 512 * 4));
    found.insert(found.end(), rest.begin() + 256, rest.end());
    expected.resize(512, 5);
    uint32_t counted = 0;
    CHECK(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(launches), 4));
    found.push_back(counted);
    expected.push_back(13);
    verdict("count", found, expected);

    const size_t length = 3000;
    auto in = random_words(length, 70);
    uint32_t *device_in = device_array(in), *scaled = poisoned<uint32_t>(length);
    const uint32_t changed[4] = {9, 8, 7, 6};
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factors), changed, sizeof changed));
    scale_by_constant<<<blocks(length), kBlock>>>(scaled, device_in, length);
    std::vector<uint32_t> by_constant(length), by_variable(length);
    for (size_t i = 0; i < length; i++) by_constant[i] = in[i] * changed[i % 4];
    verdict("scale_by_constant", fetch(scaled, length), by_constant);

    scale_by_variable<<<blocks(length), kBlock>>>(device_in, length);
    CHECK(hipGetLastError());
    for (size_t i = 0; i < length; i++) by_variable[i] = in[i] * expected[i % 256] + 1;
    verdict("scale_by_variable", fetch(device_in, length), by_variable);
    return finish();
}
