#include <hip/hip_runtime.h>

// One kernel an instruction, for one wave: what a lane holds of A, B and D is where the lane's number says. D holds C before.
template <class T, int N>
using vector = T __attribute__((ext_vector_type(N)));
typedef vector<_Float16, 4> halves4;
typedef vector<short, 2> shorts2;
typedef vector<short, 4> shorts4;

#define MATRIX(name, factor, result)                                                                        \
    extern "C" __global__ void name(const factor *a, const factor *b, result *d) {                         \
        int lane = threadIdx.x;                                                                             \
        d[lane] = __builtin_amdgcn_mfma_##name(a[lane], b[lane], d[lane], 0, 0, 0);                         \
    }
#define VECTOR(n) vector<float, n>
#define WHOLE(n) vector<int, n>

MATRIX(f32_32x32x1f32, float, VECTOR(32))
MATRIX(f32_16x16x1f32, float, VECTOR(16))
MATRIX(f32_4x4x1f32, float, VECTOR(4))
MATRIX(f32_32x32x2f32, float, VECTOR(16))
MATRIX(f32_16x16x4f32, float, VECTOR(4))
MATRIX(f32_32x32x4f16, halves4, VECTOR(32))
MATRIX(f32_16x16x4f16, halves4, VECTOR(16))
MATRIX(f32_4x4x4f16, halves4, VECTOR(4))
MATRIX(f32_32x32x8f16, halves4, VECTOR(16))
MATRIX(f32_16x16x16f16, halves4, VECTOR(4))
MATRIX(i32_32x32x4i8, int, WHOLE(32))
MATRIX(i32_16x16x4i8, int, WHOLE(16))
MATRIX(i32_4x4x4i8, int, WHOLE(4))
MATRIX(i32_32x32x8i8, int, WHOLE(16))
MATRIX(i32_16x16x16i8, int, WHOLE(4))
MATRIX(f32_32x32x2bf16, shorts2, VECTOR(32))
MATRIX(f32_16x16x2bf16, shorts2, VECTOR(16))
MATRIX(f32_4x4x2bf16, shorts2, VECTOR(4))
MATRIX(f32_32x32x4bf16, shorts2, VECTOR(16))
MATRIX(f32_16x16x8bf16, shorts2, VECTOR(4))
MATRIX(f32_32x32x4bf16_1k, shorts4, VECTOR(32))
MATRIX(f32_16x16x4bf16_1k, shorts4, VECTOR(16))
MATRIX(f32_4x4x4bf16_1k, shorts4, VECTOR(4))
MATRIX(f32_32x32x8bf16_1k, shorts4, VECTOR(16))
MATRIX(f32_16x16x16bf16_1k, shorts4, VECTOR(4))
typedef vector<double, 4> doubles4;
MATRIX(f64_16x16x4f64, double, doubles4)
MATRIX(f64_4x4x4f64, double, double)

// Few lanes are active, and the others take part all the same. C is a constant.
extern "C" __global__ void masked(const float *a, const float *b, VECTOR(4) *d) {
    int lane = threadIdx.x;
    VECTOR(4) sum;
    asm volatile(
        "s_mov_b64 exec, 0x808\n s_nop 4\n v_mfma_f32_16x16x4f32 %0, %1, %2, 1.0\n s_nop 15\n s_mov_b64 exec, -1"
        : "=&v"(sum)
        : "v"(a[lane]), "v"(b[lane]));
    d[lane] = sum;
}

extern "C" __global__ void broadcast(VECTOR(4) *d) {
    VECTOR(4) c = {0, 0, 0, 0};
    d[threadIdx.x] = __builtin_amdgcn_mfma_f32_4x4x1f32(1.0f, 2.0f, c, 1, 0, 0);
}
