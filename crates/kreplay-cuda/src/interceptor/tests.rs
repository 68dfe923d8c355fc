//! The interceptor against the fake driver: callbacks are made as CUPTI would make them, and the program's own launch runs
//! between *enter* and *exit*.

use super::*;
use crate::fake::{self, add_kernel, fake_driver};
use crate::tables::callback::{CallbackData, ModuleData, ResourceData, cbid, domain, resource};
use crate::tables::driver_structs::*;
use crate::tables::{Function, Stream};
use crate::test_elf::Elf;
use kreplay_engine::{
    AgentRecord, DispatchId, DispatchRecord, Filter, KernelInfo, Outcome, Policy, Reading, Recorder, Settings,
    WindowMode, WindowRecord,
};
use std::ffi::{CString, c_void};
use std::sync::atomic::AtomicU32;

const ENTER: u32 = 0;
const EXIT: u32 = 1;

#[derive(Default)]
struct Log {
    dispatches: Mutex<Vec<DispatchRecord>>,
    not_selected: AtomicU64,
    warnings: Mutex<Vec<(&'static str, String)>>,
}

impl Recorder for Log {
    fn agent(&self, _agent: AgentRecord) {}
    fn dispatch(&self, record: DispatchRecord) {
        locked(&self.dispatches).push(record);
    }
    fn window(&self, _record: WindowRecord) {}
    fn readings(&self, _dispatch: DispatchId, _readings: Vec<Reading>) {}
    fn not_selected(&self, _agent: kreplay_engine::AgentId) {
        self.not_selected.fetch_add(1, Ordering::Relaxed);
    }
    fn warn(&self, key: &'static str, message: String) {
        locked(&self.warnings).push((key, message));
    }
}

struct ByName(&'static str);

impl Filter for ByName {
    fn select(&self, kernel: &KernelInfo) -> bool {
        !kernel.name.contains(self.0)
    }
}

struct AsPlanned;
impl Policy for AsPlanned {}

/// A program under the interceptor.
struct Program {
    interceptor: Interceptor,
    log: Arc<Log>,
    context: Context,
    calls: AtomicU32,
}

impl Program {
    fn new(passes: u32) -> Self {
        Self::with(passes, false)
    }

    fn with(passes: u32, batches: bool) -> Self {
        static CONTEXTS: AtomicU64 = AtomicU64::new(0);
        // Contexts differ from test to test; the fake has one, whatever it is called.
        let context = Context((fake::CONTEXT + CONTEXTS.fetch_add(0x1000, Ordering::Relaxed)) as *mut c_void);
        let log = Arc::new(Log::default());
        let window = if batches { WindowMode::Auto } else { WindowMode::Kernel };
        let settings = Settings { uncounted_passes: passes, device_reserve: 0, window, ..Settings::default() };
        let recorder = Arc::clone(&log) as Arc<dyn Recorder>;
        let process = Process::new(settings, Arc::new(ByName("boring")), Arc::new(AsPlanned), recorder);
        let sink = Arc::clone(&log);
        let interceptor = Interceptor::new(
            fake_driver(),
            process,
            Arc::new(AtomicBool::new(true)),
            Box::new(move |key, message| sink.warn(key, message)),
            Box::new(|_| None),
            Box::new(|_| "GH100".into()),
            batches,
        );
        let program = Self { interceptor, log, context, calls: AtomicU32::new(1) };
        program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
        program
    }

    fn resource(&self, id: u32, stream: Stream, description: *const c_void) {
        let data = ResourceData { context: self.context, stream, description };
        // SAFETY: the data of this domain.
        unsafe { self.interceptor.callback(domain::RESOURCE, id, (&raw const data).cast()) };
    }

    /// A call of the driver: enter, what it does, exit.
    fn call<P>(&self, id: u32, symbol: &str, parameters: &P, body: impl FnOnce() -> i32) -> i32 {
        let symbol = CString::new(symbol).expect("no NUL");
        let (mut correlation, mut returned) = (0u64, 0i32);
        let mut data = CallbackData {
            site: ENTER,
            function_name: std::ptr::null(),
            parameters: std::ptr::from_ref(parameters).cast(),
            returned: &raw const returned,
            symbol: symbol.as_ptr(),
            context: self.context,
            context_uid: 1,
            correlation_data: &raw mut correlation,
            correlation_id: self.calls.fetch_add(1, Ordering::Relaxed),
        };
        // SAFETY: the data of this domain.
        unsafe { self.interceptor.callback(domain::DRIVER, id, (&raw const data).cast()) };
        returned = body();
        data.site = EXIT;
        data.returned = &raw const returned;
        // SAFETY: as above.
        unsafe { self.interceptor.callback(domain::DRIVER, id, (&raw const data).cast()) };
        returned
    }

    fn allocate(&self, bytes: usize) -> u64 {
        let mut pointer = 0u64;
        let parameters = MemAllocParams { pointer: &raw const pointer, bytes };
        self.call(cbid::MEM_ALLOC, "", &parameters, || {
            let _depth = crate::agent::Depth::enter();
            pointer = self.interceptor.driver.allocate(bytes).expect("memory");
            0
        });
        pointer
    }

    fn free(&self, pointer: u64, status: i32) {
        self.call(cbid::MEM_FREE, "", &FreeParams { pointer }, || status);
    }

    /// Launches a kernel of one pointer; the program's own launch runs in between.
    fn launch(&self, function: Function, name: &str, mut argument: u64, stream: Stream, status: i32) {
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        let parameters = LaunchKernelParams {
            function,
            grid: [1, 1, 1],
            block: [32, 1, 1],
            shared: 0,
            stream,
            arguments: arguments.as_mut_ptr(),
            extra: std::ptr::null_mut(),
        };
        self.call(cbid::LAUNCH_KERNEL, name, &parameters, || {
            if status == 0 {
                let config = LaunchConfig {
                    grid: [1, 1, 1],
                    block: [32, 1, 1],
                    shared: 0,
                    stream,
                    attributes: std::ptr::null(),
                    attribute_count: 0,
                };
                let mut pointers = [(&raw mut argument).cast::<c_void>()];
                self.interceptor
                    .driver
                    .launch(&config, function, pointers.as_mut_ptr(), std::ptr::null_mut())
                    .expect("the fake launches");
            }
            status
        });
    }

    fn last(&self) -> DispatchRecord {
        locked(&self.log.dispatches).last().cloned().expect("a record")
    }

    fn declined(&self) -> Option<kreplay_engine::Decline> {
        match self.last().outcome {
            Outcome::Declined { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.interceptor.finish();
    }
}

/// A kernel that adds one to the first word that its argument points to.
fn increment(name: &str) -> Function {
    let kernel = add_kernel(
        name,
        &[(0, 8)],
        Arc::new(|_, arguments| {
            // SAFETY: the tests pass live memory.
            unsafe {
                let word = *arguments[0].cast::<*mut u32>();
                *word = (*word).wrapping_add(1);
            }
        }),
    );
    Function(kernel as *mut c_void)
}

fn word(address: u64) -> u32 {
    // SAFETY: live memory of the fake.
    unsafe { *(address as *const u32) }
}

#[test]
fn an_in_place_kernel_runs_in_every_pass_and_counts_once() {
    let program = Program::new(4);
    let data = program.allocate(64 << 10);
    let function = increment("in_place");
    let before = word(data);
    for round in 1..=5 {
        program.launch(function, "in_place", data, Stream::NULL, 0);
        assert_eq!(word(data), before.wrapping_add(round), "one run, whatever the passes");
        let record = program.last();
        assert_eq!((record.outcome, record.passes_done), (Outcome::Replayed, 4));
        assert_eq!((record.bytes.write_set, record.bytes.footprint), (4096, 64 << 10));
        assert_eq!(record.stream, Stream::LEGACY.raw());
        assert!(record.divergence.is_none());
    }
    assert_eq!(fake::launches("in_place"), 20);
    assert_eq!(locked(&program.log.dispatches).len(), 5, "one record a dispatch");
}

#[test]
fn extended_cooperative_and_packed_launches_are_replayed_too() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("forms");
    let before = word(data);
    let own = |argument: u64| {
        let mut argument = argument;
        let mut pointers = [(&raw mut argument).cast::<c_void>()];
        let config = LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            stream: Stream::NULL,
            attributes: std::ptr::null(),
            attribute_count: 0,
        };
        let launched =
            program.interceptor.driver.launch(&config, function, pointers.as_mut_ptr(), std::ptr::null_mut());
        launched.map_or(1, |()| 0)
    };
    let mut argument = data;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    let attributes = [
        LaunchAttribute { id: attribute::PROGRAMMATIC_SERIALIZATION, padding: 0, value: [1; 8] },
        LaunchAttribute { id: 4, padding: 0, value: [2, 1, 1, 0, 0, 0, 0, 0] },
    ];
    let config = LaunchConfig {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        stream: Stream::NULL,
        attributes: attributes.as_ptr(),
        attribute_count: 2,
    };
    let extended = LaunchKernelExParams {
        config: &raw const config,
        function,
        arguments: arguments.as_mut_ptr(),
        extra: std::ptr::null_mut(),
    };
    program.call(cbid::LAUNCH_KERNEL_EX_PTSZ, "forms", &extended, || own(data));
    assert_eq!((program.last().outcome, program.last().stream), (Outcome::Replayed, Stream::PER_THREAD.raw()));
    assert_eq!(program.last().geometry.items, [64, 1, 1]);
    let cooperative = LaunchCooperativeParams {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        stream: Stream::NULL,
        arguments: arguments.as_mut_ptr(),
    };
    program.call(cbid::LAUNCH_COOPERATIVE, "forms", &cooperative, || own(data));
    assert_eq!(program.last().outcome, Outcome::Replayed);
    let mut packed = data.to_ne_bytes();
    let mut bytes = packed.len();
    let mut extra: [*mut c_void; 5] = [
        std::ptr::without_provenance_mut(1),
        packed.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(2),
        (&raw mut bytes).cast(),
        std::ptr::null_mut(),
    ];
    let plain = LaunchKernelParams {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        stream: Stream::NULL,
        arguments: std::ptr::null_mut(),
        extra: extra.as_mut_ptr(),
    };
    program.call(cbid::LAUNCH_KERNEL, "forms", &plain, || own(data));
    assert_eq!((program.last().outcome, program.last().argument_bytes), (Outcome::Replayed, Some(8)));
    assert_eq!(word(data), before.wrapping_add(3));
    assert_eq!(fake::launches("forms"), 9);
}

#[test]
fn what_is_not_selected_or_not_alive_is_left_alone() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("boring");
    program.launch(function, "boring", data, Stream::NULL, 0);
    assert_eq!(program.log.not_selected.load(Ordering::Relaxed), 1);
    assert_eq!(fake::launches("boring"), 1);
    program.interceptor.alive.store(false, Ordering::Relaxed);
    let other = increment("after_the_end");
    program.launch(other, "after_the_end", data, Stream::NULL, 0);
    assert_eq!(fake::launches("after_the_end"), 1);
    assert!(locked(&program.log.dispatches).is_empty());
}

#[test]
fn our_own_calls_are_not_looked_at() {
    let program = Program::new(2);
    let data = program.allocate(4096);
    let _depth = crate::agent::Depth::enter();
    program.launch(increment("nested"), "nested", data, Stream::NULL, 0);
    assert_eq!(fake::launches("nested"), 1);
    assert!(locked(&program.log.dispatches).is_empty());
}

#[test]
fn graphs_captures_and_several_devices_decline() {
    use kreplay_engine::Decline;
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("declining");
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), None);
    let graph = GraphLaunchParams { graph: 0x77 as *mut c_void, stream: Stream::NULL };
    program.call(cbid::GRAPH_LAUNCH, "", &graph, || 0);
    assert_eq!(program.declined(), Some(Decline::GraphLaunch));
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    let launched = fake::launches("declining");
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::StreamCapture));
    assert_eq!(fake::launches("declining"), launched + 1, "nothing but the program's own");
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 901);
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), None, "an invalidated capture has ended");
    // A capture that could not begin is none.
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 1);
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), None);
    program.call(cbid::LAUNCH_COOPERATIVE_MULTI, "many", &0u64, || 0);
    assert_eq!(program.declined(), Some(Decline::CooperativeMultiDevice));
    program.launch(increment("ncclDevKernel_AllReduce"), "ncclDevKernel_AllReduce", data, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::Collective));
}

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
fn module_variables_are_put_back_too() {
    let program = Program::new(5);
    let counter = Box::leak(Box::new([40u32; 4]));
    let address = counter.as_ptr() as u64;
    fake::add_variable("launch_counter", address, 16);
    let mut elf = Elf::default();
    let text = elf.section(".text.counting", 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    elf.symbol("launch_counter", 1, global, 0, 16);
    elf.symbol("counting", 2, text, 0, 16);
    let image = elf.build();
    let module = ModuleData { id: 7, bytes: image.len(), image: image.as_ptr() };
    program.resource(resource::MODULE_LOADED, Stream::NULL, (&raw const module).cast());
    let kernel = add_kernel(
        "counting",
        &[(0, 8)],
        Arc::new(move |_, _| {
            // SAFETY: leaked above.
            unsafe { *(address as *mut u32) += 1 };
        }),
    );
    program.launch(Function(kernel as *mut c_void), "counting", 0, Stream::NULL, 0);
    assert_eq!(program.last().outcome, Outcome::Replayed);
    assert_eq!(word(address), 41, "five passes count once");
    assert_eq!(program.last().bytes.write_set, 16);
}

#[test]
fn printing_kernels_and_hidden_variables_decline() {
    use kreplay_engine::Decline;
    let program = Program::new(3);
    let mut elf = Elf::default();
    let text = elf.section(".text.printing", 1, vec![0; 16]);
    let printing = elf.symbol("printing", 2, text, 0, 16);
    let print = elf.symbol("vprintf", 2, 0, 0, 0);
    let pair = [printing.to_le_bytes(), print.to_le_bytes()].concat();
    elf.section(".nv.callgraph", 0x7000_0001, pair);
    let mut hiding = Elf::default();
    let text = hiding.section(".text.hiding", 1, vec![0; 16]);
    let global = hiding.section(".nv.global", 8, vec![]);
    hiding.symbol("nobody_finds_this", 1, global, 0, 16);
    hiding.symbol("hiding", 2, text, 0, 16);
    for image in [elf.build(), hiding.build()] {
        let module = ModuleData { id: 7, bytes: image.len(), image: image.as_ptr() };
        program.resource(resource::MODULE_LOADED, Stream::NULL, (&raw const module).cast());
    }
    for name in ["printing", "hiding"] {
        let kernel = add_kernel(name, &[(0, 8)], Arc::new(|_, _| {}));
        program.launch(Function(kernel as *mut c_void), name, 0, Stream::NULL, 0);
        assert_eq!(program.declined(), Some(Decline::UntrackedMemory), "{name}");
        assert_eq!(fake::launches(name), 1);
    }
}

#[test]
fn a_launch_that_fails_leaves_memory_and_is_recorded() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("failing");
    let before = word(data);
    program.launch(function, "failing", data, Stream::NULL, 701);
    assert_eq!(word(data), before, "nothing ran");
    assert_eq!(program.declined(), Some(kreplay_engine::Decline::PassFailed));
    program.launch(function, "failing", data, Stream::NULL, 0);
    assert_eq!((program.declined(), word(data)), (None, before.wrapping_add(1)));
}

