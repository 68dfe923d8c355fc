// Memory that goes back to its pool and is allocated again while a batch window is open: at the same place, at a part of it,
// and across several pieces. Kernels, copies and memsets use it before and after. The pool's release threshold is the
// program's own all the time. nvcc
#include <cstdint>
#include <vector>
#include "check.cuh"

__global__ void step(unsigned* data, unsigned count) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] = next_value(data[i]);
}

// In place on `sum`: adds up what `from` holds, so that a pass that began from other memory shows.
__global__ void collect(unsigned* sum, const unsigned* from, unsigned count) {
    unsigned part = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        part += from[i] * (i + 1);
    atomicAdd(sum, part);
}

static unsigned weigh(const std::vector<unsigned>& values) {
    unsigned sum = 0;
    for (unsigned i = 0; i < values.size(); i++) sum += values[i] * (i + 1);
    return sum;
}

static unsigned* from_pool(unsigned count, cudaStream_t stream) {
    unsigned* pointer = nullptr;
    CHECK(cudaMallocAsync(&pointer, count * 4, stream));
    return pointer;
}

static cudaMemPool_t pool;

static uint64_t threshold() {
    uint64_t value = 0;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    return value;
}

// What a buffer goes through; gives how often it came back at its old place.
static int rounds(int many, unsigned count, cudaStream_t stream, unsigned* sum, unsigned& expected) {
    std::vector<unsigned> host(count), ours(count);
    int same = 0;
    uintptr_t last = 0;
    for (int round = 0; round < many; round++) {
        for (unsigned i = 0; i < count; i++) ours[i] = host[i] = first_value(i + round);
        unsigned* one = from_pool(count, stream);
        same += reinterpret_cast<uintptr_t>(one) == last;
        last = reinterpret_cast<uintptr_t>(one);
        CHECK(cudaMemcpyAsync(one, host.data(), count * 4, cudaMemcpyHostToDevice, stream));
        step<<<64, 256, 0, stream>>>(one, count);
        step<<<64, 256, 0, stream>>>(one, count);
        collect<<<64, 256, 0, stream>>>(sum, one, count);
        for (auto& value : ours) value = next_value(next_value(value));
        expected += weigh(ours);
        // Half of it lives on in another buffer, behind a memset.
        unsigned* two = from_pool(count, stream);
        CHECK(cudaMemsetAsync(two, 0x11, count * 4, stream));
        CHECK(cudaMemcpyAsync(two, one, count / 2 * 4, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaFreeAsync(one, stream));
        if (round % 4 == 1) CHECK(cudaStreamSynchronize(stream));
        // Likely where the first one was, whole or in parts.
        unsigned* three = from_pool(count / 2, stream);
        CHECK(cudaMemsetAsync(three, 0x22, count / 2 * 4, stream));
        step<<<64, 256, 0, stream>>>(three, count / 2);
        collect<<<64, 256, 0, stream>>>(sum, three, count / 2);
        expected += weigh(std::vector<unsigned>(count / 2, next_value(0x22222222u)));
        step<<<64, 256, 0, stream>>>(two, count);
        collect<<<64, 256, 0, stream>>>(sum, two, count);
        for (unsigned i = 0; i < count; i++) ours[i] = next_value(i < count / 2 ? ours[i] : 0x11111111u);
        expected += weigh(ours);
        CHECK(cudaFreeAsync(three, stream));
        CHECK(cudaFreeAsync(two, stream));
        if (round % 8 == 3) {
            unsigned found = 0;
            CHECK(cudaMemcpyAsync(&found, sum, 4, cudaMemcpyDeviceToHost, stream));
            CHECK(cudaStreamSynchronize(stream));
            EXPECT(found == expected, "%u, not %u, after round %d of %u", found, expected, round, count);
        }
    }
    return same;
}

// Pieces come and go until nothing large fits between them, and large requests follow.
static void pieces(cudaStream_t stream, unsigned* sum, unsigned& expected) {
    constexpr unsigned small = 3 << 20, large = 40 << 20, many = 24;
    std::vector<unsigned*> kept(many);
    for (int turn = 0; turn < 3; turn++) {
        for (unsigned k = 0; k < many; k++) {
            kept[k] = from_pool(small / 4, stream);
            CHECK(cudaMemsetAsync(kept[k], int(k), small, stream));
            step<<<64, 256, 0, stream>>>(kept[k], small / 4);
        }
        for (unsigned k = 0; k < many; k += 2) {
            collect<<<64, 256, 0, stream>>>(sum, kept[k], small / 4);
            expected += weigh(std::vector<unsigned>(small / 4, next_value(k * 0x01010101u)));
            CHECK(cudaFreeAsync(kept[k], stream));
        }
        unsigned* whole = from_pool(large / 4, stream);
        CHECK(cudaMemsetAsync(whole, 0x33, large, stream));
        step<<<64, 256, 0, stream>>>(whole, large / 4);
        collect<<<64, 256, 0, stream>>>(sum, whole, large / 4);
        expected += weigh(std::vector<unsigned>(large / 4, next_value(0x33333333u)));
        for (unsigned k = 1; k < many; k += 2) {
            step<<<64, 256, 0, stream>>>(kept[k], small / 4);
            collect<<<64, 256, 0, stream>>>(sum, kept[k], small / 4);
            expected += weigh(std::vector<unsigned>(small / 4, next_value(next_value(k * 0x01010101u))));
            CHECK(cudaFreeAsync(kept[k], stream));
        }
        CHECK(cudaFreeAsync(whole, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
}

int main() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    uint64_t own = threshold();
    auto* sum = device_array<unsigned>(1);
    unsigned expected = 0;
    CHECK(cudaMemset(sum, 0, 4));
    // By default every synchronise gives back what is free.
    int same = rounds(24, 5003, stream, sum, expected);
    rounds(8, 3 << 20, stream, sum, expected);
    EXPECT(threshold() == own, "a threshold of %llu", (unsigned long long)threshold());
    pieces(stream, sum, expected);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    uint64_t all = UINT64_MAX, some = 64 << 20;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    same += rounds(24, 5003, stream, sum, expected);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &some));
    rounds(8, 3 << 20, stream, sum, expected);
    EXPECT(threshold() == some, "a threshold of %llu", (unsigned long long)threshold());
    pieces(stream, sum, expected);
    unsigned found = 0;
    CHECK(cudaMemcpy(&found, sum, 4, cudaMemcpyDeviceToHost));
    EXPECT(found == expected, "%u, not %u, at the end", found, expected);
    uint64_t reserved = 0;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    EXPECT(reserved == 0, "%llu bytes reserved", (unsigned long long)reserved);
    std::fprintf(stderr, "%d buffers came back where they were\n", same);
    return finish("pool_reuse");
}
