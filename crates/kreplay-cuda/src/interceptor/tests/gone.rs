//! What a batch window recorded may use, and what goes or changes while it is open.

use super::*;
use kreplay_engine::{ClosingReason, Decline};

/// A window that is open, with one launch over 4 KiB.
struct Open {
    program: Program,
    data: u64,
    function: Function,
    name: &'static str,
    before: u32,
}

impl Open {
    fn new(name: &'static str) -> Self {
        let program = Program::with(3, true);
        let data = program.allocate(4096);
        let open = Self { before: word(data), data, function: increment(name), name, program };
        open.launch();
        assert!(locked(&open.program.log.windows).is_empty(), "the window is open");
        open
    }

    fn launch(&self) {
        self.program.launch(self.function, self.name, self.data, Stream::NULL, 0);
    }

    fn reasons(&self) -> Vec<ClosingReason> {
        locked(&self.program.log.windows).iter().map(|window| window.closing).collect()
    }

    /// A call after which the window's launches could not be made again: they were, before it.
    fn ended_by<P>(&self, id: u32, parameters: &P, reason: ClosingReason) {
        let (seen, windows) = (fake::launches(self.name), self.reasons().len());
        self.program.call(id, "", parameters, || {
            assert!(fake::launches(self.name) >= seen + 2, "{id}: replayed before the call");
            0
        });
        assert_eq!(self.reasons()[windows..], [reason], "{id}");
    }

    /// A call that takes nothing away.
    fn outlives<P>(&self, id: u32, parameters: &P) {
        let windows = self.reasons().len();
        self.program.call(id, "", parameters, || 0);
        assert_eq!(self.reasons().len(), windows, "{id}");
    }

    /// Everything was replayed, nothing differed, and memory is what `launches` of the program's own left.
    fn ends_well(self, launches: u32) {
        self.program.interceptor.close_windows(ClosingReason::Unrecordable);
        let records = locked(&self.program.log.dispatches).clone();
        let well = |record: &DispatchRecord| record.outcome == Outcome::Replayed && record.divergence.is_none();
        assert!(records.len() == launches as usize && records.iter().all(well), "{records:?}");
        assert_eq!(word(self.data), self.before.wrapping_add(launches));
    }
}

fn other_context(program: &Program, number: u64) -> Context {
    let other = Context((fake::CONTEXT + 0xF20_0000 + number) as *mut c_void);
    let data = ResourceData { context: other, stream: Stream::NULL, description: std::ptr::null() };
    // SAFETY: the data of this domain.
    unsafe { program.interceptor.callback(domain::RESOURCE, resource::CONTEXT_CREATED, (&raw const data).cast()) };
    other
}

#[test]
fn what_launches_use_by_handles_or_by_the_contexts_state_ends_windows_before_it_goes() {
    use ClosingReason::{Exit, Freed, Unrecordable};
    let calls = [
        // Surfaces, graphics resources, external memory, multicast, memory of graphs.
        (cbid::SURFACE_DESTROY, Freed),
        (128, Freed),
        (134, Freed),
        (181, Freed),
        (488, Freed),
        (640, Freed),
        (710, Freed),
        // Flags of textures, access of peers and to pools.
        (102, Unrecordable),
        (314, Unrecordable),
        (cbid::MEM_POOL_SET_ACCESS, Unrecordable),
        // A context or a green one goes, or is reset.
        (322, Exit),
        (544, Exit),
        (545, Exit),
        (cbid::GREEN_CONTEXT_DESTROY, Exit),
    ];
    let open = Open::new("uses_handles");
    // As long as the longest of theirs.
    let nothing = UnmapResourcesParams { count: 0, resources: std::ptr::null(), stream: Stream::NULL };
    for (at, (id, reason)) in calls.into_iter().enumerate() {
        if at > 0 {
            open.launch();
        }
        open.ended_by(id, &nothing, reason);
    }
    open.ends_well(calls.len() as u32);
}

#[test]
fn memory_that_nobody_told_of_ends_the_window_before_it_goes() {
    let open = Open::new("reaches_unseen");
    open.outlives(cbid::MEM_FREE, &FreeParams { pointer: 0 });
    open.ended_by(cbid::MEM_FREE, &FreeParams { pointer: 0x7777_0000 }, ClosingReason::Freed);
    open.launch();
    open.ended_by(cbid::MEM_FREE_ASYNC, &FreeParams { pointer: 0x7777_0000 }, ClosingReason::Freed);
    // Pinned memory may be reached by a pointer in memory; what came after the last launch may not.
    let pin = HostRegisterParams { pointer: 0x5555_0000, bytes: 4096, flags: 0 };
    open.program.call(cbid::MEM_HOST_REGISTER_V2, "", &pin, || 0);
    open.launch();
    open.ended_by(cbid::MEM_HOST_UNREGISTER, &FreeParams { pointer: 0x5555_0000 }, ClosingReason::Freed);
    open.launch();
    open.program.call(cbid::MEM_HOST_REGISTER_V2, "", &pin, || 0);
    open.outlives(cbid::MEM_HOST_UNREGISTER, &FreeParams { pointer: 0x5555_0000 });
    open.ends_well(4);
}

