//! The engine's conformance suite on this agent: the real ROCr over the software GPU.
//!
//! The suite runs in a process of its own, a second run of this test program: other tests here stand in for ROCr, and
//! cannot share a process with it.

mod handler;

use super::kernels::{self, Kernel as Loaded};
use super::pools::pools_of;
use super::program::Backoff;
use super::queue_work::QueueWork;
use super::ring::Ring;
use super::waits::Waits;
use super::work::{Again, HsaWork};
use super::{Gpu, HsaAgent};
use crate::abi::{
    AGENT_INFO_COMPUTE_UNITS, AGENT_INFO_DEVICE, AgentHandle, DEVICE_GPU, Dispatch, Executable, Status, TYPE_DISPATCH,
    ordered,
};
use crate::tables::Api;
use kreplay_engine::conformance::{Kernel, Rig};
use kreplay_engine::{Agent, AgentId, Range};
use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

const CODE: &[u8] = include_bytes!("../../kernels/conformance-gfx90a.co");
/// Set in the process that runs the suite.
const OWN_PROCESS: &str = "KREPLAY_TEST_HSA_CONFORMANCE";
static NEXT: AtomicU64 = AtomicU64::new(1000);

/// The runtime, once for the process.
struct Runtime {
    api: Api,
    gpu: Gpu,
    executable: Executable,
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn open(name: &std::ffi::CStr) -> Result<*mut c_void, String> {
    // SAFETY: a C string; the library's initialisers are what is wanted.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !library.is_null() {
        return Ok(library);
    }
    // SAFETY: after a failed dlopen there is a message.
    Err(unsafe { std::ffi::CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned())
}

/// Where `cargo build` puts the software thunk.
fn thunk() -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let built = test.parent().and_then(|folder| folder.parent()).map(|folder| folder.join("libhsakmt.so"));
    built
        .filter(|path| path.exists())
        .ok_or_else(|| "the software GPU's thunk is not built; run `cargo build -p softgpu-thunk` first".into())
}

fn start() -> Result<Runtime, String> {
    let thunk = CString::new(thunk()?.display().to_string()).map_err(|error| error.to_string())?;
    // Its name inside is libhsakmt.so.1, so the runtime finds it loaded and looks no further.
    open(&thunk)?;
    let library = open(c"libhsa-runtime64.so.1")
        .map_err(|error| format!("{error}; on Debian 12: apt-get install libhsa-runtime64-1"))?;
    let function = |name: &str| {
        let name = CString::new(name).ok()?;
        // SAFETY: a loaded library and a C string.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!found.is_null()).then(|| found.cast::<()>())
    };
    let init = function("hsa_init").ok_or("there is no hsa_init")?;
    // SAFETY: hsa_init has this signature.
    let status = unsafe { std::mem::transmute::<*mut (), unsafe extern "C" fn() -> Status>(init)() };
    if !status.is_ok() {
        return Err(format!("hsa_init failed: {status}"));
    }
    // Intercept queues are for tools, which find them in the table; the suite makes none.
    let for_tools = |name: &str| name.starts_with("hsa_amd_queue_intercept").then_some(init);
    // SAFETY: the runtime exports its functions under their names, but for those that are never called here.
    let api = unsafe { Api::find(|name, _| function(name).or_else(|| for_tools(name))) };
    let api = api.map_err(|error| error.to_string())?;
    let gpu = find_gpu(&api)?;
    let executable = kernels::load(&api, gpu.handle, CODE).map_err(|error| error.to_string())?;
    Ok(Runtime { api, gpu, executable })
}

