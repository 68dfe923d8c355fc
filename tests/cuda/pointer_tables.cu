// Pointers that no argument shows: a table of pointers in device memory, and a table of tables.
#include <vector>
#include "check.cuh"

__global__ void through_table(unsigned*** tables, int rows, size_t count) {
    unsigned** table = tables[1];
    for (int row = blockIdx.y; row < rows; row += gridDim.y)
        for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
            table[row][i] = next_value(table[row][i]) + row;
}

int main() {
    constexpr int rows = 12, launches = 3;
    constexpr size_t count = 10007;
    std::vector<unsigned*> pointers(rows);
    std::vector<unsigned> host(count);
    for (size_t i = 0; i < count; i++) host[i] = first_value(i);
    for (auto& pointer : pointers) {
        pointer = device_array<unsigned>(count);
        CHECK(cudaMemcpy(pointer, host.data(), count * 4, cudaMemcpyHostToDevice));
    }
    auto* table = device_array<unsigned*>(rows);
    CHECK(cudaMemcpy(table, pointers.data(), rows * sizeof(unsigned*), cudaMemcpyHostToDevice));
    unsigned** both[2] = {nullptr, table};
    auto* tables = device_array<unsigned**>(2);
    CHECK(cudaMemcpy(tables, both, sizeof both, cudaMemcpyHostToDevice));
    for (int i = 0; i < launches; i++) through_table<<<dim3(8, 4), 128>>>(tables, rows, count);
    std::vector<unsigned> found(count);
    for (int row = 0; row < rows; row++) {
        CHECK(cudaMemcpy(found.data(), pointers[row], count * 4, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < count; i++) {
            unsigned expected = host[i];
            for (int k = 0; k < launches; k++) expected = next_value(expected) + row;
            EXPECT(found[i] == expected, "row %d element %zu", row, i);
        }
    }
    return finish("pointer_tables");
}
