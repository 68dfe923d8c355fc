// Atomics: a histogram, minima and a compare-and-swap.
#include <vector>
#include "check.cuh"

__global__ void histogram(unsigned* bins, unsigned* least, unsigned* tickets, size_t count) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    atomicAdd(&bins[next_value(unsigned(i)) % 97], 1u);
    atomicMin(least, next_value(unsigned(i)));
    unsigned seen = *tickets, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(tickets, assumed, assumed + 1);
    } while (seen != assumed);
}

int main() {
    constexpr size_t count = 20000;
    constexpr int launches = 4;
    auto* bins = device_array<unsigned>(97);
    auto* least = device_array<unsigned>(1);
    auto* tickets = device_array<unsigned>(1);
    CHECK(cudaMemset(bins, 0, 97 * 4));
    CHECK(cudaMemset(least, 0xff, 4));
    CHECK(cudaMemset(tickets, 0, 4));
    for (int i = 0; i < launches; i++) histogram<<<(count + 127) / 128, 128>>>(bins, least, tickets, count);
    std::vector<unsigned> expected(97), found(97, 0xdead);
    unsigned expected_least = ~0u, found_least = 0, found_tickets = 0;
    for (size_t i = 0; i < count; i++) {
        expected[next_value(unsigned(i)) % 97] += launches;
        if (next_value(unsigned(i)) < expected_least) expected_least = next_value(unsigned(i));
    }
    CHECK(cudaMemcpy(found.data(), bins, 97 * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found_least, least, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found_tickets, tickets, 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 97; i++) EXPECT(found[i] == expected[i], "bin %d", i);
    EXPECT(found_least == expected_least, "%u", found_least);
    EXPECT(found_tickets == count * launches, "%u", found_tickets);
    return finish("atomics");
}
