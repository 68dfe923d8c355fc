// The demo's kernels: each does one thing that a replay must get right. Written without the HIP headers, so that the
// compiler and its linker are all that is needed. Every kernel runs in work-groups of 256.

#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256)))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

typedef unsigned int u32;

static DEVICE u32 index() { return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x(); }

// A variable of the code object, not of any allocation: a replay must put it back too.
extern "C" {
DEVICE u32 launches = 0;
}

// Reads one array and writes another: every pass gives the same, whatever is put back.
KERNEL void smooth(u32* out, const u32* in, u32 count) {
    u32 i = index();
    if (i >= count) return;
    u32 left = in[i == 0 ? count - 1 : i - 1], right = in[i + 1 == count ? 0 : i + 1];
    out[i] = left + 2 * in[i] + right;
}

// Changes its input in place: a pass on what the pass before left gives other numbers.
KERNEL void advance(u32* data, u32 count) {
    u32 i = index();
    if (i < count) data[i] = data[i] * 1664525u + 1013904223u;
}

// Adds to what is there: without a restore every pass adds once more.
KERNEL void accumulate(float* sum, const float* in, u32 count) {
    u32 i = index();
    if (i < count) sum[i] += in[i];
}

// Counts with atomics, in the order in which the waves happen to run.
KERNEL void histogram(u32* bins, const u32* in, u32 count) {
    u32 i = index();
    if (i < count) __hip_atomic_fetch_add(&bins[in[i] >> 26], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// Sums each work-group's part in LDS: barriers, and one word written for 256 read.
KERNEL void block_sum(u32* sums, const u32* in, u32 count) {
    static SHARED u32 part[256];
    u32 i = index(), lane = __builtin_amdgcn_workitem_id_x();
    part[lane] = i < count ? in[i] : 0;
    for (u32 half = 128; half != 0; half /= 2) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        if (lane < half) part[lane] += part[lane + half];
    }
    if (lane == 0) sums[__builtin_amdgcn_workgroup_id_x()] = part[0];
}

// Counts its own launches in the module variable and marks every element with the count.
KERNEL void mark_launch(u32* data, u32 count) {
    u32 i = index();
    if (i < count) data[i] += launches + 1;
    // One work-group only, launched so, which makes this the last thing that happens.
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (i == 0) launches += 1;
}
