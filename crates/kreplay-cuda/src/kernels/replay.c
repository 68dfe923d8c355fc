// The device kernels of the CUDA agent: copy, compare, synchronise and hash, each over a table of ranges in one launch.
// Compiled to replay.ptx by `cargo xtask gen` or the command in kernels/mod.rs; the PTX text is what is loaded.
//
// Work is divided into tiles of 4096 bytes, one warp a tile. A tile is read with 128-bit loads, eight a lane and side,
// all of them before the first use, so that a multiprocessor has enough bytes in flight to reach memory speed.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef u64 u64x2 __attribute__((ext_vector_type(2)));

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((nvptx_kernel))
#define INLINE static inline __attribute__((always_inline))

enum { TILE_SHIFT = 12, ROW = 512, ROWS = 8, LANES = 32 };

// One range or pair of ranges; kernels/table.rs has the same layout.
struct entry {
    u64 a;          // compare: memory; copy, synchronise: source; hash: the range
    u64 b;          // compare: shadow; copy, synchronise: destination; hash: unused
    u64 bytes;
    u64 first_tile; // tiles of all entries before this one
    u64 out;        // compare, synchronise: first word of its map; hash: first value
    u64 digests;    // look, take, give, digest: the hash of each tile of the shadow
};

INLINE u32 lane_id(void) { return __nvvm_read_ptx_sreg_tid_x() & (LANES - 1); }

INLINE u64 warp_id(void) {
    return ((u64)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x()) / LANES;
}

INLINE u64 warp_count(void) {
    return (u64)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x() / LANES;
}

// The entry that holds a tile: the last one whose first tile is not beyond it.
INLINE u32 find_entry(const GLOBAL struct entry* table, u32 entries, u64 tile) {
    u32 low = 0, high = entries;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (table[middle].first_tile <= tile) low = middle; else high = middle;
    }
    return low;
}

// How many bytes of a tile there are, of so many from its beginning on.
INLINE u64 in_tile(u64 left) { return left < (1u << TILE_SHIFT) ? left : (1u << TILE_SHIFT); }

// Where the loop over a warp's tiles comes to a tile of another entry: reads it into `e`, and its end into `next`. A macro, so
// that the variables stay the loop's own.
#define SEEK(tile)                                                                \
    if ((tile) >= next) {                                                         \
        index = find_entry(table, entries, tile);                                 \
        e = table[index];                                                         \
        next = index + 1 < entries ? table[index + 1].first_tile : tiles;         \
    }

INLINE u32x4 load16(u64 address) { return *(const GLOBAL u32x4*)address; }
INLINE void store16(u64 address, u32x4 value) { *(GLOBAL u32x4*)address = value; }

INLINE u32 differ(u32x4 x, u32x4 y) {
    u32x4 d = x ^ y;
    return (d.x | d.y | d.z | d.w) != 0;
}

