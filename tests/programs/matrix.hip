// Matrix instructions: products of whole matrices, a tile a wave, added to what was there.
// without restore: singles_32 singles_16 halves_32
#include "check.h"

constexpr int kRows = 64, kColumns = 96, kDepth = 32;

template <class T, int N>
using vector = T __attribute__((ext_vector_type(N)));

// Which row of a tile of D a lane holds in a register; its column is the lane's number within the tile's side.
template <int kSide>
__device__ int row_of(int item) {
    int lane = threadIdx.x;
    return kSide == 32 ? item / 4 * 8 + lane / 32 * 4 + item % 4 : lane / 16 * 4 + item;
}

template <int kSide, int kItems, class Multiply>
__device__ void tile(float* c, Multiply multiply) {
    int row = blockIdx.y * kSide, column = blockIdx.x * kSide + threadIdx.x % kSide;
    vector<float, kItems> sum;
    for (int item = 0; item < kItems; item++) sum[item] = c[(row + row_of<kSide>(item)) * kColumns + column];
    sum = multiply(row + threadIdx.x % kSide, column, threadIdx.x / kSide, sum);
    for (int item = 0; item < kItems; item++) c[(row + row_of<kSide>(item)) * kColumns + column] = sum[item];
}

__global__ void singles_32(float* c, const float* a, const float* b) {
    tile<32, 16>(c, [=](int row, int column, int k, vector<float, 16> sum) {
        for (; k < kDepth; k += 2)
            sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[row * kDepth + k], b[k * kColumns + column], sum, 0, 0, 0);
        return sum;
    });
}

__global__ void singles_16(float* c, const float* a, const float* b) {
    tile<16, 4>(c, [=](int row, int column, int k, vector<float, 4> sum) {
        for (; k < kDepth; k += 4)
            sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[row * kDepth + k], b[k * kColumns + column], sum, 0, 0, 0);
        return sum;
    });
}

__global__ void halves_32(float* c, const float* a, const float* b) {
    tile<32, 16>(c, [=](int row, int column, int k, vector<float, 16> sum) {
        for (k *= 4; k < kDepth; k += 8) {
            vector<_Float16, 4> x, y;
            for (int i = 0; i < 4; i++) {
                x[i] = _Float16(a[row * kDepth + k + i]);
                y[i] = _Float16(b[(k + i) * kColumns + column]);
            }
            sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
        }
        return sum;
    });
}

int main() {
    auto a = random_floats(kRows * kDepth, 31), b = random_floats(kDepth * kColumns, 32), c = random_floats(kRows * kColumns, 33);
    std::vector<float> expected = c;
    for (int row = 0; row < kRows; row++)
        for (int column = 0; column < kColumns; column++)
            for (int k = 0; k < kDepth; k++)
                expected[row * kColumns + column] += a[row * kDepth + k] * b[k * kColumns + column];
    float *da = device_array(a), *db = device_array(b);
    auto product = [&](const char* name, void (*kernel)(float*, const float*, const float*), int side) {
        float* dc = device_array(c);
        kernel<<<dim3(kColumns / side, kRows / side), 64>>>(dc, da, db);
        CHECK(hipGetLastError());
        verdict(name, fetch(dc, kRows * kColumns), expected);
        CHECK(hipFree(dc));
    };
    product("singles_32", singles_32, 32);
    product("singles_16", singles_16, 16);
    product("halves_32", halves_32, 32);
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    return finish();
}