#[test]
fn code_is_unloaded_whichever_context_is_current() {
    let mut open = Open::new("unloaded_from_elsewhere");
    let own = open.program.context;
    let module = open.program.interceptor.driver.function_module(open.function).expect("the fake tells");
    open.program.context = other_context(&open.program, 0x10);
    open.ended_by(cbid::MODULE_UNLOAD, &UnloadParams { handle: module.0 }, ClosingReason::Unloaded);
    open.program.context = own;
    open.ends_well(1);
}

/// The loader is held then, so nothing may be waited for that needs it.
#[test]
fn code_of_a_library_that_is_closed_takes_its_window_along() {
    let open = Open::new("of_a_library");
    let module = open.program.interceptor.driver.function_module(open.function).expect("the fake tells");
    CLOSING.set(true);
    open.program.call(cbid::MODULE_UNLOAD, "", &UnloadParams { handle: module.0 }, || 0);
    CLOSING.set(false);
    assert_eq!(fake::launches(open.name), 1);
    assert_eq!(open.reasons(), [ClosingReason::Failed]);
    assert_eq!(open.program.declined(), Some(Decline::PassFailed));
}

/// So does what the library frees as it is closed.
#[test]
fn memory_of_a_library_that_is_closed_takes_its_window_along() {
    let open = Open::new("of_a_librarys_memory");
    let memory = open.program.allocate(4096);
    open.launch();
    CLOSING.set(true);
    open.program.free(memory, 0);
    CLOSING.set(false);
    assert_eq!(open.reasons(), [ClosingReason::Failed]);
    assert_eq!(open.program.declined(), Some(Decline::PassFailed));
}

#[test]
fn memory_that_no_window_uses_may_go_with_a_library() {
    let open = Open::new("of_a_librarys_other_memory");
    // Of the host, and from after the last launch.
    let mut pointer = 0u64;
    let parameters = MemAllocManagedParams { pointer: &raw const pointer, bytes: 8192, flags: 1 };
    open.program.call(cbid::MEM_HOST_ALLOC_V2, "", &parameters, || {
        let _depth = crate::agent::Depth::enter();
        pointer = open.program.interceptor.driver.allocate(8192).expect("memory");
        0
    });
    CLOSING.set(true);
    open.program.call(cbid::MEM_FREE_HOST, "", &FreeParams { pointer }, || 0);
    CLOSING.set(false);
    open.ends_well(1);
}

#[test]
fn attributes_that_a_launch_needs_end_windows_before_they_are_taken_away() {
    const SHARED: i32 = 8;
    const CARVEOUT: i32 = 9;
    const WIDTH: i32 = 11;
    const NON_PORTABLE: i32 = 14;
    let open = Open::new("wants_shared");
    let function = open.function.raw();
    let set = |attribute, value| FunctionAttributeParams { function, attribute, value };
    let kernel = |value, device| KernelAttributeParams { attribute: SHARED, value, kernel: function + 1, device };
    // More is no less, nor is the same again; a preference changes no result.
    for (attribute, value) in [(SHARED, 96 << 10), (SHARED, 96 << 10), (CARVEOUT, 50), (WIDTH, 0), (NON_PORTABLE, 0)] {
        open.outlives(cbid::FUNCTION_SET_ATTRIBUTE, &set(attribute, value));
    }
    open.outlives(cbid::KERNEL_SET_ATTRIBUTE, &kernel(64 << 10, 0));
    open.ended_by(cbid::FUNCTION_SET_ATTRIBUTE, &set(SHARED, 64 << 10), ClosingReason::Unrecordable);
    let ends = |attribute, value| {
        open.launch();
        open.ended_by(cbid::FUNCTION_SET_ATTRIBUTE, &set(attribute, value), ClosingReason::Unrecordable);
    };
    ends(WIDTH, 2);
    ends(NON_PORTABLE, 1);
    ends(NON_PORTABLE, 0);
    open.launch();
    open.ended_by(cbid::KERNEL_SET_ATTRIBUTE, &kernel(50 << 10, 0), ClosingReason::Unrecordable);
    // What was never launched, by either handle, loses nothing; what is a kernel's is its function's.
    open.launch();
    let other = increment("launched_never").raw();
    open.outlives(
        cbid::FUNCTION_SET_ATTRIBUTE,
        &FunctionAttributeParams { function: other, attribute: SHARED, value: 1 << 10 },
    );
    let kernel_of = |kernel| KernelAttributeParams { attribute: SHARED, value: 2 << 10, kernel, device: 0 };
    open.outlives(cbid::KERNEL_SET_ATTRIBUTE, &kernel_of(other + 1));
    // Of another device nothing was set.
    open.launch();
    open.outlives(cbid::KERNEL_SET_ATTRIBUTE, &kernel(50 << 10, 1));
    // One that fails sets nothing.
    open.program.call(cbid::KERNEL_SET_ATTRIBUTE, "", &kernel(99 << 10, 0), || 1);
    open.outlives(cbid::KERNEL_SET_ATTRIBUTE, &kernel(50 << 10, 0));
    open.ends_well(7);
}

