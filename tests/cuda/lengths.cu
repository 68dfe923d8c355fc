// Kernels of every length, for what each is counted as: one that does nothing, one of a microsecond, many alike one after the other, one
// of some fifty milliseconds and one of about a second. lengths [LONGEST_TURNS]
#include "check.cuh"

__global__ void nothing() {}

// One warp that does the same for so many turns: its instructions do not depend on when it runs.
__global__ void turn(unsigned* data, unsigned long long turns) {
    unsigned value = data[threadIdx.x];
    for (unsigned long long k = 0; k < turns; k++) value = next_value(value);
    data[threadIdx.x] = value;
}

int main(int argc, char** argv) {
    // About 2.3 ns a turn on an H200.
    unsigned long long longest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400'000'000;
    unsigned first[32], expected[32], found[32];
    auto* data = device_array<unsigned>(32);
    for (unsigned i = 0; i < 32; i++) first[i] = expected[i] = first_value(i);
    CHECK(cudaMemcpy(data, first, sizeof first, cudaMemcpyHostToDevice));
    std::vector<unsigned long long> turns(100, 50);
    for (unsigned long long more : {1ull, 200ull, 20'000ull, longest / 20, longest / 20, longest, 1ull, longest, 200ull}) turns.push_back(more);
    nothing<<<1, 32>>>();
    for (unsigned long long count : turns) {
        turn<<<1, 32>>>(data, count);
        nothing<<<3, 64>>>();
    }
    CHECK(cudaMemcpy(found, data, sizeof found, cudaMemcpyDeviceToHost));
    // A linear congruence, many steps at once: x → a x + c, squared.
    for (unsigned long long count : turns) {
        unsigned a = 1664525u, c = 1013904223u, by = 1, plus = 0;
        for (unsigned long long left = count; left; left >>= 1) {
            if (left & 1) by *= a, plus = plus * a + c;
            c += a * c, a *= a;
        }
        for (unsigned& value : expected) value = value * by + plus;
    }
    for (unsigned i = 0; i < 32; i++) EXPECT(found[i] == expected[i], "lane %u", i);
    return finish("lengths");
}
