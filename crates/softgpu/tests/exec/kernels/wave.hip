#include <hip/hip_runtime.h>

#define ITEM blockIdx.x *blockDim.x + threadIdx.x

extern "C" __global__ void ballots(const int *in, unsigned long *masks, int *counts) {
    int i = ITEM;
    unsigned long mask = __ballot(in[i] > 0);
    counts[i] = __popcll(mask & ((1ul << __lane_id()) - 1));
    if (__lane_id() == 0)
        masks[i / 64] = mask;
    if (in[i] & 1)
        counts[i] += 1000 * __popcll(__ballot(in[i] > 5));
    if (__any(in[i] == 77) && !__all(in[i] < 90))
        counts[i] += 100000;
}

extern "C" __global__ void shuffles(const int *in, int *out) {
    int i = ITEM;
    int v = in[i];
    int *o = out + 6 * i;
    o[0] = __shfl(v, (i * 7) & 63);
    o[1] = __shfl_up(v, 3);
    o[2] = __shfl_down(v, 5);
    o[3] = __shfl_xor(v, 21);
    o[4] = __shfl(v, 2, 8);
    o[5] = __builtin_amdgcn_ds_swizzle(v, 0x401f);
}

static __device__ int scan_add(int v) {
    v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, false);
    v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, false);
    v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xe, false);
    v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xc, false);
    v += __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 0xf, false);
    v += __builtin_amdgcn_update_dpp(0, v, 0x143, 0xc, 0xf, false);
    return v;
}

extern "C" __global__ void scan(const int *in, int *out) {
    out[ITEM] = scan_add(in[ITEM]);
}

extern "C" __global__ void dpp_moves(const int *in, int *out) {
    int i = ITEM;
    int v = in[i];
    int *o = out + 10 * i;
    o[0] = __builtin_amdgcn_update_dpp(-1, v, 0x1b, 0xf, 0xf, false);
    o[1] = __builtin_amdgcn_update_dpp(-1, v, 0x103, 0xf, 0xf, false);
    o[2] = __builtin_amdgcn_update_dpp(-1, v, 0x113, 0xf, 0xf, true);
    o[3] = __builtin_amdgcn_update_dpp(-1, v, 0x124, 0xf, 0xf, false);
    o[4] = __builtin_amdgcn_update_dpp(-1, v, 0x130, 0xf, 0xf, false);
    o[5] = __builtin_amdgcn_update_dpp(-1, v, 0x13c, 0xf, 0xf, false);
    o[6] = __builtin_amdgcn_update_dpp(-1, v, 0x140, 0xf, 0xf, false);
    o[7] = __builtin_amdgcn_update_dpp(-1, v, 0x141, 0x5, 0xf, false);
    o[8] = __builtin_amdgcn_update_dpp(-1, v, 0x143, 0xf, 0xf, false);
    o[9] = __builtin_amdgcn_update_dpp(-1, v, 0x155, 0xf, 0x6, false);
}

extern "C" __global__ void bitonic(unsigned *keys) {
    __shared__ unsigned local[512];
    int t = threadIdx.x;
    unsigned *mine = keys + blockIdx.x * 512;
    local[t] = mine[t];
    local[t + 256] = mine[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int at = 2 * t - (t & (stride - 1));
            bool up = (at & size) == 0;
            unsigned a = local[at], b = local[at + stride];
            if ((a > b) == up) {
                local[at] = b;
                local[at + stride] = a;
            }
        }
    __syncthreads();
    mine[t] = local[t];
    mine[t + 256] = local[t + 256];
}

extern "C" __global__ void atomics(unsigned *u, int *s, unsigned long *l, float *f, double *d) {
    unsigned i = ITEM;
    atomicAdd(&u[0], i);
    atomicSub(&u[1], 1u);
    atomicMax(&u[2], i * 7 % 1000);
    atomicMin(&u[3], i * 7 % 1000 + 3);
    atomicAnd(&u[4], ~(1u << (i & 31)) | 0x10);
    atomicOr(&u[5], 1u << (i & 15));
    atomicXor(&u[6], i);
    __builtin_amdgcn_atomic_inc32(&u[7], 99u, __ATOMIC_RELAXED, "agent");
    __builtin_amdgcn_atomic_dec32(&u[8], 50u, __ATOMIC_RELAXED, "agent");
    atomicMin(&s[0], (int)(i % 100) - 50);
    atomicMax(&s[1], (int)(i % 100) - 50);
    atomicAdd(&l[0], (unsigned long long)i << 20);
    atomicMax(&l[1], (unsigned long long)i << 33);
    atomicExch(&l[2], 5ull);
    unsigned long long old = l[3], seen;
    do {
        seen = old;
        old = atomicCAS((unsigned long long *)&l[3], seen, seen + 3);
    } while (old != seen);
    atomicAdd(&f[0], 0.5f);
    atomicAdd(&d[0], 0.25);
    unsafeAtomicAdd(&f[1], 2.0f);
    unsafeAtomicAdd(&d[1], 3.0);
}

