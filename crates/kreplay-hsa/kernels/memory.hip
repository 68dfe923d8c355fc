// What the replay engine does to memory, for many ranges in one launch. Written without the HIP headers, so that the
// compiler and its linker are all that is needed.
//
// Work is cut into tasks, and the tasks of all ranges are numbered through: a range's entry says which task is its
// first. A work-group takes every so-manieth task and finds its range by bisection. Lanes move 16 bytes at a time; the
// hardware takes any alignment, so only the last bytes of a chunk, fewer than 16, go one by one.

#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define DEVICE static __attribute__((device, always_inline))
#define SHARED static __attribute__((shared))
#define GLOBAL __attribute__((address_space(1)))

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef u32 vec __attribute__((ext_vector_type(4)));
// Sixteen bytes at any address.
struct __attribute__((packed)) Sixteen {
    vec value;
};

// One range, or two copies of one. The layout is the host's too.
struct Entry {
    u64 first_task;
    u64 a;      // memory, or destination
    u64 b;      // shadow, or source
    u64 bytes;
};

// Chunks of a task: the bits of one answer word.
#define CHUNKS 32
#define WAVES (256 / __AMDGCN_WAVEFRONT_SIZE__)

DEVICE u32 item() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 lane() { return item() % __AMDGCN_WAVEFRONT_SIZE__; }
DEVICE u32 wave() { return __builtin_amdgcn_readfirstlane(item() / __AMDGCN_WAVEFRONT_SIZE__); }
DEVICE u32 group() { return __builtin_amdgcn_workgroup_id_x(); }

DEVICE vec load(u64 address) { return ((const GLOBAL Sixteen*)address)->value; }
DEVICE void store(u64 address, vec value) { ((GLOBAL Sixteen*)address)->value = value; }
DEVICE u8 load_byte(u64 address) { return *(const GLOBAL u8*)address; }
DEVICE void store_byte(u64 address, u8 value) { *(GLOBAL u8*)address = value; }

DEVICE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Whether `value` is true in any lane of the wave.
DEVICE bool any(bool value) {
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
    return __builtin_amdgcn_ballot_w64(value) != 0;
#else
    return __builtin_amdgcn_ballot_w32(value) != 0;
#endif
}

// The entry whose task this is.
DEVICE const GLOBAL Entry* find(const GLOBAL Entry* table, u32 entries, u64 task) {
    u32 low = 0, high = entries;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (table[middle].first_task <= task) low = middle;
        else high = middle;
    }
    return table + low;
}

// Compares `bytes` bytes; where they differ, `to` is made like `from` if it is not 0. `to` is one of the two.
DEVICE bool differ(u64 a, u64 b, u64 bytes, bool copy, bool to_memory) {
    u64 to = to_memory ? a : b;
    u32 whole = bytes / 16, step = __AMDGCN_WAVEFRONT_SIZE__, i = lane();
    bool differs = false;
    for (; i + 3 * step < whole; i += 4 * step) {
        vec left[4], right[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) left[j] = load(a + (i + j * step) * 16ul);
#pragma unroll
        for (u32 j = 0; j < 4; j++) right[j] = load(b + (i + j * step) * 16ul);
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            vec d = left[j] ^ right[j];
            if ((d.x | d.y | d.z | d.w) != 0) {
                differs = true;
                if (copy) store(to + (i + j * step) * 16ul, to_memory ? right[j] : left[j]);
            }
        }
    }
    for (; i < whole; i += step) {
        vec left = load(a + i * 16ul), right = load(b + i * 16ul);
        vec d = left ^ right;
        if ((d.x | d.y | d.z | d.w) != 0) {
            differs = true;
            if (copy) store(to + i * 16ul, to_memory ? right : left);
        }
    }
    u32 rest = bytes % 16;
    if (lane() < rest) {
        u64 at = whole * 16ul + lane();
        u8 left = load_byte(a + at), right = load_byte(b + at);
        if (left != right) {
            differs = true;
            if (copy) store_byte(to + at, to_memory ? right : left);
        }
    }
    return any(differs);
}

