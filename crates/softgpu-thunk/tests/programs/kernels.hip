// Kernels of many kinds against the same computed on the host; then streams, events, memset and managed memory.
// Outputs are poisoned first, so that a kernel that never ran cannot pass.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP(call)                                                                                 \
    do {                                                                                          \
        hipError_t error_ = (call);                                                               \
        if (error_ != hipSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s from %s\n", __FILE__, __LINE__, hipGetErrorString(error_), #call); \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

static int bad = 0, good = 0;

static void verdict(const char *name, bool ok) {
    if (!ok) fprintf(stderr, "wrong result: %s\n", name);
    (ok ? good : bad)++;
}

template <class T>
static T *device(const std::vector<T> &host) {
    T *p;
    HIP(hipMalloc(&p, host.size() * sizeof(T)));
    HIP(hipMemcpy(p, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
    return p;
}

template <class T>
static T *poisoned(size_t n) {
    T *p;
    HIP(hipMalloc(&p, n * sizeof(T)));
    HIP(hipMemset(p, 0xa5, n * sizeof(T)));
    return p;
}

template <class T>
static std::vector<T> host(const T *p, size_t n) {
    std::vector<T> v(n);
    HIP(hipMemcpy(v.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
    return v;
}

static bool close(double a, double b, double tolerance = 1e-5) {
    return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

static std::vector<float> numbers(size_t n, unsigned seed) {
    std::vector<float> v(n);
    for (auto &x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = (float)(seed >> 8) / (1 << 24) - 0.5f;
    }
    return v;
}

__global__ void vadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__global__ void saxpy(float s, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = s * x[i] + y[i];
}
__global__ void reduce(const float *x, float *out, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
__global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
__global__ void histogram(const uint8_t *x, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
    __syncthreads();
    if (local[threadIdx.x]) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
__global__ void gather(const int *index, const double *from, double *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[index[i]] * 2.0 + 1.0;
}
__global__ void transpose(const uint16_t *from, uint16_t *to, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) to[x * h + y] = from[y * w + x];
}
__global__ void softmax(const float *x, float *y, int n) {
    const float *row = x + blockIdx.x * n;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < n; i += 64) most = fmaxf(most, row[i]);
    for (int step = 32; step; step /= 2) most = fmaxf(most, __shfl_xor(most, step));
    for (int i = threadIdx.x; i < n; i += 64) sum += expf(row[i] - most);
    for (int step = 32; step; step /= 2) sum += __shfl_xor(sum, step);
    for (int i = threadIdx.x; i < n; i += 64) y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}
__global__ void stencil(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float l = i ? x[i - 1] : 0, r = i + 1 < n ? x[i + 1] : 0;
    y[i] = 0.25f * l + 0.5f * x[i] + 0.25f * r;
}
__global__ void scan(const int *x, int *y) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        int add = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += add;
    }
    y[blockIdx.x * 256 + t] = s[t];
}
__global__ void wide(const uint64_t *a, const int64_t *b, uint64_t *q, int64_t *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    q[i] = a[i] / (uint64_t)(b[i] < 0 ? -b[i] : b[i]) + (a[i] << (i & 63));
    r[i] = (int64_t)a[i] % b[i] - (b[i] >> 3);
}
__global__ void votes(const int *x, uint64_t *ballots, int *ranks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t ballot = __ballot(x[i] & 1);
    if ((threadIdx.x & 63) == 0) ballots[i / 64] = ballot;
    ranks[i] = __popcll(ballot & ((1ull << (threadIdx.x & 63)) - 1)) + (__any(x[i] > 1000000) ? 1000 : 0);
}
// An array that must be in private memory, since it is indexed by data.
__global__ void local_array(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int table[32];
    for (int k = 0; k < 32; k++) table[k] = x[(i + k) % n] * (k + 1);
    for (int k = 0; k < 64; k++) table[(table[k & 31] & 0x7fffffff) % 32] += k;
    int sum = 0;
    for (int k = 0; k < 32; k++) sum = sum * 31 + table[k];
    y[i] = sum;
}
__device__ __managed__ int counter;
__constant__ float weights[16];
__device__ float module_variable[64];
__global__ void variables() {
    module_variable[threadIdx.x] += weights[threadIdx.x & 15] * 2;
    if (threadIdx.x == 0) atomicAdd(&counter, 5);
}
__global__ void accumulate(float *x, float add, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 0.5f + add;
}

int main() {
    const int n = 10007;
    auto a = numbers(n, 1), b = numbers(n, 2);
    float *da = device(a), *db = device(b);
    int blocks = (n + 255) / 256;
    {
        float *dc = poisoned<float>(n);
        vadd<<<blocks, 256>>>(da, db, dc, n);
        auto c = host(dc, n);
        bool ok = true;
        for (int i = 0; i < n; i++) ok &= c[i] == a[i] + b[i];
        verdict("vadd", ok);
    }
    {
        float *dy = device(b);
        saxpy<<<blocks, 256>>>(1.5f, da, dy, n);
        auto y = host(dy, n);
        bool ok = true;
        for (int i = 0; i < n; i++) ok &= close(y[i], 1.5 * a[i] + b[i]);
        verdict("saxpy", ok);
    }
    {
        float zero = 0;
        float *out = poisoned<float>(1);
        HIP(hipMemcpy(out, &zero, 4, hipMemcpyHostToDevice));
        reduce<<<7, 256>>>(da, out, n);
        double sum = 0;
        for (float x : a) sum += x;
        verdict("reduce", close(host(out, 1)[0], sum, 1e-3));
    }
    {
        const int m = 64;
        auto x = numbers(m * m, 3), y = numbers(m * m, 4);
        float *dc = poisoned<float>(m * m);
        matmul<<<dim3(m / 16, m / 16), dim3(16, 16)>>>(device(x), device(y), dc, m);
        auto c = host(dc, m * m);
        bool ok = true;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double sum = 0;
                for (int k = 0; k < m; k++) sum += (double)x[i * m + k] * y[k * m + j];
                ok &= close(c[i * m + j], sum);
            }
        verdict("matmul", ok);
    }
    {
        std::vector<uint8_t> x(n);
        std::vector<unsigned> bins(256), zero(256);
        for (int i = 0; i < n; i++) bins[x[i] = (uint8_t)(i * i >> 3)]++;
        unsigned *out = device(zero);
        histogram<<<5, 256>>>(device(x), out, n);
        verdict("histogram", host(out, 256) == bins);
    }
    {
        std::vector<int> index(n);
        std::vector<double> from(n), want(n);
        for (int i = 0; i < n; i++) index[i] = (int)((int64_t)i * 7919 % n), from[i] = i / 7.0;
        for (int i = 0; i < n; i++) want[i] = from[index[i]] * 2.0 + 1.0;
        double *out = poisoned<double>(n);
        gather<<<blocks, 256>>>(device(index), device(from), out, n);
        auto got = host(out, n);
        bool ok = true;
        for (int i = 0; i < n; i++) ok &= close(got[i], want[i], 1e-14);
        verdict("gather", ok);
    }
    {
        const int w = 100, h = 61;
        std::vector<uint16_t> x(w * h), want(w * h);
        for (int i = 0; i < w * h; i++) x[i] = (uint16_t)(i * 40503);
        for (int y = 0; y < h; y++)
            for (int i = 0; i < w; i++) want[i * h + y] = x[y * w + i];
        uint16_t *out = poisoned<uint16_t>(w * h);
        transpose<<<dim3(7, 8), dim3(16, 8)>>>(device(x), out, w, h);
        verdict("transpose", host(out, w * h) == want);
    }
    {
        const int rows = 9, m = 200;
        float *out = poisoned<float>(rows * m);
        softmax<<<rows, 64>>>(da, out, m);
        auto y = host(out, rows * m);
        bool ok = true;
        for (int r = 0; r < rows; r++) {
            double sum = 0;
            for (int i = 0; i < m; i++) sum += std::exp((double)a[r * m + i]);
            for (int i = 0; i < m; i++) ok &= close(y[r * m + i], std::exp((double)a[r * m + i]) / sum);
        }
        verdict("softmax", ok);
    }
    {
        float *out = poisoned<float>(n);
        stencil<<<blocks, 256>>>(da, out, n);
        auto y = host(out, n);
        bool ok = true;
        for (int i = 0; i < n; i++)
            ok &= close(y[i], 0.25 * (i ? a[i - 1] : 0) + 0.5 * a[i] + 0.25 * (i + 1 < n ? a[i + 1] : 0));
        verdict("stencil", ok);
    }
    {
        std::vector<int> x(1024), want(1024);
        for (int i = 0; i < 1024; i++) x[i] = i * 37 % 101 - 50, want[i] = x[i] + (i % 256 ? want[i - 1] : 0);
        int *out = poisoned<int>(1024);
        scan<<<4, 256>>>(device(x), out);
        verdict("scan", host(out, 1024) == want);
    }
    {
        const int m = 500;
        std::vector<uint64_t> x(m), q(m);
        std::vector<int64_t> y(m), r(m);
        for (int i = 0; i < m; i++) {
            x[i] = 0x9e3779b97f4a7c15ull * (i + 1);
            y[i] = (int64_t)(0xbf58476d1ce4e5b9ull * (i + 7)) >> (i % 60);
            if (y[i] == 0 || y[i] == -1) y[i] = 3;
            q[i] = x[i] / (uint64_t)(y[i] < 0 ? -y[i] : y[i]) + (x[i] << (i & 63));
            r[i] = (int64_t)x[i] % y[i] - (y[i] >> 3);
        }
        uint64_t *dq = poisoned<uint64_t>(m);
        int64_t *dr = poisoned<int64_t>(m);
        wide<<<4, 128>>>(device(x), device(y), dq, dr, m);
        verdict("wide", host(dq, m) == q && host(dr, m) == r);
    }
    {
        std::vector<int> x(512), ranks(512);
        std::vector<uint64_t> ballots(8);
        for (int i = 0; i < 512; i++) x[i] = (i * i * 31 >> 4) + (i == 300 ? 2000000 : 0);
        for (int i = 0; i < 512; i++) {
            ranks[i] = __builtin_popcountll(ballots[i / 64]) + (i / 64 == 300 / 64 ? 1000 : 0);
            if (x[i] & 1) ballots[i / 64] |= 1ull << (i % 64);
        }
        uint64_t *db2 = poisoned<uint64_t>(8);
        int *dr = poisoned<int>(512);
        votes<<<2, 256>>>(device(x), db2, dr);
        verdict("votes", host(db2, 8) == ballots && host(dr, 512) == ranks);
    }
    {
        const int m = 256;
        std::vector<int> x(m), want(m);
        for (int i = 0; i < m; i++) x[i] = i * 2654435 + 17;
        for (int i = 0; i < m; i++) {
            unsigned table[32];
            for (int k = 0; k < 32; k++) table[k] = (unsigned)x[(i + k) % m] * (k + 1);
            for (int k = 0; k < 64; k++) table[(table[k & 31] & 0x7fffffff) % 32] += k;
            unsigned sum = 0;
            for (int k = 0; k < 32; k++) sum = sum * 31 + table[k];
            want[i] = (int)sum;
        }
        int *out = poisoned<int>(m);
        local_array<<<4, 64>>>(device(x), out, m);
        verdict("local_array", host(out, m) == want);
    }
    {
        float w[16], before[64], after[64];
        for (int i = 0; i < 16; i++) w[i] = i * 0.25f;
        for (int i = 0; i < 64; i++) before[i] = i;
        HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), w, sizeof w));
        HIP(hipMemcpyToSymbol(HIP_SYMBOL(module_variable), before, sizeof before));
        counter = 100;
        variables<<<3, 64>>>();
        HIP(hipDeviceSynchronize());
        HIP(hipMemcpyFromSymbol(after, HIP_SYMBOL(module_variable), sizeof after));
        // Three work-groups add to the same places without atomics: at least one of them is seen.
        bool ok = counter == 115;
        for (int i = 0; i < 64; i++) {
            float add = w[i & 15] * 2;
            ok &= after[i] == i + add || after[i] == i + 2 * add || after[i] == i + 3 * add;
        }
        verdict("variables", ok);
    }
    {
        const int streams = 4, launches = 50, m = 1000;
        hipStream_t s[streams];
        float *x[streams];
        hipEvent_t from, to;
        HIP(hipEventCreate(&from));
        HIP(hipEventCreate(&to));
        for (int k = 0; k < streams; k++) {
            HIP(hipStreamCreate(&s[k]));
            x[k] = poisoned<float>(m);
            HIP(hipMemsetAsync(x[k], 0, m * 4, s[k]));
        }
        HIP(hipEventRecord(from, s[0]));
        for (int l = 0; l < launches; l++)
            for (int k = 0; k < streams; k++) accumulate<<<4, 256, 0, s[k]>>>(x[k], l + k, m);
        HIP(hipEventRecord(to, s[0]));
        HIP(hipStreamWaitEvent(s[1], to, 0));
        accumulate<<<4, 256, 0, s[1]>>>(x[0], 1000, m);
        HIP(hipDeviceSynchronize());
        float ms = -1;
        HIP(hipEventElapsedTime(&ms, from, to));
        bool ok = ms > 0;
        for (int k = 0; k < streams; k++) {
            float want = 0;
            for (int l = 0; l < launches; l++) want = want * 0.5f + (l + k);
            if (k == 0) want = want * 0.5f + 1000;
            for (float v : host(x[k], m)) ok &= close(v, want);
        }
        verdict("streams", ok);
    }
    {
        int *shared;
        const int m = 5000;
        HIP(hipMallocManaged(&shared, m * sizeof(int)));
        std::vector<int> index(m);
        for (int i = 0; i < m; i++) shared[i] = -1, index[i] = i % 256;
        scan<<<m / 256, 256>>>(device(index), shared);
        HIP(hipDeviceSynchronize());
        bool ok = true;
        for (int i = 0; i < m; i++) ok &= shared[i] == (i < m / 256 * 256 ? (i % 256) * (i % 256 + 1) / 2 : -1);
        verdict("managed", ok);
        HIP(hipFree(shared));
    }
    {
        const int m = 100000;
        unsigned char *p = poisoned<unsigned char>(m);
        HIP(hipMemset(p + 3, 0x11, 1000));
        HIP(hipMemsetD16(p + 2000, 0x2233, 777));
        HIP(hipMemsetD32(p + 8000, 0x44556677, 999));
        auto v = host(p, m);
        std::vector<unsigned char> want(m, 0xa5);
        memset(&want[3], 0x11, 1000);
        for (int i = 0; i < 777; i++) want[2000 + 2 * i] = 0x33, want[2001 + 2 * i] = 0x22;
        for (int i = 0; i < 999; i++)
            for (int k = 0; k < 4; k++) want[8000 + 4 * i + k] = 0x77 - 0x11 * k;
        verdict("memset", v == want);
        unsigned char *q = poisoned<unsigned char>(m);
        HIP(hipMemcpy2D(q + 7, 300, p + 100, 256, 200, 100, hipMemcpyDeviceToDevice));
        auto u = host(q, m);
        std::vector<unsigned char> moved(m, 0xa5);
        for (int y = 0; y < 100; y++) memcpy(&moved[7 + 300 * y], &want[100 + 256 * y], 200);
        verdict("copy 2D", u == moved);
        // From the host and back, which the copy engine does as boxes.
        std::vector<unsigned char> image(300 * 100, 0x3c), wide(512 * 100, 0xa5), want2(512 * 100, 0xa5);
        for (int i = 0; i < 300 * 100; i++) image[i] = (unsigned char)(i * 13 >> 2);
        HIP(hipMemcpy2D(q, 400, image.data(), 300, 256, 100, hipMemcpyHostToDevice));
        HIP(hipMemcpy2D(wide.data(), 512, q, 400, 256, 100, hipMemcpyDeviceToHost));
        for (int y = 0; y < 100; y++) memcpy(&want2[512 * y], &image[300 * y], 256);
        verdict("copy 2D host", wide == want2);
    }
    printf("%d right, %d wrong\n", good, bad);
    return bad != 0;
}
