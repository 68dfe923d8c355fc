//! A driver made of functions of ours, for tests without a GPU: memory is the process's own, work is done when it is
//! asked for, and launches run Rust closures. The agent's own kernels have twins here.

mod boxes;
mod cupti;
mod driver;
mod graphs;
mod kernels;
mod pools;

pub(crate) use cupti::{cupti_function, fake_cupti, no_callback};
pub(crate) use driver::find as driver_function;
pub(crate) use graphs::{Node, add_graph, add_node, kernel_params};
pub(crate) use kernels::hash;
pub(crate) use pools::{
    add_pool, pool_allocate, pool_destroy, pool_free, pool_grow, pool_refuses, pool_shrink, pool_threshold, pool_trim,
    set_pool_place, set_pool_threshold,
};

use crate::tables::{Driver, DriverTable, Stream};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A kernel: its grid, and a pointer to each argument.
pub(crate) type Kernel = Arc<dyn Fn([u32; 3], &[*mut c_void]) + Send + Sync>;

/// Name, parameters, what it does.
pub(super) type Known = (String, Vec<(usize, usize)>, Kernel);

#[derive(Default)]
pub(super) struct World {
    /// By handle: name, parameters (offset, bytes), what it does.
    pub(super) functions: HashMap<u64, Known>,
    /// Live allocations: base and layout.
    pub(super) allocations: HashMap<u64, std::alloc::Layout>,
    pub(super) next_handle: u64,
    /// Launches so far, by name.
    pub(super) launches: Vec<String>,
    /// Streams that say they are busy.
    pub(super) busy: Vec<u64>,
    /// Kernels that do not end on any stream but this one of the program's.
    pub(super) hanging: HashMap<String, u64>,
    /// Events that wait for a busy stream.
    pub(super) behind: HashMap<u64, u64>,
    /// Whether there is work that no stream shows: that of another thread's default stream.
    pub(super) busy_unseen: bool,
    /// What waiting for the context returns.
    pub(super) broken: i32,
    /// By event: the stream that it was last recorded on.
    pub(super) recorded: HashMap<u64, u64>,
    /// Streams that are captured.
    pub(super) captured: Vec<u64>,
    /// Graphs by handle: their nodes; and nodes by handle.
    pub(super) graphs: HashMap<u64, Vec<u64>>,
    pub(super) nodes: HashMap<u64, (Node, Vec<u64>)>,
    /// Memory pools by handle.
    pub(super) pools: HashMap<u64, pools::Pool>,
    /// Variables of modules: name, address, bytes.
    pub(super) variables: HashMap<String, (u64, u64)>,
    /// Those in managed memory, by address.
    pub(super) managed: HashSet<u64>,
}

fn world() -> MutexGuard<'static, World> {
    static WORLD: OnceLock<Mutex<World>> = OnceLock::new();
    WORLD.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The context of the fake device.
pub(crate) const CONTEXT: u64 = 0xC0;

/// The fake driver.
pub(crate) fn fake_driver() -> Arc<Driver> {
    let table = DriverTable::load(&|name: &CStr| driver::find(name)).expect("the fake has every required function");
    Arc::new(Driver::with_table(table))
}

/// Adds a kernel with parameters of these sizes; gives its handle.
pub(crate) fn add_kernel(name: &str, parameters: &[(usize, usize)], kernel: Kernel) -> u64 {
    let mut world = world();
    world.next_handle += 0x10;
    let handle = 0xF000_0000 + world.next_handle;
    world.functions.insert(handle, (name.to_owned(), parameters.to_vec(), kernel));
    handle
}

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static HOST_PAGES: Cell<bool> = const { Cell::new(false) };
    /// Nanoseconds that have passed, and when this thread recorded each event.
    static TIME: Cell<u64> = const { Cell::new(0) };
    static RECORDED: RefCell<HashMap<u64, u64>> = RefCell::default();
    static BY_NAME: RefCell<BTreeMap<&'static str, u64>> = const { RefCell::new(BTreeMap::new()) };
    static SCRIPTED: RefCell<HashMap<&'static str, Vec<i32>>> = RefCell::default();
    /// Every thread begins with the fake's.
    static CONTEXTS: RefCell<Vec<u64>> = RefCell::new(vec![CONTEXT]);
}

/// Does something with this thread's contexts.
fn contexts<T>(work: impl FnOnce(&mut Vec<u64>) -> T) -> T {
    CONTEXTS.with_borrow_mut(work)
}