// One bit a chunk: whether the two copies differ. `way` is 0: only compare; 1: make the shadow like memory; 2: make
// memory like the shadow.
KERNEL void kreplay_compare(const GLOBAL Entry* table, GLOBAL u32* words, u64 tasks, u64 chunk, u32 entries,
                            u32 groups, u32 way) {
    SHARED u32 flags[CHUNKS];
    for (u64 task = group(); task < tasks; task += groups) {
        const GLOBAL Entry* entry = find(table, entries, task);
        u64 first = (task - entry->first_task) * CHUNKS;
        for (u32 index = wave(); index < CHUNKS; index += WAVES) {
            u64 at = (first + index) * chunk;
            bool differs = false;
            if (at < entry->bytes) {
                u64 bytes = entry->bytes - at < chunk ? entry->bytes - at : chunk;
                differs = differ(entry->a + at, entry->b + at, bytes, way != 0, way == 2);
            }
            if (lane() == 0) flags[index] = differs;
        }
        barrier();
        if (item() == 0) {
            u32 word = 0;
            for (u32 index = 0; index < CHUNKS; index++) word |= flags[index] << index;
            words[task] = word;
        }
        barrier();
    }
}

// Copies. A task is one piece of `piece` bytes.
KERNEL void kreplay_copy(const GLOBAL Entry* table, u64 tasks, u64 piece, u32 entries, u32 groups) {
    for (u64 task = group(); task < tasks; task += groups) {
        const GLOBAL Entry* entry = find(table, entries, task);
        u64 at = (task - entry->first_task) * piece;
        u64 bytes = entry->bytes - at < piece ? entry->bytes - at : piece;
        u64 to = entry->a + at, from = entry->b + at;
        u32 whole = bytes / 16, i = item();
        for (; i + 3 * 256 < whole; i += 4 * 256) {
            vec value[4];
#pragma unroll
            for (u32 j = 0; j < 4; j++) value[j] = load(from + (i + j * 256) * 16ul);
#pragma unroll
            for (u32 j = 0; j < 4; j++) store(to + (i + j * 256) * 16ul, value[j]);
        }
        for (; i < whole; i += 256) store(to + i * 16ul, load(from + i * 16ul));
        if (item() < bytes % 16) {
            u64 last = whole * 16ul + item();
            store_byte(to + last, load_byte(from + last));
        }
    }
}

// Four words at a place. A sum of products of sums, as in NH (UMAC, RFC 4418 §5.2.2), with keys made from the place, so
// that the order in which lanes add does not matter.
DEVICE u64 mix(vec word, u32 place) {
    u32 k0 = place * 0x9E3779B1u + 0x85EBCA77u, k1 = place * 0xC2B2AE3Du + 0x27D4EB2Fu;
    u64 low = (u64)(word.x + k0) * (word.y + k1);
    u64 high = (u64)(word.z + (k0 ^ 0x165667B1u)) * (word.w + (k1 ^ 0x5BD1E995u));
    return low + (high << 32 | high >> 32);
}

// The sum over the wave's lanes, in every lane.
DEVICE u64 sum(u64 value) {
    for (u32 distance = 1; distance < __AMDGCN_WAVEFRONT_SIZE__; distance *= 2) {
        u32 peer = (lane() ^ distance) * 4;
        u32 low = __builtin_amdgcn_ds_bpermute(peer, (u32)value);
        u32 high = __builtin_amdgcn_ds_bpermute(peer, (u32)(value >> 32));
        value += (u64)high << 32 | low;
    }
    return value;
}

// The finaliser of MurmurHash3 (public domain constants).
DEVICE u64 finish(u64 value) {
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDul;
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53ul;
    return value ^ value >> 33;
}

// One hash a chunk, the first of an entry at `b` (a place in `hashes`).
KERNEL void kreplay_hash(const GLOBAL Entry* table, GLOBAL u64* hashes, u64 tasks, u64 chunk, u32 entries,
                         u32 groups) {
    SHARED u64 found[CHUNKS];
    for (u64 task = group(); task < tasks; task += groups) {
        const GLOBAL Entry* entry = find(table, entries, task);
        u64 first = (task - entry->first_task) * CHUNKS;
        for (u32 index = wave(); index < CHUNKS; index += WAVES) {
            u64 at = (first + index) * chunk;
            if (at >= entry->bytes) break;
            u64 bytes = entry->bytes - at < chunk ? entry->bytes - at : chunk, base = entry->a + at;
            u32 whole = bytes / 16, rest = bytes % 16;
            u64 part = 0;
            for (u32 i = lane(); i < whole; i += __AMDGCN_WAVEFRONT_SIZE__) part += mix(load(base + i * 16ul), i);
            if (lane() < rest) {
                vec one = {load_byte(base + whole * 16ul + lane()), 0, lane(), 0};
                part += mix(one, whole + 1 + lane());
            }
            u64 total = sum(part);
            if (lane() == 0) found[index] = finish(total ^ bytes * 0x9E3779B97F4A7C15ul);
        }
        barrier();
        if (item() < CHUNKS && (first + item()) * chunk < entry->bytes) hashes[entry->b + first + item()] = found[item()];
        barrier();
    }
}
