// 2 000 small allocations; kernels work on some, others come and go in between.
#include <vector>
#include "check.cuh"

__global__ void bump(unsigned* data, unsigned count) {
    unsigned i = threadIdx.x;
    if (i < count) data[i] = next_value(data[i]);
}

int main() {
    constexpr unsigned regions = 2000, count = 33;
    std::vector<unsigned*> pointer(regions);
    std::vector<unsigned> steps(regions);
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    for (auto& one : pointer) {
        one = device_array<unsigned>(count);
        CHECK(cudaMemcpy(one, host.data(), count * 4, cudaMemcpyHostToDevice));
    }
    unsigned pick = 1;
    for (int k = 0; k < 40; k++) {
        pick = next_value(pick);
        unsigned r = pick % regions;
        bump<<<1, 64>>>(pointer[r], count);
        steps[r]++;
        unsigned gone = (pick / regions) % regions;
        if (gone != r && k % 5 == 0) {
            CHECK(cudaFree(pointer[gone]));
            pointer[gone] = device_array<unsigned>(count);
            CHECK(cudaMemcpy(pointer[gone], host.data(), count * 4, cudaMemcpyHostToDevice));
            steps[gone] = 0;
        }
    }
    for (unsigned r = 0; r < regions; r++) {
        CHECK(cudaMemcpy(found.data(), pointer[r], count * 4, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < count; i++) {
            unsigned expected = host[i];
            for (unsigned k = 0; k < steps[r]; k++) expected = next_value(expected);
            EXPECT(found[i] == expected, "region %u element %u", r, i);
        }
    }
    return finish("many_allocations");
}
