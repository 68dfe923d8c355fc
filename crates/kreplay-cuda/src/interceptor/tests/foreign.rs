//! Memory that others may use too, by every way it gets to them.

mod access;

use super::*;
use kreplay_engine::{ClosingReason, Decline};

/// A launch that reaches this memory declines and runs once; one that does not is replayed, and leaves it alone.
fn is_foreign(program: &Program, memory: u64, own: u64) {
    let (function, before) = (increment("foreign"), word(memory));
    program.launch(function, "foreign", memory + 8, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::ImportedMemory));
    program.launch(function, "foreign", own, Stream::NULL, 0);
    assert_eq!((program.declined(), program.last().bytes.footprint), (None, 4096));
    assert_eq!(word(memory), before);
}

fn is_own(program: &Program, memory: u64, footprint: u64) {
    let (function, before) = (increment("own"), word(memory));
    program.launch(function, "own", memory, Stream::NULL, 0);
    assert_eq!((program.declined(), program.last().bytes.footprint), (None, footprint));
    assert_eq!(word(memory), before + 1);
}

/// Exports allocations one way after another.
fn export(program: &Program, way: usize, pointer: u64, status: i32) {
    let result = std::ptr::null_mut();
    let flag = 1u32;
    let one = ExportPointerParams { result, pointer };
    let range = AddressRangeParams { result, pointer: pointer + 4096, bytes: 4096 };
    let bound = BindAddressParams { multicast: 5, offset: 0, pointer, bytes: 8192 };
    let attribute = PointerAttributeParams { value: &raw const flag, attribute: 6, pointer };
    match way {
        0 => program.call(cbid::IPC_GET, "", &one, || status),
        1 => program.call(cbid::MEM_POOL_EXPORT_POINTER, "", &one, || status),
        2 => program.call(cbid::ADDRESS_RANGE_HANDLE, "", &range, || status),
        3 => program.call(cbid::MULTICAST_BIND_ADDRESS, "", &bound, || status),
        _ => program.call(cbid::POINTER_SET_ATTRIBUTE, "", &attribute, || status),
    };
}

#[test]
fn what_is_exported_is_put_back_no_more() {
    for way in 0..5 {
        let program = Program::new(3);
        let (memory, own) = (program.allocate(8192), program.allocate(4096));
        is_own(&program, memory, 12_288);
        export(&program, way, memory, 1);
        is_own(&program, memory, 12_288);
        export(&program, way, memory, 0);
        is_foreign(&program, memory, own);
        export(&program, way, memory, 0);
        is_foreign(&program, memory, own);
        program.free(memory, 0);
        let again = program.allocate(8192);
        is_own(&program, again, 12_288);
    }
}

#[test]
fn what_was_exported_before_anything_was_launched_is_known_too() {
    let program = Program::new(3);
    let (memory, own) = (program.allocate(8192), program.allocate(4096));
    export(&program, 0, memory, 0);
    is_foreign(&program, memory, own);
}

#[test]
fn an_attribute_that_says_nothing_of_others_changes_nothing() {
    let program = Program::new(3);
    let memory = program.allocate(4096);
    for (value, attribute) in [(0u32, 6), (1, 5)] {
        let p = PointerAttributeParams { value: &raw const value, attribute, pointer: memory };
        program.call(cbid::POINTER_SET_ATTRIBUTE, "", &p, || 0);
        is_own(&program, memory, 4096);
    }
}

#[test]
fn an_export_ends_the_window_that_would_put_the_memory_back() {
    let program = Program::with(3, true);
    let (memory, own) = (program.allocate(8192), program.allocate(4096));
    let (function, before) = (increment("batched"), word(own));
    program.launch(function, "batched", memory, Stream::NULL, 0);
    program.launch(function, "batched", own, Stream::NULL, 0);
    assert!(locked(&program.log.windows).is_empty());
    export(&program, 0, memory, 0);
    {
        let windows = locked(&program.log.windows);
        let [window] = windows.as_slice() else { panic!("{windows:?}") };
        assert_eq!((window.dispatches, window.closing), (2, ClosingReason::Unrecordable));
    }
    // What another process writes now is nobody's to undo.
    program.launch(function, "batched", own, Stream::NULL, 0);
    // SAFETY: live memory of the fake.
    unsafe { *(memory as *mut u32) = 99 };
    program.launch(function, "batched", own, Stream::NULL, 0);
    program.interceptor.finish();
    assert_eq!((word(memory), word(own)), (99, before.wrapping_add(3)));
    assert_eq!(locked(&program.log.windows)[1].bytes.footprint, 4096);
}

