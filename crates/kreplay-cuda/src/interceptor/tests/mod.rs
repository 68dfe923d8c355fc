//! The interceptor against the fake driver: callbacks are made as CUPTI would make them, and the program's own launch runs
//! between *enter* and *exit*.

mod ahead;
mod batches;
mod captures;
mod code;
mod collectives;
mod cost;
mod foreign;
mod forks;
mod gone;
mod graphics;
mod graphs;
mod launches;
mod loading;
mod memory;
mod neighbours;
mod newer;
mod one_pass;
mod operations;
mod overdue;
mod per_thread;
mod pools;
mod several_devices;
mod unselected;
mod window_calls;

use super::*;
use crate::fake::{self, add_kernel, fake_driver};
use crate::tables::callback::{CallbackData, ModuleData, ResourceData, cbid, domain, resource};
use crate::tables::driver_structs::*;
use crate::tables::foreign_structs::*;
use crate::tables::{Function, Stream};
use crate::test_elf::Elf;
use kreplay_engine::{
    AgentRecord, ByPlan, DispatchId, DispatchRecord, Filter, KernelInfo, Outcome, Reading, Recorder, Request, Settings,
    WindowMode, WindowRecord,
};
use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::AtomicU32;

thread_local! {
    /// Whether this thread is as if it opened or closed a library.
    static CLOSING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// In place of the session's.
pub(super) fn loader_is_free() -> bool {
    !CLOSING.get()
}

const ENTER: u32 = 0;
const EXIT: u32 = 1;

#[derive(Default)]
struct Log {
    dispatches: Mutex<Vec<DispatchRecord>>,
    windows: Mutex<Vec<WindowRecord>>,
    not_selected: AtomicU64,
    warnings: Mutex<Vec<(&'static str, String)>>,
}

impl Recorder for Log {
    fn agent(&self, _agent: AgentRecord) {}
    fn dispatch(&self, record: DispatchRecord) {
        locked(&self.dispatches).push(record);
    }
    fn window(&self, record: WindowRecord) {
        locked(&self.windows).push(record);
    }
    fn readings(&self, _dispatch: DispatchId, _readings: Vec<Reading>) {}
    fn lost(&self, _dispatches: &[DispatchId], _why: String) {}
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

/// The parameters of a launch of one block of a warp. The arguments must outlive the call.
fn one_block(function: Function, stream: Stream, arguments: &mut [*mut c_void]) -> LaunchKernelParams {
    LaunchKernelParams {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        stream,
        arguments: arguments.as_mut_ptr(),
        extra: std::ptr::null_mut(),
    }
}

/// A program under the interceptor.
struct Program {
    interceptor: Interceptor,
    log: Arc<Log>,
    context: Context,
    calls: AtomicU32,
    /// What CUPTI says that the next calls are named.
    named: Option<&'static CStr>,
}

impl Program {
    fn new(passes: u32) -> Self {
        Self::with(passes, false)
    }

    fn with(passes: u32, batches: bool) -> Self {
        Self::counted(passes, batches, Request::default(), Box::new(|_| None))
    }

    fn counted(passes: u32, batches: bool, request: Request, make_counters: Box<MakeCounters>) -> Self {
        Self::made(Self::settings(passes, batches, request), Arc::new(ByName("boring")), make_counters)
    }

    fn settings(passes: u32, batches: bool, request: Request) -> Settings {
        let window = if batches { WindowMode::Auto } else { WindowMode::Kernel };
        Settings { request, uncounted_passes: passes, device_reserve: 0, window, ..Settings::default() }
    }

    fn made(settings: Settings, filter: Arc<dyn Filter>, make_counters: Box<MakeCounters>) -> Self {
        Self::on(fake_driver(), Self::fresh_context(), settings, filter, make_counters)
    }

    /// Contexts differ from test to test; the fake has one, whatever it is called.
    fn fresh_context() -> Context {
        static CONTEXTS: AtomicU64 = AtomicU64::new(0);
        Context((fake::CONTEXT + CONTEXTS.fetch_add(0x1000, Ordering::Relaxed)) as *mut c_void)
    }

    fn on(
        driver: Arc<Driver>,
        context: Context,
        settings: Settings,
        filter: Arc<dyn Filter>,
        make_counters: Box<MakeCounters>,
    ) -> Self {
        let log = Arc::new(Log::default());
        let batches = settings.window != WindowMode::Kernel;
        let recorder = Arc::clone(&log) as Arc<dyn Recorder>;
        let process = Process::new(settings, filter, Arc::new(ByPlan), recorder);
        let sink = Arc::clone(&log);
        let interceptor = Interceptor::new(
            driver,
            process,
            Arc::new(AtomicBool::new(true)),
            Box::new(move |key, message| sink.warn(key, message)),
            make_counters,
            Box::new(|_| "GH100".into()),
            batches,
        );
        let program = Self { interceptor, log, context, calls: AtomicU32::new(1), named: None };
        program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
        program
    }

    fn resource(&self, id: u32, stream: Stream, description: *const c_void) {
        let data = ResourceData { context: self.context, stream, description };
        // SAFETY: the data of this domain.
        unsafe { self.interceptor.callback(domain::RESOURCE, id, (&raw const data).cast()) };
    }

    /// Machine code is loaded.
    fn load(&self, image: &[u8]) {
        let module = ModuleData { id: 7, bytes: image.len(), image: image.as_ptr() };
        self.resource(resource::MODULE_LOADED, Stream::NULL, (&raw const module).cast());
    }

    /// A call of the driver: enter, what it does, exit.
    fn call<P>(&self, id: u32, symbol: &str, parameters: &P, body: impl FnOnce() -> i32) -> i32 {
        self.named_call(id, &CString::new(symbol).expect("no NUL"), parameters, body)
    }

    /// A call of the driver that does nothing.
    fn quiet_call<P>(&self, id: u32, symbol: &CStr, parameters: &P) {
        self.named_call(id, symbol, parameters, || 0);
    }

    fn named_call<P>(&self, id: u32, symbol: &CStr, parameters: &P, body: impl FnOnce() -> i32) -> i32 {
        let (mut correlation, mut returned) = (0u64, 0i32);
        let mut data = CallbackData {
            site: ENTER,
            function_name: self.named.map_or(std::ptr::null(), CStr::as_ptr),
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
        let parameters = one_block(function, stream, &mut arguments);
        self.call(cbid::LAUNCH_KERNEL, name, &parameters, || {
            if status == 0 {
                self.launch_own(function, 32, argument, stream);
            }
            status
        });
    }

    /// The program's own launch, which nobody sees, of so many items.
    fn launch_own(&self, function: Function, items: u32, mut argument: u64, stream: Stream) {
        let mut pointers = [(&raw mut argument).cast::<c_void>()];
        let config = LaunchConfig {
            grid: [1; 3],
            block: [items, 1, 1],
            shared: 0,
            stream,
            attributes: std::ptr::null(),
            attribute_count: 0,
        };
        let launched = self.interceptor.driver.launch(&config, function, pointers.as_mut_ptr(), std::ptr::null_mut());
        launched.expect("the fake launches");
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