fn find_gpu(api: &Api) -> Result<Gpu, String> {
    let mut agents: Vec<AgentHandle> = Vec::new();
    unsafe extern "C" fn visit(agent: AgentHandle, data: *mut c_void) -> Status {
        // SAFETY: `data` is the vector above.
        unsafe { (*data.cast::<Vec<AgentHandle>>()).push(agent) };
        Status::SUCCESS
    }
    // SAFETY: the visitor's signature is right and `agents` outlives the call.
    unsafe { (api.iterate_agents)(visit, (&raw mut agents).cast()) };
    let number = |agent: AgentHandle, attribute| {
        let mut value = 0_u32;
        // SAFETY: attributes of 32 bits.
        unsafe { (api.agent_get_info)(agent, attribute, (&raw mut value).cast()) };
        value
    };
    let is_gpu = |agent: &AgentHandle| number(*agent, AGENT_INFO_DEVICE) == DEVICE_GPU;
    let handle = *agents.iter().find(|agent| is_gpu(agent)).ok_or("the runtime shows no GPU")?;
    let hosts = agents.iter().filter(|agent| !is_gpu(agent)).flat_map(|agent| pools_of(api, *agent, false));
    let host = hosts.into_iter().find(|pool| pool.is_fine() && !pool.is_kernarg()).ok_or("there is no host pool")?;
    let device = pools_of(api, handle, true).into_iter().find(|pool| !pool.is_fine()).ok_or("no device pool")?;
    Ok(Gpu {
        handle,
        chip: "gfx90a".into(),
        product: "the software GPU".into(),
        simulated: true,
        units: number(handle, AGENT_INFO_COMPUTE_UNITS),
        device,
        host,
        patience: Duration::from_secs(60),
    })
}

fn runtime() -> Result<&'static Runtime, String> {
    // SAFETY: handles and functions of the runtime, which any thread may use.
    struct Shared(Result<Runtime, String>);
    // SAFETY: handles and functions of the runtime, which any thread may use.
    unsafe impl Send for Shared {}
    // SAFETY: as above.
    unsafe impl Sync for Shared {}
    static RUNTIME: OnceLock<Shared> = OnceLock::new();
    RUNTIME.get_or_init(|| Shared(start())).0.as_ref().map_err(Clone::clone)
}

/// An agent of its own on the software GPU, and a queue of the program.
struct SoftRig {
    runtime: &'static Runtime,
    agent: Arc<HsaAgent>,
    queue: Mutex<Ring>,
    pending: Arc<QueueWork>,
    launched: Mutex<Vec<HsaWork>>,
}

impl SoftRig {
    fn wait(&self) {
        let (mut backoff, deadline) = (Backoff::default(), soon());
        while !self.pending.is_idle() {
            backoff.until(deadline, "the program's launches").expect("the program's launches end");
        }
    }

    /// The packet and the argument bytes of a kernel.
    fn prepare(&self, kernel: &Kernel) -> (Dispatch, Vec<u8>) {
        let (name, words, longs, shorts) = match *kernel {
            Kernel::Fill { to, value } => (c"conform_fill.kd", to.bytes / 4, vec![to.base, to.bytes / 4], vec![value]),
            Kernel::Add { at, value } => (c"conform_add.kd", at.bytes / 4, vec![at.base, at.bytes / 4], vec![value]),
            Kernel::Accumulate { from, to } => {
                (c"conform_accumulate.kd", from.bytes / 4, vec![from.base, from.bytes / 4, to], vec![])
            }
            Kernel::Copy { to, from } => {
                (c"conform_copy.kd", from.bytes / 4, vec![to, from.base, from.bytes / 4], vec![])
            }
            Kernel::Append { counter, to, stride } => {
                (c"conform_append.kd", 1, vec![counter, to.base, to.bytes / 4], vec![stride])
            }
            Kernel::Escape { counter, pass, at, to } => {
                (c"conform_escape.kd", at.bytes / 4, vec![counter, at.base, at.bytes / 4, to], vec![pass])
            }
        };
        let Loaded { object, group_bytes, private_bytes } =
            kernels::symbol(&self.runtime.api, self.runtime.executable, self.runtime.gpu.handle, name)
                .expect("the code object has the kernel");
        let mut bytes: Vec<u8> = longs.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend(shorts.into_iter().flat_map(u32::to_le_bytes));
        let dispatch = Dispatch {
            header: ordered(TYPE_DISPATCH),
            setup: 1,
            workgroup: [256, 1, 1],
            grid: [words.max(1).next_multiple_of(256) as u32, 1, 1],
            private_bytes,
            group_bytes,
            kernel_object: object,
            kernarg: 0,
            reserved: 0,
            completion: Default::default(),
        };
        (dispatch, bytes)
    }
}

impl Rig for SoftRig {
    type Agent = HsaAgent;

    const NO_SKIP: &'static str = OWN_PROCESS;