// Marks the chunks of a map for the lanes whose flag is set; `offset` is each lane's offset in the range.
INLINE void mark_lane(GLOBAL u32* map, u64 offset, u32 chunk_shift) {
    u64 chunk = offset >> chunk_shift;
    __scoped_atomic_fetch_or(map + (chunk >> 5), 1u << (chunk & 31), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// Compares a tile, and with `update` makes b like a where they differ.
INLINE void compare_tile(const struct entry* e, u64 offset, u32 lane, u32 chunk_shift, GLOBAL u32* maps, int update) {
    GLOBAL u32* map = maps + e->out;
    u64 left = e->bytes - offset;
    u64 a = e->a + offset, b = e->b + offset;
    if (left >= (1u << TILE_SHIFT) && ((a | b) & 15) == 0) {
        u32x4 x[ROWS], y[ROWS];
#pragma unroll
        for (int row = 0; row < ROWS; row++) x[row] = load16(a + row * ROW + lane * 16);
#pragma unroll
        for (int row = 0; row < ROWS; row++) y[row] = load16(b + row * ROW + lane * 16);
        u32 rows = 0;
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            u32 other = differ(x[row], y[row]);
            rows |= other << row;
            if (update && other) store16(b + row * ROW + lane * 16, x[row]);
        }
        if (!__nvvm_vote_any_sync(0xffffffff, rows != 0)) return;
        if (chunk_shift >= TILE_SHIFT) {
            if (lane == 0) mark_lane(map, offset, chunk_shift);
            return;
        }
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            if (rows >> row & 1) mark_lane(map, offset + row * ROW + lane * 16, chunk_shift);
        return;
    }
    // The last tile of a range, or ranges that are not aligned to each other: 16 bytes a lane, at once where they can be.
    u64 end = in_tile(left);
    u64 whole = ((a | b) & 15) == 0 ? end & ~15ull : 0;
    for (u64 at = lane * 16; at < end; at += ROW) {
        u32 other = 0;
        if (at < whole) {
            u32x4 x = load16(a + at);
            other = differ(x, load16(b + at));
            if (update && other) store16(b + at, x);
        } else {
            for (u64 byte = at; byte < at + 16 && byte < end; byte++) {
                u8 x = *(const GLOBAL u8*)(a + byte), y = *(const GLOBAL u8*)(b + byte);
                if (x != y) {
                    other = 1;
                    if (update) *(GLOBAL u8*)(b + byte) = x;
                }
            }
        }
        if (other) mark_lane(map, offset + at, chunk_shift);
    }
}

INLINE void compare(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps, int update) {
    u32 lane = lane_id(), index = 0;
    struct entry e = table[0];
    u64 next = entries > 1 ? table[1].first_tile : tiles;
    for (u64 tile = warp_id(); tile < tiles; tile += warp_count()) {
        SEEK(tile);
        compare_tile(&e, (tile - e.first_tile) << TILE_SHIFT, lane, chunk_shift, maps, update);
    }
}

KERNEL void kreplay_compare(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps) {
    compare(table, entries, tiles, chunk_shift, maps, 0);
}

KERNEL void kreplay_synchronise(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps) {
    compare(table, entries, tiles, chunk_shift, maps, 1);
}

KERNEL void kreplay_copy(const GLOBAL struct entry* table, u32 entries, u64 tiles) {
    u32 lane = lane_id(), index = 0;
    struct entry e = table[0];
    u64 next = entries > 1 ? table[1].first_tile : tiles;
    for (u64 tile = warp_id(); tile < tiles; tile += warp_count()) {
        SEEK(tile);
        u64 offset = (tile - e.first_tile) << TILE_SHIFT;
        u64 left = e.bytes - offset, a = e.a + offset, b = e.b + offset;
        if (left >= (1u << TILE_SHIFT) && ((a | b) & 15) == 0) {
            u32x4 x[ROWS];
#pragma unroll
            for (int row = 0; row < ROWS; row++) x[row] = load16(a + row * ROW + lane * 16);
#pragma unroll
            for (int row = 0; row < ROWS; row++) store16(b + row * ROW + lane * 16, x[row]);
            continue;
        }
        u64 end = in_tile(left);
        u64 whole = ((a | b) & 15) == 0 ? end & ~15ull : 0;
        for (u64 at = lane * 16; at < whole; at += ROW) store16(b + at, load16(a + at));
        for (u64 at = whole + lane; at < end; at += LANES) *(GLOBAL u8*)(b + at) = *(const GLOBAL u8*)(a + at);
    }
}

// A hash of a chunk is a sum, so that tiles and lanes may add to it in any order: each 16 bytes give the folded 128-bit
// product of their two halves, each combined with a key that depends on the place in the chunk.
#define KEY_LOW 0x9e3779b97f4a7c15ull
#define KEY_HIGH 0xc2b2ae3d27d4eb4full
#define STEP_LOW 0xd6e8feb86659fd93ull
#define STEP_HIGH 0xa0761d6478bd642full

INLINE u64 keyed(u64x2 value, u64 key_low, u64 key_high) {
    u64 low = value.x ^ key_low, high = value.y ^ key_high;
    return low * high ^ __nvvm_mulhi_ull(low, high);
}

INLINE u64 mixed(u64x2 value, u64 place) { return keyed(value, KEY_LOW + place * STEP_LOW, KEY_HIGH + place * STEP_HIGH); }

INLINE u64 warp_sum(u64 value) {
#pragma unroll
    for (int distance = LANES / 2; distance; distance /= 2) {
        u32 low = __nvvm_shfl_sync_bfly_i32(0xffffffff, (u32)value, distance, 31);
        u32 high = __nvvm_shfl_sync_bfly_i32(0xffffffff, (u32)(value >> 32), distance, 31);
        value += low | (u64)high << 32;
    }
    return value;
}

INLINE void add_hash(GLOBAL u64* hashes, u64 chunk, u64 value) {
    __scoped_atomic_fetch_add(hashes + chunk, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// 16 bytes at `address`, of which `count` are there; the rest is zero.
INLINE u64x2 load_part(u64 address, u64 count) {
    u64x2 value = {0, 0};
#pragma unroll
    for (u32 byte = 0; byte < 16; byte++)
        if (byte < count) value[byte / 8] |= (u64)*(const GLOBAL u8*)(address + byte) << (byte % 8 * 8);
    return value;
}

KERNEL void kreplay_hash(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u64* out) {
    u32 lane = lane_id(), index = 0;
    struct entry e = table[0];
    u64 next = entries > 1 ? table[1].first_tile : tiles;
    u64 units_of_chunk = (1ull << chunk_shift) / 16 - 1;
    for (u64 tile = warp_id(); tile < tiles; tile += warp_count()) {
        SEEK(tile);
        u64 offset = (tile - e.first_tile) << TILE_SHIFT;
        u64 left = e.bytes - offset, a = e.a + offset;
        GLOBAL u64* hashes = out + e.out;
        u64 unit = offset / 16 + lane;
        if (left >= (1u << TILE_SHIFT) && (a & 15) == 0 && chunk_shift >= TILE_SHIFT) {
            // In halves of 64 bits, as they are used: words that are put together later are loaded twice by this compiler.
            u64x2 x[ROWS];
#pragma unroll
            for (int row = 0; row < ROWS; row++) x[row] = *(const GLOBAL u64x2*)(a + row * ROW + lane * 16);
            // A tile lies in one chunk, so the keys of its rows are apart by a constant.
            u64 place = unit & units_of_chunk, sum = 0;
            u64 key_low = KEY_LOW + place * STEP_LOW, key_high = KEY_HIGH + place * STEP_HIGH;
#pragma unroll
            for (int row = 0; row < ROWS; row++)
                sum += keyed(x[row], key_low + row * (LANES * STEP_LOW), key_high + row * (LANES * STEP_HIGH));
            sum = warp_sum(sum);
            if (lane == 0) add_hash(hashes, offset >> chunk_shift, sum);
            continue;
        }
        u64 end = in_tile(left);
        for (u64 at = lane * 16; at < end; at += ROW) {
            // A unit that is not full has a place of its own, so that zeroes of other lengths hash otherwise.
            u64 place = (offset + at) / 16 & units_of_chunk, count = end - at < 16 ? end - at : 16;
            place ^= (16 - count) << 56;
            add_hash(hashes, (offset + at) >> chunk_shift, mixed(load_part(a + at, count), place));
        }
    }
}

// The hash of a tile, in every lane: that of kreplay_hash for a chunk of a tile.
INLINE u64 tile_hash(u64 a, u64 bytes, u32 lane) {
    u64 sum = 0;
    if (bytes == (1u << TILE_SHIFT) && (a & 15) == 0) {
        u64x2 x[ROWS];
#pragma unroll
        for (int row = 0; row < ROWS; row++) x[row] = *(const GLOBAL u64x2*)(a + row * ROW + lane * 16);
        u64 key_low = KEY_LOW + lane * STEP_LOW, key_high = KEY_HIGH + lane * STEP_HIGH;
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            sum += keyed(x[row], key_low + row * (LANES * STEP_LOW), key_high + row * (LANES * STEP_HIGH));
    } else {
        for (u64 at = lane * 16; at < bytes; at += ROW) {
            u64 count = bytes - at < 16 ? bytes - at : 16;
            sum += mixed(load_part(a + at, count), at / 16 ^ (16 - count) << 56);
        }
    }
    return warp_sum(sum);
}

// Copies a tile. It was just read, so the cache has it.
INLINE void copy_tile(u64 to, u64 from, u64 bytes, u32 lane) {
    if (((to | from) & 15) == 0) {
        u64 whole = bytes & ~15ull;
        for (u64 at = lane * 16; at < whole; at += ROW) store16(to + at, load16(from + at));
        for (u64 at = whole + lane; at < bytes; at += LANES) *(GLOBAL u8*)(to + at) = *(const GLOBAL u8*)(from + at);
        return;
    }
    for (u64 at = lane; at < bytes; at += LANES) *(GLOBAL u8*)(to + at) = *(const GLOBAL u8*)(from + at);
}

enum { LOOK, TAKE, GIVE };

// Marks the tiles of memory (a) whose hashes differ from those of the shadow (b), and makes one side like the other there. A
// range without hashes is compared.
INLINE void look(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps, int way) {
    u32 lane = lane_id(), index = 0;
    struct entry e = table[0];
    u64 next = entries > 1 ? table[1].first_tile : tiles;
    for (u64 tile = warp_id(); tile < tiles; tile += warp_count()) {
        SEEK(tile);
        u64 offset = (tile - e.first_tile) << TILE_SHIFT;
        if (!e.digests) {
            struct entry sides = e;
            if (way == GIVE) sides.a = e.b, sides.b = e.a;
            compare_tile(&sides, offset, lane, chunk_shift, maps, way != LOOK);
            continue;
        }
        u64 left = e.bytes - offset, bytes = in_tile(left);
        u64 a = e.a + offset, b = e.b + offset;
        GLOBAL u64* digest = (GLOBAL u64*)e.digests + (tile - e.first_tile);
        u64 known = *digest, hash = tile_hash(a, bytes, lane);
        if (hash == known) continue;
        if (lane == 0) mark_lane(maps + e.out, offset, chunk_shift);
        if (way == TAKE) {
            copy_tile(b, a, bytes, lane);
            if (lane == 0) *digest = hash;
        }
        if (way == GIVE) copy_tile(a, b, bytes, lane);
    }
}

KERNEL void kreplay_look(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps) {
    look(table, entries, tiles, chunk_shift, maps, LOOK);
}

KERNEL void kreplay_take(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps) {
    look(table, entries, tiles, chunk_shift, maps, TAKE);
}

KERNEL void kreplay_give(const GLOBAL struct entry* table, u32 entries, u64 tiles, u32 chunk_shift, GLOBAL u32* maps) {
    look(table, entries, tiles, chunk_shift, maps, GIVE);
}

// Writes the hash of each tile of a range.
KERNEL void kreplay_digest(const GLOBAL struct entry* table, u32 entries, u64 tiles) {
    u32 lane = lane_id(), index = 0;
    struct entry e = table[0];
    u64 next = entries > 1 ? table[1].first_tile : tiles;
    for (u64 tile = warp_id(); tile < tiles; tile += warp_count()) {
        SEEK(tile);
        u64 offset = (tile - e.first_tile) << TILE_SHIFT;
        u64 left = e.bytes - offset;
        u64 hash = tile_hash(e.a + offset, in_tile(left), lane);
        if (lane == 0) ((GLOBAL u64*)e.digests)[tile - e.first_tile] = hash;
    }
}
