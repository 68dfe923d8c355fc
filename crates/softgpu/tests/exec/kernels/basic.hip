#include <hip/hip_runtime.h>

extern "C" __global__ void vadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float k, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = k * x[i] + y[i];
}

extern "C" __global__ void scale(float *x, float k, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= k;
}

extern "C" __global__ void reduce(const float *x, float *partial, int n) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int t = 0; t < n; t += 16) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void histogram(const unsigned *keys, unsigned *counts, int n) {
    __shared__ unsigned local[64];
    if (threadIdx.x < 64)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[keys[i] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void gather(const int *index, const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[index[i]];
}

extern "C" __global__ void transpose(const float *in, float *out, int w, int h) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h)
        tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w)
        out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void softmax(const float *in, float *out, int n) {
    __shared__ float shared[256];
    int t = threadIdx.x;
    const float *row = in + (size_t)blockIdx.x * n;
    float most = -INFINITY;
    for (int i = t; i < n; i += blockDim.x)
        most = fmaxf(most, row[i]);
    shared[t] = most;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            shared[t] = fmaxf(shared[t], shared[t + step]);
        __syncthreads();
    }
    most = shared[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        sum += expf(row[i] - most);
    shared[t] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            shared[t] += shared[t + step];
        __syncthreads();
    }
    for (int i = t; i < n; i += blockDim.x)
        out[(size_t)blockIdx.x * n + i] = expf(row[i] - most) / shared[0];
}

extern "C" __global__ void stencil(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    int at = y * w + x;
    out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - w] + in[at + w]);
}

extern "C" __global__ void dgemv(const double *a, const double *x, double *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * x[k];
    y[row] = sum;
}
