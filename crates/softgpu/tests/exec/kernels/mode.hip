#include <hip/hip_runtime.h>

#define ITEM blockIdx.x *blockDim.x + threadIdx.x

// The MODE register: its first byte holds the rounding and denormal fields. Memory clobbers keep the arithmetic between.
static __device__ void set_mode(unsigned mode) {
    asm volatile("s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), %0" ::"s"(mode) : "memory");
}

extern "C" __global__ void singles(const float *a, const float *b, const float *c, float *out, int mode) {
    int i = ITEM;
    float x = a[i], y = b[i], z = c[i];
    float r0, r1, r2, r3, r4;
    set_mode(mode);
    asm volatile("v_add_f32 %0, %1, %2" : "=v"(r0) : "v"(x), "v"(y) : "memory");
    asm volatile("v_mul_f32 %0, %1, %2" : "=v"(r1) : "v"(x), "v"(y) : "memory");
    asm volatile("v_fma_f32 %0, %1, %2, %3" : "=v"(r2) : "v"(x), "v"(y), "v"(z) : "memory");
    asm volatile("v_sub_f32 %0, %1, %2" : "=v"(r3) : "v"(x), "v"(y) : "memory");
    asm volatile("v_cvt_f32_i32 %0, %1" : "=v"(r4) : "v"(__float_as_int(x)) : "memory");
    set_mode(0xf0);
    out[5 * i] = r0;
    out[5 * i + 1] = r1;
    out[5 * i + 2] = r2;
    out[5 * i + 3] = r3;
    out[5 * i + 4] = r4;
}

extern "C" __global__ void doubles(const double *a, const double *b, const double *c, double *out, int mode) {
    int i = ITEM;
    double x = a[i], y = b[i], z = c[i];
    double r0, r1, r2;
    set_mode(mode);
    asm volatile("v_add_f64 %0, %1, %2" : "=v"(r0) : "v"(x), "v"(y) : "memory");
    asm volatile("v_mul_f64 %0, %1, %2" : "=v"(r1) : "v"(x), "v"(y) : "memory");
    asm volatile("v_fma_f64 %0, %1, %2, %3" : "=v"(r2) : "v"(x), "v"(y), "v"(z) : "memory");
    set_mode(0xf0);
    out[3 * i] = r0;
    out[3 * i + 1] = r1;
    out[3 * i + 2] = r2;
}

extern "C" __global__ void modifiers(const float *a, float *out) {
    int i = ITEM;
    float x = a[i], *o = out + 6 * i;
    asm volatile("v_add_f32 %0, %1, 0 clamp" : "=v"(o[0]) : "v"(x));
    asm volatile("v_mul_f32 %0, |%1|, 1.0 mul:2" : "=v"(o[1]) : "v"(x));
    asm volatile("v_mul_f32 %0, -%1, 1.0 div:2" : "=v"(o[2]) : "v"(x));
    asm volatile("v_mul_f32 %0, -|%1|, 1.0 mul:4" : "=v"(o[3]) : "v"(x));
    asm volatile("v_max_f32 %0, %1, %1 clamp" : "=v"(o[4]) : "v"(x));
    asm volatile("v_med3_f32 %0, %1, 0.5, 1.0" : "=v"(o[5]) : "v"(x));
}

// Indexing vector registers, and accumulation registers.
extern "C" __global__ void registers(int *out) {
    int i = ITEM;
    int r0, r1, r2;
    asm volatile("v_accvgpr_write_b32 a3, %1\n v_accvgpr_read_b32 %0, a3" : "=v"(r0) : "v"(i + 7) : "a3");
    asm volatile("v_mov_b32 v40, %1\n v_mov_b32 v41, 41\n v_mov_b32 v42, 42\n s_set_gpr_idx_on %2, gpr_idx(SRC0)\n"
                 "v_mov_b32 %0, v40\n s_set_gpr_idx_off"
                 : "=v"(r1)
                 : "v"(i), "s"(2)
                 : "v40", "v41", "v42", "m0");
    asm volatile("v_mov_b32 v44, %1\n v_mov_b32 v45, v44\n v_swap_b32 v44, v45\n v_add_u32 %0, v44, v45"
                 : "=v"(r2)
                 : "v"(i)
                 : "v44", "v45");
    out[3 * i] = r0;
    out[3 * i + 1] = r1;
    out[3 * i + 2] = r2;
}
