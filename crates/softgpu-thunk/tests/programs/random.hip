// A library of others, rocRAND, and what its generators must give: published vectors, and the library's own engines compiled for
// the host. Argument: the generator's name.
#include <hip/hip_runtime.h>
// The engines of the headers, for the host too.
#define FQUALIFIERS __forceinline__ __device__ __host__
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>
#include <rocrand/rocrand_mtgp32_11213.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)
#define HIP(call) CHECK((call) == hipSuccess)
#define RAND(call) CHECK((call) == ROCRAND_STATUS_SUCCESS)

const size_t n = 16384;
const unsigned long long seed = 12345;

template <class T>
static std::vector<T> generate(rocrand_rng_type type, unsigned long long with_seed,
                               const std::function<rocrand_status(rocrand_generator, T *)> &call) {
    rocrand_generator generator;
    RAND(rocrand_create_generator(&generator, type));
    if (type < ROCRAND_RNG_QUASI_DEFAULT) RAND(rocrand_set_seed(generator, with_seed));
    T *device;
    HIP(hipMalloc(&device, n * sizeof(T)));
    HIP(hipMemset(device, 0xa5, n * sizeof(T)));
    RAND(call(generator, device));
    std::vector<T> host(n);
    HIP(hipMemcpy(host.data(), device, n * sizeof(T), hipMemcpyDeviceToHost));
    HIP(hipFree(device));
    RAND(rocrand_destroy_generator(generator));
    return host;
}

static std::vector<unsigned> integers(rocrand_rng_type type, unsigned long long with_seed = seed) {
    return generate<unsigned>(type, with_seed, [](rocrand_generator g, unsigned *p) { return rocrand_generate(g, p, n); });
}

static void philox() {
    const auto type = ROCRAND_RNG_PSEUDO_PHILOX4_32_10;
    // Salmon and others, "Parallel random numbers: as easy as 1, 2, 3": key and counter zero.
    auto zero = integers(type, 0);
    const unsigned published[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    CHECK(memcmp(zero.data(), published, sizeof published) == 0);
    auto v = integers(type);
    rocrand_device::philox4x32_10_engine engine(seed, 0, 0), again(seed, 0, 0);
    for (size_t i = 0; i < n; i++) CHECK(v[i] == engine());
    auto u = generate<float>(type, seed, [](rocrand_generator g, float *p) { return rocrand_generate_uniform(g, p, n); });
    for (size_t i = 0; i < n; i++) CHECK(u[i] == rocrand_device::detail::uniform_distribution(again()));
    auto z = generate<double>(type, seed, [](rocrand_generator g, double *p) { return rocrand_generate_normal_double(g, p, n, 2, 3); });
    double sum = 0, squares = 0;
    for (double x : z) sum += x, squares += x * x;
    double mean = sum / n, deviation = std::sqrt(squares / n - mean * mean);
    CHECK(std::fabs(mean - 2) < 0.1 && std::fabs(deviation - 3) < 0.1);
}

static void xorwow() {
    auto v = integers(ROCRAND_RNG_PSEUDO_XORWOW);
    for (size_t i = 0; i < n; i += 31) CHECK(v[i] == rocrand_device::xorwow_engine(seed, i, 0)());
}

static void mrg() {
    auto v = integers(ROCRAND_RNG_PSEUDO_MRG32K3A);
    for (size_t i = 0; i < n; i += 31) {
        rocrand_device::mrg32k3a_engine engine(seed, i, 0);
        CHECK(v[i] == rocrand_device::detail::mrg_uniform_distribution_uint(engine()));
    }
}

// The recurrence of MTGP32 (Saito), written out for one generator after the other; 256 numbers come from each.
static void mtgp() {
    auto v = integers(ROCRAND_RNG_PSEUDO_MTGP32);
    for (size_t g = 0; g < n / 256; g++) {
        const auto &p = mtgp32dc_params_fast_11213[g];
        std::vector<unsigned> state(351 + 256);
        rocrand_device::rocrand_mtgp32_init_state(state.data(), &p, (unsigned)seed + (unsigned)g + 1);
        for (size_t i = 0; i < 256; i++) {
            unsigned x = (state[i] & p.mask) ^ state[i + 1];
            x ^= x << p.sh1;
            unsigned y = x ^ (state[i + p.pos] >> p.sh2);
            unsigned r = state[i + 351] = y ^ p.tbl[y & 15];
            unsigned t = state[i + p.pos - 1];
            t ^= t >> 16;
            t ^= t >> 8;
            CHECK(v[g * 256 + i] == (r ^ p.tmp_tbl[t & 15]));
        }
    }
}

static void sobol() {
    auto v = integers(ROCRAND_RNG_QUASI_SOBOL32);
    // The first dimension is van der Corput's sequence in the order of Gray codes.
    unsigned x = 0;
    for (size_t i = 0; i < n; i++) {
        CHECK(v[i] == x);
        x ^= 0x80000000u >> __builtin_ctzll(i + 1);
    }
}

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*check)();
    } all[] = {{"philox", philox}, {"xorwow", xorwow}, {"mrg", mrg}, {"mtgp", mtgp}, {"sobol", sobol}};
    CHECK(argc == 2);
    for (auto &one : all) {
        if (strcmp(one.name, argv[1])) continue;
        one.check();
        printf("%s ok\n", one.name);
        return 0;
    }
    return 2;
}
