// Eight streams with events between them: a pipeline whose result depends on the order.
#include <vector>
#include "check.cuh"

__global__ void stage(unsigned* data, unsigned count, unsigned number) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = next_value(data[i]) + number;
}

int main() {
    constexpr unsigned count = 20011, lanes = 8, rounds = 3;
    cudaStream_t stream[lanes];
    cudaEvent_t done[lanes];
    unsigned* data[lanes];
    std::vector<unsigned> host(count), found(count);
    for (unsigned i = 0; i < count; i++) host[i] = first_value(i);
    auto* shared = device_array<unsigned>(count);
    CHECK(cudaMemcpy(shared, host.data(), count * 4, cudaMemcpyHostToDevice));
    for (unsigned lane = 0; lane < lanes; lane++) {
        CHECK(cudaStreamCreateWithFlags(&stream[lane], lane % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
        CHECK(cudaEventCreate(&done[lane]));
        data[lane] = device_array<unsigned>(count);
        CHECK(cudaMemcpyAsync(data[lane], host.data(), count * 4, cudaMemcpyHostToDevice, stream[lane]));
    }
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned lane = 0; lane < lanes; lane++) {
            stage<<<(count + 255) / 256, 256, 0, stream[lane]>>>(data[lane], count, lane);
            // The shared buffer goes through all streams in order.
            unsigned before = (lane + lanes - 1) % lanes;
            if (round || lane) CHECK(cudaStreamWaitEvent(stream[lane], done[before]));
            stage<<<(count + 255) / 256, 256, 0, stream[lane]>>>(shared, count, 100 + lane);
            CHECK(cudaEventRecord(done[lane], stream[lane]));
        }
    CHECK(cudaDeviceSynchronize());
    for (unsigned lane = 0; lane <= lanes; lane++) {
        CHECK(cudaMemcpy(found.data(), lane < lanes ? data[lane] : shared, count * 4, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < count; i++) {
            unsigned expected = host[i];
            for (unsigned k = 0; k < rounds; k++) {
                if (lane < lanes) expected = next_value(expected) + lane;
                else for (unsigned l = 0; l < lanes; l++) expected = next_value(expected) + 100 + l;
            }
            EXPECT(found[i] == expected, "lane %u element %u", lane, i);
        }
    }
    return finish("streams");
}
