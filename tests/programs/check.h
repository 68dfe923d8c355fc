// What every test program shares: failing loudly, arrays on the device, and verdicts.
//
// A program prints one line a kernel, "NAME ok CHECKSUM" or "NAME WRONG CHECKSUM", and ends with 1 when one is wrong.
// It says in its head which kernels go wrong when a replay puts nothing back: "// without restore: NAME NAME";
// and which may do other work in each pass, by the order of the waves: "// may diverge: NAME".
#pragma once
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        hipError_t status_ = (call);                                                     \
        if (status_ != hipSuccess) {                                                     \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,           \
                         hipGetErrorString(status_));                                    \
            std::exit(2);                                                                \
        }                                                                                \
    } while (0)

constexpr unsigned kBlock = 256;

inline unsigned blocks(size_t count) { return static_cast<unsigned>((count + kBlock - 1) / kBlock); }

__device__ inline size_t global_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }

// The same words in every run (the finaliser of SplitMix64).
inline std::vector<uint32_t> random_words(size_t count, uint64_t seed) {
    std::vector<uint32_t> words(count);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = ((seed << 32 | i) + 1) * 0x9e3779b97f4a7c15u;
        value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
        value = (value ^ value >> 27) * 0x94d049bb133111ebu;
        words[i] = static_cast<uint32_t>(value ^ value >> 31);
    }
    return words;
}

// Whole numbers below 2^bits as floats: their sums are exact, so device and host agree bit for bit.
inline std::vector<float> random_floats(size_t count, uint64_t seed, unsigned bits = 10) {
    std::vector<float> floats;
    for (uint32_t word : random_words(count, seed)) floats.push_back(float(word >> (32 - bits)));
    return floats;
}

// Device memory that holds no zeros and no old result.
template <class T>
T* poisoned(size_t count) {
    void* memory = nullptr;
    CHECK(hipMalloc(&memory, count * sizeof(T)));
    CHECK(hipMemset(memory, 0xa5, count * sizeof(T)));
    return static_cast<T*>(memory);
}

template <class T>
void upload(T* to, const std::vector<T>& from) {
    CHECK(hipMemcpy(to, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice));
}

template <class T>
T* device_array(const std::vector<T>& content) {
    T* memory = poisoned<T>(content.size());
    upload(memory, content);
    return memory;
}

template <class T>
std::vector<T> fetch(const T* from, size_t count) {
    std::vector<T> host(count);
    CHECK(hipMemcpy(host.data(), from, count * sizeof(T), hipMemcpyDeviceToHost));
    return host;
}

inline int& wrong_kernels() {
    static int count = 0;
    return count;
}

// Compares what the device left with what it must have left, byte for byte.
template <class T>
void verdict(const char* kernel, const std::vector<T>& found, const std::vector<T>& expected) {
    uint64_t checksum = 0xcbf29ce484222325u;
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(found.data());
    for (size_t i = 0; i < found.size() * sizeof(T); i++) checksum = (checksum ^ bytes[i]) * 0x100000001b3u;
    bool right = found.size() == expected.size() &&
                 std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0;
    wrong_kernels() += !right;
    std::printf("%s %s %016llx\n", kernel, right ? "ok" : "WRONG", static_cast<unsigned long long>(checksum));
}

inline int finish() {
    CHECK(hipDeviceSynchronize());
    return wrong_kernels() != 0;
}

// The recurrence of the in-place kernels.
__host__ __device__ inline uint32_t next_word(uint32_t word) { return word * 1664525u + 1013904223u; }