#[test]
fn threads_launch_side_by_side() {
    let program = Program::new(3);
    let function = increment("threads");
    let data: Vec<u64> = (0..4).map(|_| program.allocate(4096)).collect();
    let before: Vec<u32> = data.iter().map(|data| word(*data)).collect();
    std::thread::scope(|scope| {
        for data in &data {
            let program = &program;
            scope.spawn(move || {
                for _ in 0..25 {
                    program.launch(function, "threads", *data, Stream::PER_THREAD, 0);
                }
            });
        }
    });
    for (data, before) in data.iter().zip(before) {
        assert_eq!(word(*data), before.wrapping_add(25));
    }
    let records = locked(&program.log.dispatches);
    assert_eq!(records.len(), 100);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
}

#[test]
fn a_context_that_goes_takes_its_engine_along() {
    let program = Program::new(2);
    let data = program.allocate(4096);
    program.launch(increment("going"), "going", data, Stream::NULL, 0);
    program.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    assert!(program.interceptor.all_contexts().is_empty());
    let held = fake::is_allocated(data);
    assert!(held, "the program's memory is not ours to free");
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
fn many_launches_and_operations_share_a_window() {
    let program = Program::with(3, true);
    let data = program.allocate(8192);
    let (first, second) = (increment("batched"), increment("batched_too"));
    let before = word(data);
    for _ in 0..10 {
        program.launch(first, "batched", data, Stream::NULL, 0);
        program.launch(second, "batched_too", data + 4096, Stream::NULL, 0);
    }
    assert_eq!(fake::launches("batched"), 10, "pass 0 is the program's own run");
    // A fill, an upload and a copy within the device are recorded; then more launches.
    let driver = &program.interceptor.driver;
    let fill = SetParams { to: data + 8, value: 7, count: 1 };
    program.call(251, "", &fill, || {
        let _depth = crate::agent::Depth::enter();
        driver.set_words(data + 8, 7, 1, Stream::NULL).map_or(1, |()| 0)
    });
    let mut source = 41u32;
    let upload = CopyParams { to: data + 4096, from: &raw const source as u64, bytes: 4 };
    program.call(276, "", &upload, || {
        let _depth = crate::agent::Depth::enter();
        driver.copy(data + 4096, &raw const source as u64, 4, Stream::NULL).map_or(1, |()| 0)
    });
    source = 0;
    let copy = CopyParams { to: data + 12, from: data + 8, bytes: 4 };
    program.call(280, "", &copy, || {
        let _depth = crate::agent::Depth::enter();
        driver.copy(data + 12, data + 8, 4, Stream::NULL).map_or(1, |()| 0)
    });
    program.launch(second, "batched_too", data + 4096, Stream::NULL, 0);
    program.launch(second, "batched_too", data + 12, Stream::NULL, 0);
    assert!(locked(&program.log.dispatches).is_empty(), "the window is open");
    // Peer copies cannot be recorded.
    program.call(
        318,
        "",
        &CopyPeerParams { to: 0, to_context: program.context, from: 0, from_context: program.context, bytes: 0 },
        || 0,
    );
    let records = locked(&program.log.dispatches).clone();
    assert_eq!(records.len(), 22);
    for record in &records {
        assert_eq!((&record.outcome, record.passes_done), (&Outcome::Replayed, 3));
        assert!(record.divergence.is_none());
    }
    assert_eq!(fake::launches("batched"), 30);
    assert_eq!(word(data), before.wrapping_add(10));
    assert_eq!((word(data + 8), word(data + 12), word(data + 4096), source), (7, 8, 42, 0));
    // A free closes a window; so does a capture.
    program.launch(first, "batched", data, Stream::NULL, 0);
    let other = program.allocate(4096);
    program.free(other, 0);
    assert_eq!(locked(&program.log.dispatches).len(), 23);
    program.launch(first, "batched", data, Stream::NULL, 0);
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    assert_eq!(locked(&program.log.dispatches).len(), 24);
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    assert_eq!(word(data), before.wrapping_add(12));
}
