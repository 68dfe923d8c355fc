// A variable that kernels and the host share: kernels beside it decline, and every value arrives, also those that the host writes
// between launches.
#include "check.cuh"

__managed__ unsigned shared_value = 1;
__managed__ unsigned steps_done;

__global__ void step_shared() {
    shared_value = next_value(shared_value);
    steps_done++;
}

int main() {
    unsigned expected = 1;
    for (int round = 0; round < 12; round++) {
        step_shared<<<1, 1>>>();
        step_shared<<<1, 1>>>();
        expected = next_value(next_value(expected));
        CHECK(cudaDeviceSynchronize());
        EXPECT(shared_value == expected, "round %d: %u, not %u", round, shared_value, expected);
        shared_value = expected = expected ^ unsigned(round);
    }
    EXPECT(steps_done == 24, "%u steps", steps_done);
    return finish("managed_variables");
}
