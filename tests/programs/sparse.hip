// A sparse matrix (compressed rows) times a vector: one thread a row, one wave a row, and one that adds to what is there.
// without restore: add_product
#include "check.h"

__global__ void row_a_thread(float* y, const unsigned* row, const unsigned* column, const float* value, const float* x,
                             unsigned rows) {
    unsigned r = static_cast<unsigned>(global_index());
    if (r >= rows) return;
    float sum = 0.0f;
    for (unsigned k = row[r]; k < row[r + 1]; k++) sum += value[k] * x[column[k]];
    y[r] = sum;
}

__global__ void row_a_wave(float* y, const unsigned* row, const unsigned* column, const float* value, const float* x,
                           unsigned rows) {
    unsigned r = static_cast<unsigned>(global_index() / 64), lane = threadIdx.x % 64;
    if (r >= rows) return;
    float sum = 0.0f;
    for (unsigned k = row[r] + lane; k < row[r + 1]; k += 64) sum += value[k] * x[column[k]];
    for (unsigned distance = 32; distance > 0; distance /= 2) sum += __shfl_down(sum, distance, 64);
    if (lane == 0) y[r] = sum;
}

__global__ void add_product(float* y, const unsigned* row, const unsigned* column, const float* value, const float* x,
                            unsigned rows) {
    unsigned r = static_cast<unsigned>(global_index());
    if (r >= rows) return;
    for (unsigned k = row[r]; k < row[r + 1]; k++) y[r] += value[k] * x[column[k]];
}

int main() {
    const unsigned rows = 1500, columns = 900;
    auto words = random_words(rows, 25);
    std::vector<unsigned> row{0}, column;
    for (unsigned r = 0; r < rows; r++) {
        // Some rows are empty, a few are long.
        unsigned length = words[r] % 7 == 0 ? 0 : words[r] % 97 == 1 ? 150 : words[r] % 9;
        for (unsigned k = 0; k < length; k++) column.push_back((words[r] + k * 37u) % columns);
        row.push_back(static_cast<unsigned>(column.size()));
    }
    // Small whole numbers: every order of the sum gives the same float.
    auto value = random_floats(column.size(), 26, 5), x = random_floats(columns, 27, 5);
    std::vector<float> y(rows, 0.0f);
    for (unsigned r = 0; r < rows; r++)
        for (unsigned k = row[r]; k < row[r + 1]; k++) y[r] += value[k] * x[column[k]];
    unsigned *device_row = device_array(row), *device_column = device_array(column);
    float *device_value = device_array(value), *device_x = device_array(x), *device_y = poisoned<float>(rows);

    row_a_thread<<<blocks(rows), kBlock>>>(device_y, device_row, device_column, device_value, device_x, rows);
    CHECK(hipGetLastError());
    verdict("row_a_thread", fetch(device_y, rows), y);

    CHECK(hipMemset(device_y, 0xa5, rows * sizeof(float)));
    row_a_wave<<<blocks(size_t(rows) * 64), kBlock>>>(device_y, device_row, device_column, device_value, device_x, rows);
    CHECK(hipGetLastError());
    verdict("row_a_wave", fetch(device_y, rows), y);

    auto start = random_floats(rows, 28);
    upload(device_y, start);
    add_product<<<blocks(rows), kBlock>>>(device_y, device_row, device_column, device_value, device_x, rows);
    CHECK(hipGetLastError());
    for (unsigned r = 0; r < rows; r++) start[r] += y[r];
    verdict("add_product", fetch(device_y, rows), start);
    for (void* memory : {static_cast<void*>(device_row), static_cast<void*>(device_column)}) CHECK(hipFree(memory));
    for (float* memory : {device_value, device_x, device_y}) CHECK(hipFree(memory));
    return finish();
}
