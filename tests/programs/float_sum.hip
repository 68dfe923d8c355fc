// Reductions with atomics on floating point, through LDS and straight to memory. The sums are of small whole numbers, so
// that every order gives the same bits.
// without restore: block_sums straight_sums
#include "check.h"

__global__ void block_sums(float* total, const float* in, size_t count) {
    __shared__ float partial[kBlock];
    size_t i = global_index();
    partial[threadIdx.x] = i < count ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned half = kBlock / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

__global__ void straight_sums(float* totals, const float* in, size_t count) {
    size_t i = global_index();
    if (i < count) atomicAdd(totals + i % 8, in[i]);
}

// Writes its own place only: right in any pass, restored or not.
__global__ void block_means(float* means, const float* in, size_t count) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    size_t i = global_index();
    if (i < count) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) means[blockIdx.x] = sum / kBlock;
}

int main() {
    const size_t count = 5000;
    auto in = random_floats(count, 29, 8);
    float* device_in = device_array(in);

    std::vector<float> total(1, 3.0f);
    float* device_total = device_array(total);
    for (int launch = 0; launch < 2; launch++) {
        block_sums<<<blocks(count), kBlock>>>(device_total, device_in, count);
        for (float value : in) total[0] += value;
    }
    CHECK(hipGetLastError());
    verdict("block_sums", fetch(device_total, 1), total);

    std::vector<float> totals(8, 1.0f);
    float* device_totals = device_array(totals);
    straight_sums<<<blocks(count), kBlock>>>(device_totals, device_in, count);
    CHECK(hipGetLastError());
    for (size_t i = 0; i < count; i++) totals[i % 8] += in[i];
    verdict("straight_sums", fetch(device_totals, 8), totals);

    std::vector<float> means(blocks(count), 0.0f);
    for (size_t i = 0; i < count; i++) means[i / kBlock] += in[i];
    for (float& mean : means) mean /= kBlock;
    float* device_means = poisoned<float>(means.size());
    block_means<<<blocks(count), kBlock>>>(device_means, device_in, count);
    CHECK(hipGetLastError());
    verdict("block_means", fetch(device_means, means.size()), means);
    for (float* memory : {device_in, device_total, device_totals, device_means}) CHECK(hipFree(memory));
    return finish();
}
