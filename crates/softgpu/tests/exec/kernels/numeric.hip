#include <hip/hip_runtime.h>

#define ITEM blockIdx.x *blockDim.x + threadIdx.x

typedef _Float16 half2v __attribute__((ext_vector_type(2)));

extern "C" __global__ void halves(const _Float16 *a, const _Float16 *b, const _Float16 *c, _Float16 *out) {
    int i = ITEM;
    _Float16 x = a[i], y = b[i], z = c[i];
    out[6 * i + 0] = x + y;
    out[6 * i + 1] = x * y - z;
    out[6 * i + 2] = __builtin_fmaf16(x, y, z);
    out[6 * i + 3] = x / y;
    out[6 * i + 4] = __builtin_fmaxf16(x, y);
    out[6 * i + 5] = (_Float16)((float)x * 1.25f);
}

extern "C" __global__ void packed_halves(const half2v *a, const half2v *b, half2v *out) {
    int i = ITEM;
    half2v x = a[i], y = b[i];
    out[3 * i + 0] = x + y;
    out[3 * i + 1] = x * y;
    out[3 * i + 2] = x * x.yx - y;
}

extern "C" __global__ void longs(const long *a, const long *b, long *out) {
    int i = ITEM;
    long x = a[i], y = b[i];
    unsigned long ux = x, uy = y;
    long *o = out + 12 * i;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = x % y;
    o[5] = ux / uy;
    o[6] = ux % uy;
    o[7] = x >> (y & 63);
    o[8] = ux >> (y & 63);
    o[9] = x << (y & 63);
    o[10] = __mul64hi(x, y);
    o[11] = (x < y) + 2 * (ux < uy) + 4 * __popcll(ux) + 512 * __clzll(x);
}

extern "C" __global__ void ints(const int *a, const int *b, int *out) {
    int i = ITEM;
    int x = a[i], y = b[i];
    unsigned ux = x, uy = y;
    int *o = out + 16 * i;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
    o[4] = x >> (y & 31);
    o[5] = __mulhi(x, y);
    o[6] = __umulhi(ux, uy);
    o[7] = (x << 13 | ux >> 19) ^ y;
    o[8] = (signed char)x * (signed char)y + (unsigned char)(ux >> 8);
    o[9] = (short)x * (short)y + (unsigned short)(ux >> 16);
    o[10] = (signed char)(x + y);
    o[11] = (unsigned short)(ux * uy);
    o[12] = __brev(ux) + __ffs(x) + __clz(y) + __popc(ux);
    o[13] = __builtin_elementwise_add_sat(x, y);
    o[14] = __builtin_elementwise_sub_sat(ux, uy);
    o[15] = min(x, y) + max(ux, uy) - abs(x);
}

extern "C" __global__ void bytes(const unsigned char *a, const signed char *b, unsigned char *out) {
    int i = ITEM;
    unsigned char x = a[i];
    signed char y = b[i];
    out[4 * i] = x + y;
    out[4 * i + 1] = x * y;
    out[4 * i + 2] = x >> (y & 7);
    out[4 * i + 3] = y < 0 ? ~x : x ^ 0x55;
}

extern "C" __global__ void doubles(const double *a, const double *b, double *out) {
    int i = ITEM;
    double x = a[i], y = b[i];
    double *o = out + 16 * i;
    o[0] = x / y;
    o[1] = sqrt(fabs(x));
    o[2] = sin(x);
    o[3] = cos(x);
    o[4] = exp(x * 0.01);
    o[5] = log(fabs(x));
    o[6] = pow(fabs(x), y * 0.01);
    o[7] = floor(x) + trunc(y) + rint(x * y);
    o[8] = fma(x, y, -x);
    o[9] = tanh(x);
    o[10] = atan2(x, y);
    o[11] = cbrt(x);
    o[12] = fmod(x, y);
    o[13] = (double)(float)x + (double)(int)y + (double)(long)x;
    o[14] = 1.0 / sqrt(fabs(y));
    o[15] = fmin(x, y) + ldexp(x, 5) + erf(x * 0.1);
}

extern "C" __global__ void singles(const float *a, const float *b, float *out) {
    int i = ITEM;
    float x = a[i], y = b[i];
    float *o = out + 16 * i;
    o[0] = x / y;
    o[1] = sqrtf(fabsf(x));
    o[2] = sinf(x);
    o[3] = cosf(x);
    o[4] = expf(x * 0.01f);
    o[5] = logf(fabsf(x));
    o[6] = powf(fabsf(x), y * 0.01f);
    o[7] = floorf(x) + truncf(y) + rintf(x * y);
    o[8] = fmaf(x, y, -x);
    o[9] = tanhf(x);
    o[10] = atan2f(x, y);
    o[11] = cbrtf(x);
    o[12] = fmodf(x, y);
    o[13] = (float)(unsigned)fabsf(x) + (float)(int)y + (float)(long)x;
    o[14] = rsqrtf(fabsf(y));
    o[15] = fminf(x, y) + ldexpf(x, 5) + erff(x * 0.1f);
}

extern "C" __global__ void conversions(const double *a, long *out) {
    int i = ITEM;
    double x = a[i];
    long *o = out + 6 * i;
    o[0] = (long)x;
    o[1] = (unsigned long)fabs(x);
    o[2] = (int)x;
    o[3] = __double_as_longlong((double)(long)x);
    o[4] = __float_as_uint((float)(unsigned long)fabs(x));
    o[5] = __float_as_uint((float)(long)x);
}
