// The kernels of the engine's conformance suite. One work-item does the small ones; the others take a word each.

#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256)))
#define DEVICE static __attribute__((device, always_inline))

typedef unsigned int u32;
typedef unsigned long u64;

DEVICE u64 index() { return __builtin_amdgcn_workgroup_id_x() * 256ul + __builtin_amdgcn_workitem_id_x(); }

KERNEL void conform_fill(u32* to, u64 count, u32 value) {
    if (index() < count) to[index()] = value;
}

KERNEL void conform_add(u32* at, u64 count, u32 value) {
    if (index() < count) at[index()] += value;
}

KERNEL void conform_copy(u32* to, const u32* from, u64 count) {
    if (index() < count) to[index()] = from[index()];
}

KERNEL void conform_accumulate(const u32* from, u64 count, u32* to) {
    if (index() < count) __hip_atomic_fetch_add(to, from[index()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

KERNEL void conform_append(u32* counter, u32* to, u64 count, u32 stride) {
    if (index() != 0) return;
    u32 n = *counter;
    *counter = n + 1;
    to[n * stride % (u32)count] = n + 1;
}

KERNEL void conform_escape(u32* counter, u32* at, u64 count, u32* to, u32 pass) {
    if (index() < count) at[index()] += 1;
    if (index() != 0) return;
    u32 n = *counter;
    *counter = n + 1;
    if (n == pass) *to = 0xe5cabeed;
}