#[test]
fn mappings_end_windows_before_their_access_changes() {
    const READ: u32 = 1;
    const WRITE: u32 = 3;
    let open = Open::new("mapped_soon");
    let backing: &'static mut [u64] = vec![0u64; 4096].leak();
    let base = backing.as_ptr() as u64;
    let bytes = 4096 * 8;
    let describe = |device, flags| [AccessDescription { kind: 1, device, flags }];
    let set =
        |access: &[AccessDescription]| MemSetAccessParams { pointer: base, bytes, access: access.as_ptr(), count: 1 };
    open.outlives(cbid::MEM_MAP, &MemMapParams { pointer: base, bytes, offset: 0, handle: 1, flags: 0 });
    // Nobody could use it before.
    open.outlives(cbid::MEM_SET_ACCESS, &set(&describe(0, WRITE)));
    // What a mapping holds when it comes is not put back within the window that it comes in.
    open.program.interceptor.close_windows(ClosingReason::Unrecordable);
    let launch = || open.program.launch(open.function, open.name, base, Stream::NULL, 0);
    launch();
    // A peer is let in: the region stays, and others may write it.
    open.ended_by(cbid::MEM_SET_ACCESS, &set(&describe(1, WRITE)), ClosingReason::Unrecordable);
    launch();
    // Only to be read from now on: it is not put back, since that would write it.
    open.ended_by(cbid::MEM_SET_ACCESS, &set(&describe(0, READ)), ClosingReason::Unrecordable);
    assert!(!locked(&open.program.interceptor.live).is_device(open.program.context, base));
    assert_eq!(backing[0], 2, "each launch counts once");
    open.launch();
    open.ended_by(cbid::MEM_UNMAP, &MemUnmapParams { pointer: base, bytes }, ClosingReason::Freed);
    assert!(locked(&open.program.log.warnings).is_empty());
    let records = locked(&open.program.log.dispatches).clone();
    assert!(
        records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()),
        "{records:?}"
    );
    assert_eq!(records.len(), 4);
}

/// Neither window could do such a copy again: the other's memory is not put back here, and may be freed.
#[test]
fn copies_between_contexts_end_the_windows_of_both() {
    const COPY: u32 = 306;
    const WITHIN: u32 = 281;
    const PEER: u32 = 319;
    let mut open = Open::new("beside_copies");
    let own = open.program.context;
    let other = other_context(&open.program, 0x20);
    open.program.context = other;
    let elsewhere = open.program.allocate(4096);
    open.program.context = own;
    let (data, mut launches) = (open.data, 1);
    let mut both_end = |open: &mut Open, id, copy: &CopyPeerParams| {
        open.program.context = other;
        open.program.launch(open.function, open.name, elsewhere, Stream::NULL, 0);
        open.program.context = own;
        let windows = open.reasons().len();
        open.program.call(id, "", copy, || 0);
        assert_eq!(open.reasons()[windows..], [ClosingReason::Foreign; 2], "{id}");
        open.launch();
        launches += 1;
    };
    // Other copies have three parameters, and a peer's has contexts between them.
    let copy = |to, from| CopyPeerParams {
        to,
        to_context: Context(from as *mut c_void),
        from: 4,
        from_context: own,
        bytes: 0,
    };
    both_end(&mut open, COPY, &copy(data + 64, elsewhere));
    both_end(&mut open, WITHIN, &copy(elsewhere + 64, data));
    let peer = CopyPeerParams { to: elsewhere, to_context: other, from: data, from_context: own, bytes: 4 };
    both_end(&mut open, PEER, &peer);
    // What stays in one context ends no window.
    open.outlives(WITHIN, &CopyParams { to: data + 8, from: data + 16, bytes: 0 });
    open.program.interceptor.close_windows(ClosingReason::Unrecordable);
    assert_eq!(word(data), open.before.wrapping_add(launches));
    let records = locked(&open.program.log.dispatches).clone();
    assert!(
        records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()),
        "{records:?}"
    );
}

