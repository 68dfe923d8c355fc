// In place: every pass must start from the same memory.
#include "check.cuh"

__global__ void in_place_step(unsigned* data, size_t count) {
    step_all(data, count);
}

int main() {
    constexpr size_t count = 300007;
    constexpr int launches = 7;
    Recurrence array(count);
    unsigned* data = array.data;
    for (int i = 0; i < launches; i++) in_place_step<<<132, 256>>>(data, count);
    array.expect(launches);
    return finish("in_place");
}
