// Copies and fills of one to three dimensions and of every width, between kernels that work in place: a replay repeats all of them
// in their order, from sources that the program has changed since.
#include <cstring>
#include <cuda.h>
#include "check.cuh"

static const size_t WIDTH = 301, HEIGHT = 40, DEPTH = 5;
using Host = std::vector<unsigned>;

// A box of words on the device whose rows are padded, and what it must hold.
struct Box {
    cudaPitchedPtr at;
    Host words;

    Box() : words(WIDTH * HEIGHT * DEPTH) {
        CHECK(cudaMalloc3D(&at, make_cudaExtent(WIDTH * 4, HEIGHT, DEPTH)));
        CHECK(cudaMemset3D(at, 0x5a, make_cudaExtent(WIDTH * 4, HEIGHT, DEPTH)));
        for (unsigned& word : words) word = 0x5a5a5a5au;
    }

    char* row(size_t y, size_t z) const { return static_cast<char*>(at.ptr) + (z * HEIGHT + y) * at.pitch; }
    unsigned& word(size_t x, size_t y, size_t z) { return words[(z * HEIGHT + y) * WIDTH + x]; }

    void expect(const char* name) {
        Host found(words.size(), 0xdeadbeef);
        CHECK(cudaMemcpy2D(found.data(), WIDTH * 4, at.ptr, at.pitch, WIDTH * 4, HEIGHT * DEPTH, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < words.size(); i++) EXPECT(found[i] == words[i], "%s, word %zu: %u and not %u", name, i, found[i], words[i]);
    }
};

__global__ void step_box(cudaPitchedPtr box, size_t width, size_t rows) {
    size_t x = blockIdx.x * size_t(blockDim.x) + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= rows) return;
    unsigned* word = reinterpret_cast<unsigned*>(static_cast<char*>(box.ptr) + y * box.pitch) + x;
    *word = next_value(*word);
}

static void step(Box& box) {
    step_box<<<dim3((WIDTH + 63) / 64, HEIGHT * DEPTH), 64>>>(box.at, WIDTH, HEIGHT * DEPTH);
    for (unsigned& word : box.words) word = next_value(word);
}

// A part of slice `z` filled by the driver, with elements of 1, 2 or 4 bytes.
static void fill_part(Box& box, size_t bytes, unsigned value, size_t z) {
    const size_t x = 8, y = 3, width = 64, height = 17;
    auto at = CUdeviceptr(box.row(y, z)) + x * 4;
    size_t count = width * 4 / bytes;
    if (bytes == 1) DRIVER(cuMemsetD2D8Async(at, box.at.pitch, static_cast<unsigned char>(value), count, height, nullptr));
    if (bytes == 2) DRIVER(cuMemsetD2D16Async(at, box.at.pitch, static_cast<unsigned short>(value), count, height, nullptr));
    if (bytes == 4) DRIVER(cuMemsetD2D32Async(at, box.at.pitch, value, count, height, nullptr));
    unsigned word = bytes == 1 ? (value & 0xff) * 0x01010101u : bytes == 2 ? (value & 0xffff) * 0x00010001u : value;
    for (size_t j = 0; j < height; j++)
        for (size_t i = 0; i < width; i++) box.word(x + i, y + j, z) = word;
}

// A row filled in one dimension.
static void fill_row(Box& box, size_t bytes, unsigned value, size_t y, size_t z) {
    auto at = CUdeviceptr(box.row(y, z));
    if (bytes == 1) DRIVER(cuMemsetD8Async(at, static_cast<unsigned char>(value), WIDTH * 4, nullptr));
    if (bytes == 2) DRIVER(cuMemsetD16Async(at, static_cast<unsigned short>(value), WIDTH * 2, nullptr));
    if (bytes == 4) DRIVER(cuMemsetD32Async(at, value, WIDTH, nullptr));
    unsigned word = bytes == 1 ? (value & 0xff) * 0x01010101u : bytes == 2 ? (value & 0xffff) * 0x00010001u : value;
    for (size_t i = 0; i < WIDTH; i++) box.word(i, y, z) = word;
}

// A part of the slices of `from`, to elsewhere in `to`, on the device.
static void copy_box(Box& to, Box& from) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = from.at, copy.dstPtr = to.at;
    copy.srcPos = make_cudaPos(12 * 4, 5, 1), copy.dstPos = make_cudaPos(100 * 4, 9, 2);
    copy.extent = make_cudaExtent(150 * 4, 21, 3);
    copy.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3DAsync(&copy));
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 21; y++)
            for (size_t x = 0; x < 150; x++) to.word(100 + x, 9 + y, 2 + z) = from.word(12 + x, 5 + y, 1 + z);
}

// A part of a slice from memory of the host, which is overwritten as soon as it may be.
static void upload(Box& box, unsigned* from, bool pinned, unsigned salt, size_t z) {
    const size_t x = 33, y = 7, width = 90, height = 22;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) from[i] = first_value(i) ^ salt;
    CHECK(cudaMemcpy2DAsync(box.row(y, z) + x * 4, box.at.pitch, from + 2, WIDTH * 4, width * 4, height, cudaMemcpyHostToDevice));
    for (size_t j = 0; j < height; j++)
        for (size_t i = 0; i < width; i++) box.word(x + i, y + j, z) = first_value(j * WIDTH + i + 2) ^ salt;
    // What is pageable is read before the call returns.
    if (pinned) CHECK(cudaDeviceSynchronize());
    std::memset(from, 0xcc, WIDTH * HEIGHT * 4);
}

int main() {
    Box one, other;
    Host pageable(WIDTH * HEIGHT);
    unsigned* pinned;
    CHECK(cudaMallocHost(&pinned, WIDTH * HEIGHT * 4));
    for (unsigned round = 0; round < 3; round++) {
        step(one);
        for (size_t bytes : {1, 2, 4}) fill_part(one, bytes, 0x01020304u * (round + unsigned(bytes)), bytes);
        for (size_t bytes : {1, 2, 4}) fill_row(other, bytes, 0x0a0b0c0du + round, 30 + bytes, round);
        step(other);
        upload(one, pageable.data(), false, round, 0);
        upload(other, pinned, true, round + 7, 4);
        copy_box(other, one);
        step(one);
        // Rows of all slices at once.
        CHECK(cudaMemcpy2DAsync(one.at.ptr, one.at.pitch, other.at.ptr, other.at.pitch, 11 * 4, HEIGHT * DEPTH, cudaMemcpyDeviceToDevice));
        for (size_t z = 0; z < DEPTH; z++)
            for (size_t y = 0; y < HEIGHT; y++)
                for (size_t x = 0; x < 11; x++) one.word(x, y, z) = other.word(x, y, z);
        step(one);
        step(other);
    }
    one.expect("one");
    other.expect("other");
    return finish("copies");
}
