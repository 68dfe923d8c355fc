// Stream-ordered allocation, and memory mapped through the virtual-memory interface. nvcc -lcuda
#include <cuda.h>
#include <vector>
#include "check.cuh"

__global__ void grow(unsigned* data, const unsigned* from, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]) ^ from[i];
}

int main() {
    constexpr unsigned count = 30011;
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    auto* from = device_array<unsigned>(count);
    CHECK(cudaMemcpy(from, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (int round = 0; round < 4; round++) {
        unsigned *one, *two;
        CHECK(cudaMallocAsync(&one, count * 4, stream));
        CHECK(cudaMemcpyAsync(one, host.data(), count * 4, cudaMemcpyHostToDevice, stream));
        grow<<<(count + 255) / 256, 256, 0, stream>>>(one, from, count);
        CHECK(cudaMallocAsync(&two, count * 4, stream));
        CHECK(cudaMemcpyAsync(two, one, count * 4, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaFreeAsync(one, stream));
        grow<<<(count + 255) / 256, 256, 0, stream>>>(two, from, count);
        CHECK(cudaMemcpyAsync(found.data(), two, count * 4, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(two, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (unsigned i = 0; i < count; i++) {
            unsigned once = next_value(host[i]) ^ host[i];
            EXPECT(found[i] == (next_value(once) ^ host[i]), "round %d element %u", round, i);
        }
    }
    CUmemAllocationProp property{};
    property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t granule = 0;
    cuMemGetAllocationGranularity(&granule, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CUdeviceptr base = 0;
    CUmemGenericAllocationHandle handle[2];
    CUmemAccessDesc access{property.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT(cuMemAddressReserve(&base, granule * 2, 0, 0, 0) == CUDA_SUCCESS, "reserve");
    for (int i = 0; i < 2; i++) {
        EXPECT(cuMemCreate(&handle[i], granule, &property, 0) == CUDA_SUCCESS, "create");
        EXPECT(cuMemMap(base + i * granule, granule, 0, handle[i], 0) == CUDA_SUCCESS, "map");
    }
    EXPECT(cuMemSetAccess(base, granule * 2, &access, 1) == CUDA_SUCCESS, "access");
    // Across the seam of the two mappings.
    auto* across = reinterpret_cast<unsigned*>(base + granule) - count / 2;
    CHECK(cudaMemcpy(across, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (int k = 0; k < 3; k++) grow<<<(count + 255) / 256, 256>>>(across, from, count);
    CHECK(cudaMemcpy(found.data(), across, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; i++) {
        unsigned expected = host[i];
        for (int k = 0; k < 3; k++) expected = next_value(expected) ^ host[i];
        EXPECT(found[i] == expected, "mapped element %u", i);
    }
    EXPECT(cuMemUnmap(base, granule * 2) == CUDA_SUCCESS, "unmap");
    grow<<<(count + 255) / 256, 256>>>(from, from, count);
    CHECK(cudaDeviceSynchronize());
    return finish("pools");
}
