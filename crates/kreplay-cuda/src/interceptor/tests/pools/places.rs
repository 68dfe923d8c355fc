//! Pools whose memory is not the device's.

use super::*;
use crate::tables::{MemoryPlace, MemoryPool};

/// A program of kernel windows, with a pool of this place. What the pool holds is what a launch adds one to.
fn beside(place: MemoryPlace, by_name: bool) -> (Program, u64, MemoryPool) {
    let program = Program::new(3);
    let base = {
        let _depth = crate::agent::Depth::enter();
        program.interceptor.driver.allocate(8192).expect("memory")
    };
    let pool = fake::add_pool(base, 8192);
    fake::set_pool_place(pool, place);
    let pool = MemoryPool(pool as *mut c_void);
    allocate(&program, pool, base, by_name);
    (program, base, pool)
}

fn allocate(program: &Program, pool: MemoryPool, base: u64, by_name: bool) {
    let allocated = || {
        fake::pool_allocate(pool.raw(), base, 8192);
        0
    };
    let (pointer, bytes, stream) = (&raw const base, 8192, Stream::NULL);
    if by_name {
        let p = MemAllocFromPoolParams { pointer, bytes, pool: pool.0, stream };
        program.call(cbid::MEM_ALLOC_FROM_POOL, "", &p, allocated);
    } else {
        program.call(cbid::MEM_ALLOC_ASYNC, "", &MemAllocAsyncParams { pointer, bytes, stream }, allocated);
    }
}

#[test]
fn memory_of_a_pool_is_what_the_driver_says_that_it_is() {
    for by_name in [true, false] {
        for (place, reason) in [
            (MemoryPlace::Device(0), None),
            (MemoryPlace::Device(1), Some(Decline::ImportedMemory)),
            (MemoryPlace::Host, Some(Decline::UntrackedMemory)),
            (MemoryPlace::Managed, Some(Decline::ManagedMemory)),
        ] {
            let (program, base, _) = beside(place, by_name);
            let (own, function) = (program.allocate(4096), increment("of_a_place"));
            program.launch(function, "of_a_place", base + 8188, Stream::NULL, 0);
            assert_eq!(program.declined(), reason, "{place:?}");
            program.launch(function, "of_a_place", own, Stream::NULL, 0);
            let footprint = if reason.is_none() { 8192 + 4096 } else { 4096 };
            assert_eq!((program.declined(), program.last().bytes.footprint), (None, footprint), "{place:?}");
        }
    }
}

#[test]
fn memory_of_the_host_is_every_contexts() {
    let (mut program, base, _) = beside(MemoryPlace::Host, true);
    program.context = Context((fake::CONTEXT + 0xE00_0000) as *mut c_void);
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    program.launch(increment("second_context"), "second_context", base, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::UntrackedMemory), "not imported from the first");
}

#[test]
fn a_pool_that_nobody_tells_of_is_not_put_back() {
    let program = Program::new(3);
    let base = program.allocate(8192);
    program.free(base, 0);
    let pool = MemoryPool(fake::add_pool(base, 8192) as *mut c_void);
    // Its pool, whether it is managed, and what kind it is.
    fake::script("cuPointerGetAttribute", &[1; 3]);
    allocate(&program, pool, base, true);
    program.launch(increment("untold"), "untold", base, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::UntrackedMemory));
}

/// The driver is asked once a pool, and again when its number stands for another one.
#[test]
fn what_a_pool_is_stays_known_until_it_goes() {
    let (program, base, pool) = beside(MemoryPlace::Device(0), true);
    let asked = || {
        fake::take_calls();
        program.call(cbid::MEM_FREE_ASYNC, "", &FreeParams { pointer: base }, || 0);
        allocate(&program, pool, base, true);
        fake::take_calls()["cuPointerGetAttribute"]
    };
    let once = asked();
    assert_eq!(asked(), once);
    program.call(cbid::MEM_POOL_DESTROY, "", &PoolParams { pool }, || 0);
    fake::set_pool_place(pool.raw(), MemoryPlace::Host);
    assert!(asked() > once);
    program.launch(increment("another_pool"), "another_pool", base, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::UntrackedMemory));
}