/// The bytes that a copy will find, not those that were there when it was asked for.
#[test]
fn a_copy_from_what_is_still_being_written_is_recorded_when_that_is_done() {
    const UPLOAD: u32 = 277;
    let stream = Stream(0x5717_0000 as *mut c_void);
    let rectangle = |to: u64, from: u64| {
        // SAFETY: numbers and pointers, for which zeroes are values.
        let mut p: CopyRectangle = unsafe { std::mem::zeroed() };
        (p.from_kind, p.from_device, p.to_kind, p.to_host) = (2, from, 1, to);
        (p.width, p.height) = (4, 1);
        p
    };
    for way in 0..4 {
        let open = Open::new(["down", "function", "rectangle", "either"][way]);
        open.program.resource(resource::STREAM_CREATED, stream, std::ptr::null());
        let source: &'static mut [u32] = vec![1u32; 4].leak();
        let at = source.as_ptr() as u64;
        fake::set_busy(stream.raw(), true);
        let down = CopyParams { to: at, from: open.data, bytes: 4 };
        let pitched = rectangle(at, open.data);
        match way {
            0 => open.outlives(279, &down),
            1 => open.outlives(cbid::HOST_FUNCTION, &stream),
            2 => open.outlives(289, &(&raw const pitched)),
            _ => open.outlives(306, &down),
        }
        let device = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            // SAFETY: leaked above; read once the stream is idle.
            unsafe { (at as *mut u32).write_volatile(40) };
            fake::set_busy(stream.raw(), false);
        });
        let up = CopyParams { to: open.data, from: at, bytes: 4 };
        open.program.call(UPLOAD, "", &up, || {
            device.join().expect("the device");
            // SAFETY: live memory of the fake.
            unsafe { *(open.data as *mut u32) = 40 };
            0
        });
        open.launch();
        assert!(open.reasons().is_empty(), "the window is open");
        open.program.interceptor.close_windows(ClosingReason::Unrecordable);
        let records = locked(&open.program.log.dispatches).clone();
        assert!(records.iter().all(|record| record.divergence.is_none()), "{records:?}");
        assert_eq!((records.len(), word(open.data)), (2, 41));
    }
}

/// The driver refuses calls of ours then, and gives the program's capture up.
#[test]
fn nothing_is_given_back_while_something_is_captured_when_the_command_has_gone() {
    let open = Open::new("captured_beside");
    open.program.call(cbid::BEGIN_CAPTURE, "", &Stream::NULL, || 0);
    open.program.interceptor.alive.store(false, Ordering::Relaxed);
    fake::take_calls();
    open.program.call(cbid::MEM_FREE, "", &FreeParams { pointer: 0 }, || 0);
    assert!(fake::take_calls().is_empty());
    open.program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    open.program.call(cbid::MEM_FREE, "", &FreeParams { pointer: 0 }, || 0);
    assert!(fake::take_calls().contains_key("cuMemFree_v2"), "the shadow goes");
    open.ends_well(1);
}

/// Nothing is looked at once the command has gone, so what the program frees then would be gone in a replay.
#[test]
fn a_window_is_not_replayed_when_the_command_has_gone() {
    let open = Open::new("left_alone");
    open.program.interceptor.alive.store(false, Ordering::Relaxed);
    open.program.call(cbid::MEM_FREE, "", &FreeParams { pointer: open.data }, || {
        assert_eq!(open.reasons(), [ClosingReason::Failed], "it is over before the call");
        let _depth = crate::agent::Depth::enter();
        open.program.interceptor.driver.free(open.data).map_or(1, |()| 0)
    });
    open.program.interceptor.finish();
    assert_eq!(fake::launches(open.name), 1);
    assert_eq!(open.program.declined(), Some(Decline::PassFailed));
    // What is known of a context still ends with it.
    open.program.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    assert!(open.program.interceptor.all_contexts().is_empty());
}

#[test]
fn a_window_says_which_call_ended_it() {
    let mut open = Open::new("named");
    open.program.named = Some(c"cuCtxSetLimit");
    open.ended_by(136, &0u64, ClosingReason::Unrecordable);
    open.launch();
    open.program.interceptor.close_windows(ClosingReason::Exit);
    let calls: Vec<_> = locked(&open.program.log.windows).iter().map(|window| window.call).collect();
    assert_eq!(calls, [Some("cuCtxSetLimit"), None]);
}