/// The driver gives the same address again, and counts.
#[test]
fn what_is_opened_twice_is_there_until_it_is_closed_twice() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let memory = {
        let _depth = crate::agent::Depth::enter();
        program.interceptor.driver.allocate(8192).expect("memory")
    };
    let open = || program.call(cbid::IPC_OPEN_V2, "", &(&raw const memory), || 0);
    let close = |status| program.call(cbid::IPC_CLOSE, "", &FreeParams { pointer: memory }, || status);
    open();
    open();
    close(0);
    is_foreign(&program, memory, own);
    close(1);
    is_foreign(&program, memory, own);
    close(0);
    assert!(!locked(&program.interceptor.live).is_in(memory));
    open();
    is_foreign(&program, memory, own);
    close(0);
    assert!(!locked(&program.interceptor.live).is_in(memory));
    assert!(locked(&program.log.warnings).iter().all(|(key, _)| *key != "region_displaced"));
}

/// Memory that is mapped through the virtual-memory interface.
struct Mapped {
    backing: Vec<u64>,
}

impl Mapped {
    fn new() -> Self {
        Self { backing: vec![0; 1024] }
    }

    fn base(&self) -> u64 {
        self.backing.as_ptr() as u64
    }

    fn map(&self, program: &Program, handle: u64) {
        let map = MemMapParams { pointer: self.base(), bytes: 8192, offset: 0, handle, flags: 0 };
        program.call(cbid::MEM_MAP, "", &map, || 0);
    }

    fn access(&self, program: &Program, access: &[AccessDescription]) {
        let set =
            MemSetAccessParams { pointer: self.base(), bytes: 8192, access: access.as_ptr(), count: access.len() };
        program.call(cbid::MEM_SET_ACCESS, "", &set, || 0);
    }

    fn unmap(&self, program: &Program) {
        program.call(cbid::MEM_UNMAP, "", &MemUnmapParams { pointer: self.base(), bytes: 8192 }, || 0);
    }
}

const DEVICE: AccessDescription = AccessDescription { kind: 1, device: 0, flags: 3 };
const HOST: AccessDescription = AccessDescription { kind: 2, device: 0, flags: 3 };

fn make(program: &Program, id: u32, handle: u64) {
    program.call(id, "", &MakeHandleParams { handle: &raw const handle }, || 0);
}

#[test]
fn physical_memory_is_exported_with_all_its_mappings() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let exported = |handle| {
        let p = ExportHandleParams { result: std::ptr::null_mut(), handle };
        program.call(cbid::MEM_EXPORT, "", &p, || 0);
    };
    let bound = |handle| {
        let p = BindMemoryParams { multicast: 1, offset: 0, handle };
        program.call(cbid::MULTICAST_BIND_MEM, "", &p, || 0);
    };
    for (handle, give) in [(40, &exported as &dyn Fn(u64)), (41, &bound)] {
        let (first, second) = (Mapped::new(), Mapped::new());
        make(&program, cbid::MEM_CREATE, handle);
        first.map(&program, handle);
        first.access(&program, &[DEVICE]);
        is_own(&program, first.base(), 4096 + 8192);
        give(handle);
        is_foreign(&program, first.base(), own);
        // Later mappings are the same memory.
        second.map(&program, handle);
        second.access(&program, &[DEVICE]);
        is_foreign(&program, second.base(), own);
        first.unmap(&program);
        second.unmap(&program);
        // The number stands for new memory.
        make(&program, cbid::MEM_CREATE, handle);
        first.map(&program, handle);
        first.access(&program, &[DEVICE]);
        is_own(&program, first.base(), 4096 + 8192);
        first.unmap(&program);
    }
}

#[test]
fn a_mapping_is_known_by_every_handle_of_it() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let mapped = Mapped::new();
    make(&program, cbid::MEM_CREATE, 50);
    mapped.map(&program, 50);
    mapped.access(&program, &[DEVICE]);
    let other = 51u64;
    let retain = RetainHandleParams { handle: &raw const other, pointer: mapped.base() + 100 };
    program.call(cbid::MEM_RETAIN, "", &retain, || 0);
    is_own(&program, mapped.base(), 4096 + 8192);
    let p = ExportHandleParams { result: std::ptr::null_mut(), handle: 51 };
    program.call(cbid::MEM_EXPORT, "", &p, || 0);
    is_foreign(&program, mapped.base(), own);
    mapped.unmap(&program);
}

