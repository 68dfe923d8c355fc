// Kernels that write memory of the process that no call told the driver of, where the device can: declined, and right.
#include <vector>
#include "check.cuh"

__global__ void onto_page(unsigned* data, size_t count) { step_all(data, count); }

int main() {
    constexpr size_t count = 4099;
    constexpr int launches = 6;
    Recurrence array(count);
    std::vector<unsigned> pages(array.first);
    int can = 0;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrPageableMemoryAccess, 0));
    if (!can) std::printf("host_pages: the device cannot use pages of the process, so nothing is launched on them\n");
    for (int i = 0; i < launches; i++) {
        onto_page<<<8, 256>>>(array.data, count);
        if (can) onto_page<<<8, 256>>>(pages.data(), count);
    }
    CHECK(cudaDeviceSynchronize());
    array.expect(launches);
    for (size_t i = 0; can && i < count; i++) {
        unsigned expected = array.first[i];
        for (int k = 0; k < launches; k++) expected = next_value(expected);
        EXPECT(pages[i] == expected, "element %zu", i);
    }
    return finish("host_pages");
}
