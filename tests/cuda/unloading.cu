// A library with kernels that is closed while its launches are recorded, and opened again.
#include <dlfcn.h>
#include <string>
#include <vector>
#include "check.cuh"

__global__ void unloading_step(unsigned* data, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        data[i] = next_value(data[i]);
}

int main(int, char** arguments) {
    constexpr size_t count = 100003;
    constexpr int rounds = 3, launches = 4;
    std::string path = std::string(arguments[0]) + ".so";
    std::vector<unsigned> host(count);
    for (size_t i = 0; i < count; i++) host[i] = first_value(i);
    unsigned* data = device_array<unsigned>(count);
    CHECK(cudaMemcpy(data, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (int round = 0; round < rounds; round++) {
        void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 2;
        auto launch = reinterpret_cast<void (*)(unsigned*, size_t)>(dlsym(library, "launch"));
        auto counted = reinterpret_cast<unsigned (*)()>(dlsym(library, "launches"));
        if (!launch || !counted) return std::fprintf(stderr, "%s lacks a function\n", path.c_str()), 2;
        for (int i = 0; i < launches; i++) launch(data, count);
        unloading_step<<<132, 256>>>(data, count);
        // Its variables are new each time.
        if (round == 1) EXPECT(counted() == launches, "%u launches", counted());
        dlclose(library);
        unloading_step<<<132, 256>>>(data, count);
    }
    std::vector<unsigned> found(count, 0xdeadbeef);
    CHECK(cudaMemcpy(found.data(), data, count * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        unsigned expected = host[i];
        for (int k = 0; k < rounds * (launches + 2); k++) expected = next_value(expected);
        EXPECT(found[i] == expected, "element %zu", i);
    }
    return finish("unloading");
}