/// This thread's next calls of `function` return these statuses instead of doing anything.
pub(crate) fn script(function: &'static str, statuses: &[i32]) {
    SCRIPTED.with(|scripted| scripted.borrow_mut().entry(function).or_default().extend(statuses));
}

/// Calls of the driver by this thread so far.
pub(crate) fn calls() -> u64 {
    CALLS.with(Cell::get)
}

/// Calls of the driver by this thread since this was last asked, by function.
pub(crate) fn take_calls() -> BTreeMap<&'static str, u64> {
    BY_NAME.take()
}

/// A status that a test asked for.
pub(super) fn scripted(function: &'static str) -> Option<i32> {
    CALLS.with(|calls| calls.set(calls.get() + 1));
    BY_NAME.with(|by_name| *by_name.borrow_mut().entry(function).or_default() += 1);
    SCRIPTED.with(|scripted| {
        let mut scripted = scripted.borrow_mut();
        let statuses = scripted.get_mut(function)?;
        if statuses.is_empty() { None } else { Some(statuses.remove(0)) }
    })
}

/// How often a kernel of this name was launched.
pub(crate) fn launches(name: &str) -> usize {
    world().launches.iter().filter(|launched| *launched == name).count()
}

/// Marks a stream busy or idle.
pub(crate) fn set_busy(stream: u64, busy: bool) {
    let mut world = world();
    world.busy.retain(|known| *known != stream);
    if busy {
        world.busy.push(stream);
    } else {
        // What comes later is not what they wait for.
        world.behind.retain(|_, behind| *behind != stream);
    }
}

/// From now on a launch of this kernel makes a stream busy, any but this one of the program's: as a kernel does that never
/// ends when it is replayed. `None`: it ends again, and the streams that it kept are idle.
pub(crate) fn set_hanging(name: &str, program: Option<u64>) {
    let mut world = world();
    match program {
        Some(stream) => drop(world.hanging.insert(name.to_owned(), stream)),
        None => {
            world.hanging.remove(name);
            world.busy.clear();
        }
    }
}

/// Another thread's default stream is busy, or idle again.
pub(crate) fn set_busy_unseen(busy: bool) {
    world().busy_unseen = busy;
}

/// Waiting for the context returns this status from now on.
pub(crate) fn break_context(status: i32) {
    world().broken = status;
}

/// Time passes for this thread's events, and for the clock of samples with it: a millionth more.
pub(crate) fn pass_time(nanoseconds: u64) {
    TIME.set(TIME.get() + nanoseconds);
}

/// What the clock of samples says.
pub(super) fn samples_time() -> u64 {
    1_000_000_000 + TIME.get() + TIME.get() / 1_000_000
}

pub(super) fn note_event(event: u64) {
    RECORDED.with_borrow_mut(|recorded| recorded.insert(event, TIME.get()));
}

/// Milliseconds between two events, no finer than the driver tells them; a quarter where no time has passed at all.
pub(super) fn milliseconds(start: u64, end: u64) -> f32 {
    let at = |event| RECORDED.with_borrow(|recorded| recorded.get(&event).copied().unwrap_or(0));
    if TIME.get() == 0 { 0.25 } else { ((at(end) as f64 - at(start) as f64) / 1e6) as f32 }
}

/// Events that were last recorded on a stream.
pub(crate) fn events_on(stream: Stream) -> usize {
    world().recorded.values().filter(|recorded| **recorded == stream.raw()).count()
}

/// A capture of a stream begins or ends.
pub(crate) fn set_captured(stream: u64, captured: bool) {
    let mut world = world();
    world.captured.retain(|known| *known != stream);
    if captured {
        world.captured.push(stream);
    }
}

/// Adds a variable of a module.
pub(crate) fn add_variable(name: &str, address: u64, bytes: u64) {
    world().variables.insert(name.to_owned(), (address, bytes));
}

/// Adds a variable of a module that is in managed memory.
pub(crate) fn add_managed_variable(name: &str, address: u64, bytes: u64) {
    add_variable(name, address, bytes);
    world().managed.insert(address);
}

/// Whether kernels can use their process's pages, for agents that this thread makes from now on.
pub(crate) fn set_host_pages(used: bool) {
    HOST_PAGES.set(used);
}

pub(super) fn host_pages() -> i32 {
    i32::from(HOST_PAGES.get())
}

/// Whether an address is a live allocation's base.
pub(crate) fn is_allocated(base: u64) -> bool {
    world().allocations.contains_key(&base)
}
