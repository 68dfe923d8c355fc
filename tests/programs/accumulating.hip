// Kernels that add to what is there, beside one that only overwrites.
// without restore: add_float add_double
#include "check.h"

__global__ void add_float(float* sum, const float* in, size_t count) {
    size_t i = global_index();
    if (i < count) sum[i] += in[i];
}

__global__ void add_double(double* sum, const float* in, size_t count) {
    size_t i = global_index();
    if (i < count) sum[i] = sum[i] * 0.5 + in[i];
}

__global__ void overwrite(float* out, const float* in, size_t count) {
    size_t i = global_index();
    if (i < count) out[i] = 2.0f * in[i] + 1.0f;
}

int main() {
    const size_t count = 9001;
    auto in = random_floats(count, 3);
    float* device_in = device_array(in);

    auto sum = random_floats(count, 4);
    float* device_sum = device_array(sum);
    for (int launch = 0; launch < 4; launch++) {
        add_float<<<blocks(count), kBlock>>>(device_sum, device_in, count);
        for (size_t i = 0; i < count; i++) sum[i] += in[i];
    }
    CHECK(hipGetLastError());
    verdict("add_float", fetch(device_sum, count), sum);

    std::vector<double> mean(count, 8.0);
    double* device_mean = device_array(mean);
    for (int launch = 0; launch < 3; launch++) {
        add_double<<<blocks(count), kBlock>>>(device_mean, device_in, count);
        for (size_t i = 0; i < count; i++) mean[i] = mean[i] * 0.5 + in[i];
    }
    CHECK(hipGetLastError());
    verdict("add_double", fetch(device_mean, count), mean);

    float* device_out = poisoned<float>(count);
    overwrite<<<blocks(count), kBlock>>>(device_out, device_in, count);
    CHECK(hipGetLastError());
    std::vector<float> out(count);
    for (size_t i = 0; i < count; i++) out[i] = 2.0f * in[i] + 1.0f;
    verdict("overwrite", fetch(device_out, count), out);
    CHECK(hipFree(device_in));
    CHECK(hipFree(device_sum));
    CHECK(hipFree(device_mean));
    CHECK(hipFree(device_out));
    return finish();
}
