// Atomics, integer and floating-point: what every pass adds stays unless it is put back.
// without restore: histogram add_float add_double swap_sum count_64
#include "check.h"

__global__ void histogram(uint32_t* bins, const uint32_t* in, size_t count) {
    size_t i = global_index();
    if (i < count) atomicAdd(&bins[in[i] % 61], 1u);
}

__global__ void maximum(uint32_t* most, const uint32_t* in, size_t count) {
    size_t i = global_index();
    if (i < count) atomicMax(most, in[i]);
}

__global__ void add_float(float* sums, const float* in, size_t count) {
    size_t i = global_index();
    if (i < count) atomicAdd(&sums[i % 7], in[i]);
}

__global__ void add_double(double* sums, const float* in, size_t count) {
    size_t i = global_index();
    if (i < count) atomicAdd(&sums[i % 5], double(in[i]));
}

// A compare-and-swap loop, which adds three each time.
__global__ void swap_sum(uint32_t* cells, size_t count) {
    size_t i = global_index();
    if (i >= count) return;
    uint32_t *cell = &cells[i % 97], seen = *cell, expected;
    do {
        expected = seen;
        seen = atomicCAS(cell, expected, expected + 3);
    } while (seen != expected);
}

__global__ void count_64(unsigned long long* total, const uint32_t* in, size_t count) {
    size_t i = global_index();
    if (i < count) atomicAdd(total, static_cast<unsigned long long>(in[i]));
}

int main() {
    const size_t count = 4096;
    auto words = random_words(count, 7);
    auto floats = random_floats(count, 8);
    uint32_t* device_words = device_array(words);
    float* device_floats = device_array(floats);

    std::vector<uint32_t> bins(61, 100);
    uint32_t* device_bins = device_array(bins);
    for (int launch = 0; launch < 2; launch++) histogram<<<blocks(count), kBlock>>>(device_bins, device_words, count);
    for (uint32_t word : words) bins[word % 61] += 2;
    verdict("histogram", fetch(device_bins, 61), bins);

    std::vector<uint32_t> most(1, 5);
    uint32_t* device_most = device_array(most);
    maximum<<<blocks(count), kBlock>>>(device_most, device_words, count);
    for (uint32_t word : words) most[0] = word > most[0] ? word : most[0];
    verdict("maximum", fetch(device_most, 1), most);

    std::vector<float> sums(7, 1.0f);
    float* device_sums = device_array(sums);
    add_float<<<blocks(count), kBlock>>>(device_sums, device_floats, count);
    for (size_t i = 0; i < count; i++) sums[i % 7] += floats[i];
    verdict("add_float", fetch(device_sums, 7), sums);

    std::vector<double> doubles(5, 1.0);
    double* device_doubles = device_array(doubles);
    add_double<<<blocks(count), kBlock>>>(device_doubles, device_floats, count);
    for (size_t i = 0; i < count; i++) doubles[i % 5] += floats[i];
    verdict("add_double", fetch(device_doubles, 5), doubles);

    std::vector<uint32_t> cells(97, 11);
    uint32_t* device_cells = device_array(cells);
    swap_sum<<<blocks(count), kBlock>>>(device_cells, count);
    for (size_t i = 0; i < count; i++) cells[i % 97] += 3;
    verdict("swap_sum", fetch(device_cells, 97), cells);

    std::vector<unsigned long long> total(1, 42);
    unsigned long long* device_total = device_array(total);
    count_64<<<blocks(count), kBlock>>>(device_total, device_words, count);
    for (uint32_t word : words) total[0] += word;
    CHECK(hipGetLastError());
    verdict("count_64", fetch(device_total, 1), total);
    return finish();
}
