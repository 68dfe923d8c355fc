//! Memory pools of the fake. A test says where an allocation lies; the rest is as the driver does it: what is free goes back
//! to the system, which poisons it here, when something synchronises and more is held than the threshold allows.

use super::driver::{functions, put};
use super::{World, world};
use crate::tables::MemoryPlace;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};

const INVALID_VALUE: i32 = 1;
const THRESHOLD: u32 = 4;
const RESERVED: u32 = 5;
const GONE: u8 = 0xDD;

/// One pool: a range of memory, of which parts are allocated.
#[derive(Debug)]
pub(crate) struct Pool {
    base: u64,
    bytes: u64,
    threshold: u64,
    reserved: u64,
    allocated: BTreeMap<u64, u64>,
    /// Copies and memsets of what is free fail.
    refuses: bool,
    destroyed: bool,
    place: MemoryPlace,
}

impl Pool {
    fn holds(&self, address: u64) -> bool {
        (self.base..self.base + self.bytes).contains(&address)
    }

    fn is_allocated(&self, address: u64) -> bool {
        let before = self.allocated.range(..=address).next_back();
        before.is_some_and(|(base, bytes)| address - base < *bytes)
    }

    /// What is free goes back to the system.
    fn trim(&mut self) {
        for address in self.base..self.base + self.bytes {
            if !self.is_allocated(address) {
                put(address as *mut u8, GONE);
            }
        }
        self.reserved = self.allocated.values().sum();
    }
}

/// The address of a function of pools, or null.
pub(super) fn find(name: &CStr) -> *mut c_void {
    match name.to_str().unwrap_or_default() {
        "cuMemPoolGetAttribute" => cuMemPoolGetAttribute as *mut c_void,
        "cuMemPoolSetAttribute" => cuMemPoolSetAttribute as *mut c_void,
        "cuMemcpyDtoDAsync_v2" => cuMemcpyDtoDAsync_v2 as *mut c_void,
        "cuMemcpyHtoDAsync_v2" => cuMemcpyHtoDAsync_v2 as *mut c_void,
        _ => std::ptr::null_mut(),
    }
}

/// A pool over memory of the fake.
pub(crate) fn add_pool(base: u64, bytes: u64) -> u64 {
    let mut world = world();
    world.next_handle += 0x10;
    let handle = 0xA000_0000 + world.next_handle;
    let place = MemoryPlace::Device(0);
    let (threshold, reserved, allocated) = (0, 0, BTreeMap::new());
    let pool = Pool { base, bytes, threshold, reserved, allocated, refuses: false, destroyed: false, place };
    world.pools.insert(handle, pool);
    handle
}

/// A pool is of this place instead of the device.
pub(crate) fn set_pool_place(handle: u64, place: MemoryPlace) {
    world().pools.get_mut(&handle).expect("a pool").place = place;
}

/// The program allocates this range of a pool, as new memory or as what is there.
pub(crate) fn pool_allocate(handle: u64, base: u64, bytes: u64) {
    let mut world = world();
    let pool = world.pools.get_mut(&handle).expect("a pool");
    pool.allocated.insert(base, bytes);
    pool.reserved = pool.reserved.max(pool.bytes);
}

/// More memory backs the pool.
pub(crate) fn pool_grow(handle: u64, bytes: u64) {
    world().pools.get_mut(&handle).expect("a pool").reserved += bytes;
}

/// Less does.
pub(crate) fn pool_shrink(handle: u64, bytes: u64) {
    world().pools.get_mut(&handle).expect("a pool").reserved -= bytes;
}

/// The program frees what begins here.
pub(crate) fn pool_free(handle: u64, base: u64) {
    world().pools.get_mut(&handle).expect("a pool").allocated.remove(&base).expect("it is allocated");
}

/// The driver needs memory, and takes what is free.
pub(crate) fn pool_trim(handle: u64) {
    world().pools.get_mut(&handle).expect("a pool").trim();
}

/// The pool is gone; whoever asks for it panics.
pub(crate) fn pool_destroy(handle: u64) {
    world().pools.get_mut(&handle).expect("a pool").destroyed = true;
}

/// A pool's release threshold.
pub(crate) fn pool_threshold(handle: u64) -> u64 {
    world().pools[&handle].threshold
}

/// Sets it.
pub(crate) fn set_pool_threshold(handle: u64, threshold: u64) {
    world().pools.get_mut(&handle).expect("a pool").threshold = threshold;
}

/// From now on the driver's copies and memsets refuse what is free.
pub(crate) fn pool_refuses(handle: u64) {
    world().pools.get_mut(&handle).expect("a pool").refuses = true;
}

/// The driver synchronises: pools give back what they hold above their thresholds.
pub(super) fn synchronise(world: &mut World) {
    world.pools.values_mut().filter(|pool| pool.reserved > pool.threshold).for_each(Pool::trim);
}

/// The pool that an address is allocated in.
pub(super) fn pool_of(world: &World, address: u64) -> u64 {
    let found = world.pools.iter().find(|(_, pool)| !pool.destroyed && pool.is_allocated(address));
    found.map_or(0, |(handle, _)| *handle)
}

/// Where the pool lies that an address is allocated in.
pub(super) fn place_of(world: &World, address: u64) -> Option<MemoryPlace> {
    Some(world.pools.get(&pool_of(world, address))?.place)
}

/// Whether an address is free memory of a pool; with `refused` only where the driver says no to that.
pub(super) fn is_free(address: u64, refused: bool) -> bool {
    world().pools.values().any(|pool| pool.holds(address) && !pool.is_allocated(address) && (!refused || pool.refuses))
}

functions! {
    fn cuMemPoolGetAttribute(pool: u64, attribute: u32, value: *mut u64) {
        let world = world();
        let Some(pool) = world.pools.get(&pool) else { return INVALID_VALUE };
        assert!(!pool.destroyed, "a pool that is gone is asked about");
        match attribute {
            THRESHOLD => put(value, pool.threshold),
            RESERVED => put(value, pool.reserved),
            _ => return INVALID_VALUE,
        }
        0
    }
    fn cuMemPoolSetAttribute(pool: u64, attribute: u32, value: *mut u64) {
        let mut world = world();
        let Some(pool) = world.pools.get_mut(&pool).filter(|_| attribute == THRESHOLD) else { return INVALID_VALUE };
        assert!(!pool.destroyed, "a pool that is gone is set");
        // SAFETY: the agent passes a pointer to its local.
        pool.threshold = unsafe { *value };
        0
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: u64) {
        if is_free(to, true) || is_free(from, true) {
            return INVALID_VALUE;
        }
        // SAFETY: the agent copies between memory of this process.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        0
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: u64) {
        if is_free(to, true) {
            return INVALID_VALUE;
        }
        // SAFETY: as above.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        0
    }
}
