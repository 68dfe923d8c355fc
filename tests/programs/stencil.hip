// Stencils: out of place in 2D with an LDS tile, and a red-black relaxation in place.
// without restore: relax
#include "check.h"

constexpr int kTile = 16;

__global__ void five_point(float* out, const float* in, int width, int height) {
    __shared__ float tile[kTile + 2][kTile + 2];
    int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
    auto at = [&](int column, int row) {
        bool inside = column >= 0 && column < width && row >= 0 && row < height;
        return inside ? in[row * width + column] : 0.0f;
    };
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = at(x, y);
    if (threadIdx.x == 0) tile[ty][0] = at(x - 1, y);
    if (threadIdx.x == kTile - 1) tile[ty][kTile + 1] = at(x + 1, y);
    if (threadIdx.y == 0) tile[0][tx] = at(x, y - 1);
    if (threadIdx.y == kTile - 1) tile[kTile + 1][tx] = at(x, y + 1);
    __syncthreads();
    if (x < width && y < height)
        out[y * width + x] = 4.0f * tile[ty][tx] - tile[ty - 1][tx] - tile[ty + 1][tx] - tile[ty][tx - 1] - tile[ty][tx + 1];
}

// Each cell of one colour takes the sum of its neighbours, modulo 2^32: in place, no two threads meet.
__global__ void relax(uint32_t* cells, int width, int height, int colour) {
    int index = static_cast<int>(global_index());
    int x = index % width, y = index / width;
    if (y < 1 || y >= height - 1 || x < 1 || x >= width - 1 || ((x + y) & 1) != colour) return;
    uint32_t* cell = cells + y * width + x;
    *cell = *cell * 3u + cell[-1] + cell[1] + cell[-width] + cell[width];
}

int main() {
    const int width = 83, height = 61;
    const size_t count = size_t(width) * height;
    auto in = random_floats(count, 21);
    float* device_in = device_array(in);
    float* device_out = poisoned<float>(count);
    dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
    five_point<<<grid, dim3(kTile, kTile)>>>(device_out, device_in, width, height);
    CHECK(hipGetLastError());
    std::vector<float> out(count);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            auto at = [&](int column, int row) {
                bool inside = column >= 0 && column < width && row >= 0 && row < height;
                return inside ? in[row * width + column] : 0.0f;
            };
            out[y * width + x] = 4.0f * at(x, y) - at(x, y - 1) - at(x, y + 1) - at(x - 1, y) - at(x + 1, y);
        }
    verdict("five_point", fetch(device_out, count), out);

    auto cells = random_words(count, 22);
    uint32_t* device_cells = device_array(cells);
    for (int sweep = 0; sweep < 4; sweep++) {
        relax<<<blocks(count), kBlock>>>(device_cells, width, height, sweep & 1);
        std::vector<uint32_t> before = cells;
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++)
                if (((x + y) & 1) == (sweep & 1)) {
                    size_t i = size_t(y) * width + x;
                    cells[i] = before[i] * 3u + before[i - 1] + before[i + 1] + before[i - width] + before[i + width];
                }
    }
    CHECK(hipGetLastError());
    verdict("relax", fetch(device_cells, count), cells);
    CHECK(hipFree(device_in));
    CHECK(hipFree(device_out));
    CHECK(hipFree(device_cells));
    return finish();
}