extern "C" __global__ void local_atomics(const unsigned *in, unsigned *out) {
    __shared__ unsigned counts[16];
    __shared__ unsigned long long sum;
    __shared__ float total;
    int t = threadIdx.x;
    if (t < 16)
        counts[t] = 0;
    if (t == 0) {
        sum = 0;
        total = 0;
    }
    __syncthreads();
    unsigned place = atomicAdd(&counts[in[t] & 15], 1u);
    atomicAdd(&sum, (unsigned long long)in[t]);
    atomicAdd(&total, 1.0f);
    __syncthreads();
    out[t] = place < counts[in[t] & 15];
    if (t < 16)
        out[blockDim.x + t] = counts[t];
    if (t == 0) {
        out[blockDim.x + 16] = (unsigned)sum;
        out[blockDim.x + 17] = (unsigned)total;
    }
}

static __device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void privates(const int *in, int *out, int n) {
    int i = ITEM;
    int table[32];
    short small[16];
    for (int k = 0; k < 32; k++)
        table[k] = in[(i + k) % n];
    for (int k = 0; k < 16; k++)
        small[k] = (short)(table[2 * k] ^ k);
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum += table[(in[i] + k * 5) & 31] * small[(in[i] >> 3) + k & 15];
    int *moved = in[i] & 1 ? &table[3] : &table[9];
    *moved += sum;
    out[2 * i] = table[3] + 3 * table[9];
    out[2 * i + 1] = fibonacci(in[i] & 7);
}

__device__ int counter = 5;
__device__ int *pointer = &counter;
__constant__ int factors[4] = {2, 3, 5, 7};

extern "C" __global__ void variables(int *out) {
    int i = ITEM;
    out[i] = atomicAdd(pointer, factors[i & 3]) * 0 + factors[i & 3] * 10;
    __threadfence();
}

extern "C" __global__ void hand_over(volatile int *flags, int *out) {
    // Each work-group waits for the one behind it: none ends before the last one has started.
    int group = blockIdx.x;
    if (threadIdx.x == 0) {
        if (group + 1 < gridDim.x)
            while (flags[group + 1] == 0)
                ;
        out[group] = out[group + 1] + 1;
        __threadfence();
        flags[group] = 1;
    }
}

extern "C" __global__ void waves_wait(int *out) {
    __shared__ volatile int turn;
    if (threadIdx.x == 0)
        turn = 0;
    __syncthreads();
    int wave = threadIdx.x / 64;
    while (turn != 3 - wave)
        ;
    if (threadIdx.x % 64 == 0) {
        out[wave] = turn;
        __threadfence_block();
        turn = turn + 1;
    }
}

extern "C" __global__ void early_out(int *out) {
    // A wave that has ended no longer counts at the barrier.
    if (threadIdx.x < 64)
        return;
    __syncthreads();
    out[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void traps(int *out) {
    out[ITEM] = 1;
    if (threadIdx.x == 70)
        __builtin_trap();
}

extern "C" __global__ void wild(int *out, long offset) {
    out[ITEM + offset] = 1;
}

extern "C" __global__ void dimensions(int *out) {
    // blockDim may be smaller in the last work-group; so its full size stands here.
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 2 + threadIdx.z;
    int at = (z * 10 + y) * 20 + x;
    out[at] = x + 100 * y + 10000 * z;
}

extern "C" __global__ void dynamic_lds(const int *in, int *out) {
    extern __shared__ int space[];
    space[threadIdx.x] = in[ITEM];
    __syncthreads();
    out[ITEM] = space[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void generic(const int *in, int *out, int which) {
    __shared__ int shared[64];
    int mine[4] = {1, 2, 3, 4};
    int i = threadIdx.x;
    shared[i] = in[i];
    __syncthreads();
    int *p = which == 0 ? &shared[63 - i] : which == 1 ? &mine[i & 3] : (int *)&in[i];
    out[i] = *p;
    if (which < 2)
        atomicAdd(p, 100);
    out[64 + i] = *p;
}

extern "C" __global__ void spin(volatile int *flag) {
    while (*flag == 0)
        ;
}

#define DOT(name, n)                                                                                               \
    {                                                                                                              \
        int within = c, edge = c, moved = 0, plain = c;                                                            \
        asm volatile("s_nop 1\n" name "_dpp %0, %1, %2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0"          \
                     : "+v"(within)                                                                                \
                     : "v"(a), "v"(b));                                                                            \
        asm volatile("s_nop 1\n" name "_dpp %0, %1, %2 row_shr:1 row_mask:0xf bank_mask:0xf"                       \
                     : "+v"(edge)                                                                                  \
                     : "v"(a), "v"(b));                                                                            \
        asm volatile("s_nop 1\nv_mov_b32_dpp %0, %1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0"             \
                     : "+v"(moved)                                                                                 \
                     : "v"(a));                                                                                    \
        asm volatile(name "_e32 %0, %1, %2" : "+v"(plain) : "v"(moved), "v"(b));                                   \
        o[3 * n] = within, o[3 * n + 1] = edge, o[3 * n + 2] = plain;                                              \
    }

extern "C" __global__ void dots(const int *as, const int *bs, const int *cs, int *out) {
    int i = ITEM;
    int a = as[i], b = bs[i], c = cs[i];
    int *o = out + 12 * i;
    DOT("v_dot2c_f32_f16", 0)
    DOT("v_dot2c_i32_i16", 1)
    DOT("v_dot4c_i32_i8", 2)
    DOT("v_dot8c_i32_i4", 3)
}
