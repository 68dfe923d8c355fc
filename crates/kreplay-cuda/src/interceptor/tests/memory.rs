//! Memory of every class, from birth to end.

use super::*;

#[test]
fn memory_that_cannot_be_put_back_declines_what_points_into_it() {
    use kreplay_engine::Decline;
    let program = Program::new(3);
    let plain = program.allocate(4096);
    let classes = [
        (cbid::MEM_ALLOC_MANAGED, Decline::ManagedMemory),
        (cbid::MEM_HOST_ALLOC_V2, Decline::UntrackedMemory),
        (cbid::IPC_OPEN_V2, Decline::ImportedMemory),
    ];
    for (id, reason) in classes {
        let mut pointer = 0u64;
        let parameters = MemAllocManagedParams { pointer: &raw const pointer, bytes: 8192, flags: 1 };
        program.call(id, "", &parameters, || {
            let _depth = crate::agent::Depth::enter();
            pointer = program.interceptor.driver.allocate(8192).expect("memory");
            0
        });
        let function = increment("reaching");
        program.launch(function, "reaching", pointer + 4096, Stream::NULL, 0);
        assert_eq!(program.declined(), Some(reason), "function {id}");
        program.launch(function, "reaching", plain, Stream::NULL, 0);
        assert_eq!(program.declined(), None);
        program.free(pointer, 0);
        program.launch(function, "reaching", pointer + 4096, Stream::NULL, 0);
        assert_eq!(program.declined(), None, "it is gone");
    }
    // Of the oldest of these functions the size has 32 bits, whatever lies behind it.
    let mut pointer = 0u64;
    let parameters = MemAllocParams { pointer: &raw const pointer, bytes: 0x7777_0000_0000 + 8192 };
    program.call(cbid::MEM_ALLOC_HOST_V1, "", &parameters, || {
        let _depth = crate::agent::Depth::enter();
        pointer = program.interceptor.driver.allocate(8192).expect("memory");
        0
    });
    for (address, reason) in [(pointer + 8191, Some(Decline::UntrackedMemory)), (pointer + 8192, None)] {
        program.launch(increment("reaching"), "reaching", address & !3, Stream::NULL, 0);
        assert_eq!(program.declined(), reason);
    }
    program.free(pointer, 0);
    let object = 0x5eed_0001u64;
    let surface = SurfaceCreateParams { object: &raw const object, description: std::ptr::null() };
    program.call(cbid::SURFACE_CREATE, "", &surface, || 0);
    let function = add_kernel("surface", &[(0, 8)], Arc::new(|_, _| {}));
    program.launch(Function(function as *mut c_void), "surface", object, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::UntrackedMemory));
    program.call(cbid::SURFACE_DESTROY, "", &FreeParams { pointer: object }, || 0);
    program.launch(Function(function as *mut c_void), "surface", object, Stream::NULL, 0);
    assert_eq!(program.declined(), None);
}

#[test]
fn every_kernel_may_write_the_array_of_a_modules_surface() {
    use kreplay_engine::{ClosingReason, Decline};
    let program = Program::with(3, true);
    let (data, function) = (program.allocate(4096), increment("drawing"));
    program.launch(function, "drawing", data, Stream::NULL, 0);
    program.call(cbid::SURFACE_REFERENCE_SET, "", &[0u64; 3], || 0);
    assert_eq!(locked(&program.log.windows).last().map(|window| window.closing), Some(ClosingReason::Unrecordable));
    program.launch(function, "drawing", data, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::UntrackedMemory));
}

#[test]
fn a_failed_free_leaves_the_region_and_a_good_one_takes_it() {
    let program = Program::new(2);
    let (data, other) = (program.allocate(8192), program.allocate(4096));
    let function = increment("freeing");
    program.launch(function, "freeing", data, Stream::NULL, 0);
    assert_eq!(program.last().bytes.footprint, 12_288);
    program.free(data, 700);
    program.launch(function, "freeing", data, Stream::NULL, 0);
    assert_eq!(program.last().bytes.footprint, 12_288);
    program.free(other, 0);
    program.launch(function, "freeing", data, Stream::NULL, 0);
    assert_eq!(program.last().bytes.footprint, 8192);
}

#[test]
fn mappings_are_live_once_a_device_may_write_them() {
    let program = Program::new(2);
    let memory = program.allocate(4096);
    let function = increment("mapped");
    program.launch(function, "mapped", memory, Stream::NULL, 0);
    let alone = program.last().bytes.footprint;
    let backing = vec![0u64; 4096];
    let base = backing.as_ptr() as u64;
    let map = MemMapParams { pointer: base, bytes: 16_384, offset: 0, handle: 1, flags: 0 };
    program.call(cbid::MEM_MAP, "", &map, || 0);
    program.launch(function, "mapped", memory, Stream::NULL, 0);
    assert_eq!(program.last().bytes.footprint, alone);
    let access = [AccessDescription { kind: 1, device: 0, flags: 3 }];
    let set = MemSetAccessParams { pointer: base, bytes: 16_384, access: access.as_ptr(), count: 1 };
    program.call(cbid::MEM_SET_ACCESS, "", &set, || 0);
    program.launch(function, "mapped", base, Stream::NULL, 0);
    assert_eq!(program.last().bytes.footprint, alone + 16_384);
    assert_eq!(backing[0], 1, "one run");
    program.call(cbid::MEM_UNMAP, "", &MemUnmapParams { pointer: base, bytes: 16_384 }, || 0);
    program.launch(function, "mapped", memory, Stream::NULL, 0);
    assert_eq!(program.last().bytes.footprint, alone);
}

#[test]
fn memory_of_another_context_declines() {
    use kreplay_engine::Decline;
    let program = Program::new(3);
    let own = program.allocate(4096);
    let foreign = program.allocate(4096);
    // The second context is made later, and sees what is there.
    let other = Context((fake::CONTEXT + 0xF00_0000) as *mut c_void);
    let data = ResourceData { context: other, stream: Stream::NULL, description: std::ptr::null() };
    // SAFETY: the data of this domain.
    unsafe { program.interceptor.callback(domain::RESOURCE, resource::CONTEXT_CREATED, (&raw const data).cast()) };
    let function = increment("across");
    let before = word(foreign);
    let first = program.context;
    let mut second = program;
    second.context = other;
    second.launch(function, "across", foreign, Stream::NULL, 0);
    assert_eq!(second.declined(), Some(Decline::ImportedMemory));
    assert_eq!(word(foreign), before.wrapping_add(1));
    let mine = second.allocate(4096);
    second.launch(function, "across", mine, Stream::NULL, 0);
    assert_eq!((second.declined(), second.last().bytes.footprint), (None, 4096));
    second.context = first;
    second.launch(function, "across", mine, Stream::NULL, 0);
    assert_eq!(second.declined(), Some(Decline::ImportedMemory));
    second.launch(function, "across", own, Stream::NULL, 0);
    assert_eq!((second.declined(), second.last().bytes.footprint), (None, 8192));
}

#[test]
fn a_context_that_goes_takes_its_engine_along() {
    let program = Program::new(2);
    let data = program.allocate(4096);
    program.launch(increment("going"), "going", data, Stream::NULL, 0);
    program.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    // Its streams go with it.
    program.resource(resource::STREAM_DESTROY_STARTING, Stream(0x57_0000 as *mut c_void), std::ptr::null());
    assert!(program.interceptor.all_contexts().is_empty());
    let held = fake::is_allocated(data);
    assert!(held, "the program's memory is not ours to free");
}
