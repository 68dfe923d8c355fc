// What launches use, and what goes or changes while a batch window holds them: pinned memory that only a pointer in memory
// leads to, a limit of a function, a texture, the access of a mapping, and memory of the host that is still being written when a
// copy from there is asked for. Each is right in a plain run. nvcc
#include <cuda.h>

#include <chrono>
#include <thread>
#include <vector>
#include "check.cuh"

constexpr unsigned kCount = 4096;
constexpr unsigned kThreads = 256;

__global__ void follow(unsigned* out, const unsigned* const* table) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = next_value(out[i]) + (*table)[i];
}

__global__ void step(unsigned* data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = next_value(data[i]);
}

__global__ void add(unsigned* out, const unsigned* from) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = next_value(out[i]) + from[i];
}

__global__ void through_shared(unsigned* data) {
    extern __shared__ unsigned shared[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x + blockDim.x * 60] = data[i];
    __syncthreads();
    data[i] = next_value(shared[blockDim.x * 60 + threadIdx.x]);
}

__global__ void fetch(unsigned* out, cudaTextureObject_t texture) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = next_value(out[i]) + tex1Dfetch<unsigned>(texture, i);
}

static std::vector<unsigned> expected(kCount);
static unsigned* out;

static void check(const char* what) {
    std::vector<unsigned> found(kCount);
    CHECK(cudaMemcpy(found.data(), out, kCount * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < kCount; i++) EXPECT(found[i] == expected[i], "%s at %u: %u, not %u", what, i, found[i], expected[i]);
}

static void pinned() {
    unsigned* host;
    CHECK(cudaHostAlloc(&host, kCount * 4, cudaHostAllocMapped));
    for (unsigned i = 0; i < kCount; i++) host[i] = i * 3;
    const unsigned** table = device_array<const unsigned*>(1);
    CHECK(cudaMemcpy(table, &host, sizeof host, cudaMemcpyHostToDevice));
    follow<<<kCount / kThreads, kThreads>>>(out, table);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(table));
    for (unsigned i = 0; i < kCount; i++) expected[i] = next_value(expected[i]) + i * 3;
    check("pinned memory");
}

static void limit() {
    const int most = 64 << 10;
    CHECK(cudaFuncSetAttribute(through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    for (int round = 0; round < 2; round++) {
        through_shared<<<kCount / kThreads, kThreads, most>>>(out);
        CHECK(cudaGetLastError());
        for (unsigned& value : expected) value = next_value(value);
    }
    CHECK(cudaFuncSetAttribute(through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 10));
    check("a limit");
}

static void texture(const unsigned* from) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<unsigned*>(from);
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
    resource.res.linear.sizeInBytes = kCount * 4;
    cudaTextureDesc description{};
    cudaTextureObject_t object;
    CHECK(cudaCreateTextureObject(&object, &resource, &description, nullptr));
    fetch<<<kCount / kThreads, kThreads>>>(out, object);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(object));
    for (unsigned i = 0; i < kCount; i++) expected[i] = next_value(expected[i]) + first_value(i);
    check("a texture");
}

static void mapping() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t bytes = 0;
    DRIVER(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr base;
    CUmemGenericAllocationHandle handle;
    DRIVER(cuMemAddressReserve(&base, bytes, 0, 0, 0));
    DRIVER(cuMemCreate(&handle, bytes, &properties, 0));
    DRIVER(cuMemMap(base, bytes, 0, handle, 0));
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemSetAccess(base, bytes, &access, 1));
    unsigned* mapped = reinterpret_cast<unsigned*>(base);
    CHECK(cudaMemset(mapped, 0, kCount * 4));
    step<<<kCount / kThreads, kThreads>>>(mapped);
    CHECK(cudaDeviceSynchronize());
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    DRIVER(cuMemSetAccess(base, bytes, &access, 1));
    add<<<kCount / kThreads, kThreads>>>(out, mapped);
    CHECK(cudaDeviceSynchronize());
    DRIVER(cuMemUnmap(base, bytes));
    DRIVER(cuMemRelease(handle));
    DRIVER(cuMemAddressFree(base, bytes));
    for (unsigned& value : expected) value = next_value(value) + next_value(0);
    check("a mapping");
}

static void CUDART_CB late(void* data) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    unsigned* host = static_cast<unsigned*>(data);
    for (unsigned i = 0; i < kCount; i++) host[i] += 7;
}

// Down, changed by a function, and up again, all in the order of a stream.
static void way_round(unsigned* scratch) {
    unsigned* host;
    CHECK(cudaMallocHost(&host, kCount * 4));
    for (unsigned i = 0; i < kCount; i++) host[i] = 1;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceSynchronize());
    step<<<kCount / kThreads, kThreads, 0, stream>>>(out);
    CHECK(cudaMemcpyAsync(host, out, kCount * 4, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(scratch, host, kCount * 4, cudaMemcpyHostToDevice, stream));
    add<<<kCount / kThreads, kThreads, 0, stream>>>(out, scratch);
    CHECK(cudaLaunchHostFunc(stream, late, host));
    CHECK(cudaMemcpyAsync(scratch, host, kCount * 4, cudaMemcpyHostToDevice, stream));
    add<<<kCount / kThreads, kThreads, 0, stream>>>(out, scratch);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    for (unsigned& value : expected) {
        const unsigned stepped = next_value(value);
        value = next_value(next_value(stepped) + stepped) + stepped + 7;
    }
    check("the way round");
}

int main() {
    out = device_array<unsigned>(kCount);
    unsigned *from = device_array<unsigned>(kCount), *scratch = device_array<unsigned>(kCount);
    for (unsigned i = 0; i < kCount; i++) expected[i] = first_value(i);
    CHECK(cudaMemcpy(out, expected.data(), kCount * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(from, expected.data(), kCount * 4, cudaMemcpyHostToDevice));
    for (int round = 0; round < 3; round++) {
        pinned();
        limit();
        texture(from);
        mapping();
        way_round(scratch);
    }
    CHECK(cudaFree(out));
    CHECK(cudaFree(from));
    CHECK(cudaFree(scratch));
    return finish("gone");
}