#[test]
fn imported_and_multicast_memory_is_others_from_the_start() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let reading = AccessDescription { flags: 1, ..DEVICE };
    for (id, handle) in [(cbid::MEM_IMPORT, 60), (cbid::MULTICAST_CREATE, 61)] {
        for access in [DEVICE, reading] {
            let mapped = Mapped::new();
            make(&program, id, handle);
            mapped.map(&program, handle);
            mapped.access(&program, &[access]);
            is_foreign(&program, mapped.base(), own);
            mapped.unmap(&program);
        }
    }
}

#[test]
fn mappings_that_the_host_may_use_are_the_hosts() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let function = increment("hosts");
    let declines = |mapped: &Mapped| {
        program.launch(function, "hosts", mapped.base(), Stream::NULL, 0);
        assert_eq!(program.declined(), Some(Decline::UntrackedMemory));
        program.launch(function, "hosts", own, Stream::NULL, 0);
        assert_eq!((program.declined(), program.last().bytes.footprint), (None, 4096));
    };
    // In one call, in two, and the host first.
    for calls in [&[&[DEVICE, HOST][..]][..], &[&[DEVICE], &[HOST]], &[&[HOST], &[DEVICE]]] {
        let mapped = Mapped::new();
        make(&program, cbid::MEM_CREATE, 70);
        mapped.map(&program, 70);
        calls.iter().for_each(|access| mapped.access(&program, access));
        declines(&mapped);
        // The host's access is taken back.
        mapped.access(&program, &[AccessDescription { flags: 0, ..HOST }]);
        is_own(&program, mapped.base(), 4096 + 8192);
        mapped.unmap(&program);
    }
}

#[test]
fn pages_of_the_process_are_found_where_kernels_can_use_them() {
    let unused = Program::new(3);
    let pages = Box::new([7u64; 512]);
    let address = pages.as_ptr() as u64;
    let looking = |name: &str, parameters: &[(usize, usize)]| {
        Function(add_kernel(name, parameters, Arc::new(|_, _| {})) as *mut c_void)
    };
    let function = looking("looking", &[(0, 8)]);
    unused.launch(function, "looking", address, Stream::NULL, 0);
    assert_eq!(unused.declined(), None, "the device cannot");
    fake::set_host_pages(true);
    let program = Program::new(3);
    let memory = program.allocate(4096);
    let outcome = |function, argument| {
        program.launch(function, "looking", argument, Stream::NULL, 0);
        program.declined()
    };
    assert_eq!(outcome(function, address), Some(Decline::UntrackedMemory));
    for argument in [memory, memory + 4095, 0, 4096, 4 << 20, 1 << 50] {
        assert_eq!(outcome(function, argument), None, "{argument:#x}");
    }
    // Gaps of structures hold anything.
    let structure = looking("structure", &[(0, 16)]);
    let mut words = [address, address];
    let mut arguments = [words.as_mut_ptr().cast::<c_void>()];
    let p = one_block(structure, Stream::NULL, &mut arguments);
    program.call(cbid::LAUNCH_KERNEL, "structure", &p, || 0);
    assert_eq!(program.declined(), None);
    fake::set_host_pages(false);
}

#[test]
fn kernels_beside_a_managed_variable_decline() {
    let program = Program::new(3);
    let shared = Box::leak(Box::new([1u32; 4]));
    fake::add_managed_variable("shared_with_the_host", shared.as_ptr() as u64, 16);
    let mut elf = Elf::default();
    let text = elf.section(".text.sharing", 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    elf.symbol("shared_with_the_host", 1, global, 0, 16);
    elf.symbol("sharing", 2, text, 0, 16);
    program.load(&elf.build());
    program.launch(increment("sharing"), "sharing", program.allocate(4096), Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::ManagedMemory));
    // Of another module, which gets its address.
    program.launch(increment("elsewhere"), "elsewhere", shared.as_ptr() as u64, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::ManagedMemory));
    program.launch(increment("elsewhere"), "elsewhere", program.allocate(4096), Stream::NULL, 0);
    assert_eq!(program.declined(), None);
}