    fn make() -> Result<Self, String> {
        if std::env::var_os(OWN_PROCESS).is_none() {
            return Err("it runs in a process of its own, which `on_the_software_gpu` starts".into());
        }
        let runtime = runtime()?;
        let id = AgentId(NEXT.fetch_add(1, Ordering::Relaxed));
        let waits = Arc::new(Waits::new(runtime.api));
        let agent = Arc::new(HsaAgent::new(runtime.api, id, runtime.gpu.clone(), waits));
        let queue = Ring::new(runtime.api, runtime.gpu.handle).map_err(|error| error.to_string())?;
        let pending = Arc::new(QueueWork::new(runtime.api).map_err(|error| error.to_string())?);
        // Any number that is no other queue's.
        agent.program().add_queue(id.0 as *mut _, Arc::clone(&pending));
        Ok(Self { runtime, agent, queue: Mutex::new(queue), pending, launched: Mutex::default() })
    }

    fn agent(&self) -> Arc<HsaAgent> {
        Arc::clone(&self.agent)
    }

    fn allocate(&self, bytes: u64) -> u64 {
        let mut address: *mut c_void = std::ptr::null_mut();
        let Runtime { api, gpu, .. } = self.runtime;
        // SAFETY: a live pool, and a place for the address.
        let status = unsafe { (api.pool_allocate)(gpu.device.pool, bytes as usize, 0, &raw mut address) };
        assert!(status.is_ok(), "{status}");
        address as u64
    }

    fn free(&self, base: u64) {
        self.wait();
        // SAFETY: the program's own allocation, idle.
        let status = unsafe { (self.runtime.api.pool_free)(base as *mut c_void) };
        assert!(status.is_ok(), "{status}");
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        self.wait();
        // SAFETY: the program's own memory, idle.
        let status =
            unsafe { (self.runtime.api.memory_copy)(address as *mut c_void, bytes.as_ptr().cast(), bytes.len()) };
        assert!(status.is_ok(), "{status}");
    }

    fn read(&self, range: Range) -> Vec<u8> {
        self.wait();
        let mut bytes = vec![0xa5; range.bytes as usize];
        // SAFETY: the program's own memory, idle.
        let status = unsafe {
            (self.runtime.api.memory_copy)(bytes.as_mut_ptr().cast(), range.base as *const c_void, bytes.len())
        };
        assert!(status.is_ok(), "{status}");
        bytes
    }

    fn work(&self, kernel: &Kernel) -> HsaWork {
        let (dispatch, bytes) = self.prepare(kernel);
        HsaWork::record(&self.agent, &dispatch, &bytes, &[]).expect("the dispatch can be recorded")
    }

    fn launch(&self, kernel: &Kernel) {
        let work = self.work(kernel);
        let Again::Packet(mut packet) = work.again() else { unreachable!("the suite records dispatches") };
        self.pending.submits(true);
        packet.set_completion(self.pending.pending);
        self.queue.lock().expect("no panic under the lock").push(&[packet], soon()).expect("submitted");
        // The arguments are read until the launch is over.
        self.launched.lock().expect("no panic under the lock").push(work);
    }
}

impl Drop for SoftRig {
    fn drop(&mut self) {
        self.wait();
        self.agent.settle(soon()).expect("the agent's work ends");
    }
}

mod suite {
    kreplay_engine::conformance_suite!(super::SoftRig);

    /// The runtime's thread may be in a handler of the program's then, which waits for what the agent holds.
    #[test]
    fn a_queue_is_ended_while_the_runtimes_own_thread_is_busy() {
        let Ok(rig) = <super::SoftRig as super::Rig>::make() else { return };
        super::handler::ends_a_queue_beside_it(&rig);
    }
}

#[test]
fn on_the_software_gpu() {
    let skipped = |why: &str| {
        assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "must not be skipped here: {why}");
        println!("skipped: {why}");
    };
    if let Err(why) = thunk() {
        return skipped(&why);
    }
    if !std::path::Path::new("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1").exists() {
        return skipped("ROCr is missing; on Debian 12: apt-get install libhsa-runtime64-1");
    }
    let suite = concat!(module_path!(), "::suite::").split_once("::").expect("a module").1;
    let test = std::env::current_exe().expect("this program has a path");
    let run = std::process::Command::new(test).arg(suite).env(OWN_PROCESS, "1").output().expect("it starts again");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{}\n{text}{}", run.status, String::from_utf8_lossy(&run.stderr));
    let passed = text.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count();
    assert!(passed >= 24, "only {passed} tests of the suite ran:\n{text}");
}
