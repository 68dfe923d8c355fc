// A program that uses the GPU and launches nothing.
#include "check.cuh"

int main() {
    auto* data = device_array<unsigned>(64);
    CHECK(cudaMemset(data, 0, 256));
    CHECK(cudaDeviceSynchronize());
    return finish("silent");
}
