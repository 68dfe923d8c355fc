// The kernels of the conformance suite, one thread each: they are small, and their order of writes is then defined.
// Compiled to conformance.ptx like kernels/replay.c.

typedef unsigned int u32;
typedef unsigned long long u64;

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((nvptx_kernel))

static inline GLOBAL u32* words(u64 address) { return (GLOBAL u32*)address; }

KERNEL void conform_fill(u64 to, u64 count, u32 value) {
    for (u64 i = 0; i < count; i++) words(to)[i] = value;
}

KERNEL void conform_add(u64 at, u64 count, u32 value) {
    for (u64 i = 0; i < count; i++) words(at)[i] += value;
}

KERNEL void conform_accumulate(u64 from, u64 count, u64 to) {
    u32 sum = *words(to);
    for (u64 i = 0; i < count; i++) sum += words(from)[i];
    *words(to) = sum;
}

KERNEL void conform_copy(u64 to, u64 from, u64 count) {
    for (u64 i = 0; i < count; i++) words(to)[i] = words(from)[i];
}

KERNEL void conform_append(u64 counter, u64 to, u64 count, u32 stride) {
    u32 n = *words(counter);
    *words(counter) = n + 1;
    words(to)[(u32)(n * stride) % count] = n + 1;
}

KERNEL void conform_escape(u64 counter, u32 pass, u64 at, u64 count, u64 to) {
    for (u64 i = 0; i < count; i++) words(at)[i] += 1;
    u32 n = *words(counter);
    *words(counter) = n + 1;
    if (n == pass) *words(to) = 0xe5cabeedu;
}
