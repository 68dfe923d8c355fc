//! The counters over the software GPU's own library and counter bank, without a runtime in between.

use super::ffi::Table;
use super::*;
use kreplay_engine::{Counters, CountersError, Delivery, LostReadings, Plan, Reading, Request, Value};
use softgpu::contract::{BadAddress, ExecStats, Mapping, Memory};
use softgpu::pmc::{self, CounterBank, ib};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// A queue whose packets run at once, on a bank.
#[derive(Default)]
struct Queue {
    bank: CounterBank,
    /// Packets that were submitted.
    packets: AtomicUsize,
    live: Mutex<Vec<(u64, Box<[u64]>)>>,
    allocations: AtomicUsize,
    /// Packets are lost without an error.
    deaf: AtomicBool,
    /// Only the low halves of values are stored, as of counters that go round.
    narrow: AtomicBool,
    /// What is added to values then.
    ahead: Mutex<Option<u32>>,
    /// Packets are refused.
    broken: AtomicBool,
    /// Allocations left before one fails.
    left: Mutex<Option<usize>>,
}

/// This process' memory, whole.
struct Process;

// SAFETY: the queue keeps its buffers alive while packets run.
unsafe impl Memory for Process {
    fn host(&self, address: u64, _: u64, _: bool) -> Result<*mut u8, BadAddress> {
        Ok(address as *mut u8)
    }

    fn mapping(&self, _: u64) -> Result<Mapping, BadAddress> {
        Ok(Mapping { base: 0, end: u64::MAX, writable: true })
    }

    fn oracle(&self) -> bool {
        false
    }

    fn will_write(&self, _: u64, _: u64, _: u64) {}
}

impl Queue {
    fn allocate(&self, bytes: usize) -> Result<SharedBuffer, CountersError> {
        if let Some(left) = self.left.lock().expect("lock").as_mut() {
            if *left == 0 {
                return Err(CountersError::Failed { call: "allocate", status: "no memory".to_owned() });
            }
            *left -= 1;
        }
        let token = self.allocations.fetch_add(1, Ordering::Relaxed) as u64;
        let memory = vec![0xa5a5_a5a5_a5a5_a5a5_u64; bytes.div_ceil(8) + 32].into_boxed_slice();
        let address = (memory.as_ptr() as u64).next_multiple_of(256);
        self.live.lock().expect("lock").push((token, memory));
        Ok(SharedBuffer { address, bytes, token })
    }

    /// All memory.
    fn words(&self) -> Vec<u64> {
        let live = self.live.lock().expect("lock");
        live.iter().flat_map(|(_, memory)| memory.iter().copied()).collect()
    }

    /// Undoes what was stored into high halves since memory was `before`. The first value ever stored is the largest
    /// of 32 bits, so that what counts on goes round.
    fn narrow(&self, before: &[u64]) {
        let mut live = self.live.lock().expect("lock");
        let mut ahead = self.ahead.lock().expect("lock");
        let words = live.iter_mut().flat_map(|(_, memory)| memory.iter_mut());
        for (word, before) in words.zip(before).filter(|(word, before)| *word != *before) {
            let low = *word as u32;
            let low = low.wrapping_add(*ahead.get_or_insert(u32::MAX - low));
            *word = before & !u64::from(u32::MAX) | u64::from(low);
        }
    }
}

// SAFETY: buffers live until they are given back.
unsafe impl PacketQueue for Queue {
    fn submit_packets(&self, packets: &[[u32; 16]]) -> Result<(), CountersError> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(CountersError::Failed { call: "submit", status: "the queue is gone".to_owned() });
        }
        for packet in packets {
            self.packets.fetch_add(1, Ordering::Relaxed);
            assert_eq!(packet[0] & 0xffff, 1 << 8 | 2 << 9 | 2 << 11, "vendor packet with barrier and system fences");
            assert_eq!((packet[14], packet[15]), (0, 0), "no completion signal");
            let (address, words) = ib::indirect_buffer(packet).expect("an indirect buffer");
            // SAFETY: a list in a command buffer that is alive.
            let list = unsafe { std::slice::from_raw_parts(address as *const u32, words as usize) };
            if self.deaf.load(Ordering::Relaxed) {
                continue;
            }
            let before = self.words();
            self.bank.execute_ib(list, &Process).expect("executes");
            if self.narrow.load(Ordering::Relaxed) {
                self.narrow(&before);
            }
        }
        Ok(())
    }

    fn alloc_command(&self, bytes: usize) -> Result<SharedBuffer, CountersError> {
        self.allocate(bytes)
    }

    fn alloc_output(&self, bytes: usize) -> Result<SharedBuffer, CountersError> {
        self.allocate(bytes)
    }

    fn free(&self, buffer: SharedBuffer) {
        let mut live = self.live.lock().expect("lock");
        let before = live.len();
        live.retain(|(token, _)| *token != buffer.token);
        assert_eq!(live.len(), before - 1, "given back exactly once");
    }

    fn settle(&self) -> Result<(), CountersError> {
        Ok(())
    }
}

fn library() -> Library {
    use hsa_amd_aqlprofile64 as soft;
    // SAFETY: the same functions, declared with the client's own types of the same layout.
    let table = unsafe {
        use std::mem::transmute as cast;
        Table {
            version_major: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_version_major as *const ()),
            version_minor: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_version_minor as *const ()),
            error_string: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_error_string as *const ()),
            validate_event: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_validate_event as *const ()),
            start: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_start as *const ()),
            stop: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_stop as *const ()),
            read: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_read as *const ()),
            legacy_get_pm4: None,
            get_info: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_get_info as *const ()),
            iterate_data: cast::<*const (), Option<_>>(soft::hsa_ven_amd_aqlprofile_iterate_data as *const ()),
        }
    };
    Library::from_table(&table).expect("complete")
}

const DEVICE: Device = Device {
    dies: 1,
    shader_engines: softgpu::topology::SHADER_ENGINES,
    compute_units: softgpu::topology::COMPUTE_UNITS,
    simds_per_compute_unit: 4,
    wave_size: 64,
};

fn counters(queue: &Arc<Queue>) -> AqlCounters<Queue> {
    AqlCounters::new(Arc::clone(queue), library(), 1, "gfx90a:sramecc+:xnack-", true, DEVICE).expect("counters")
}

fn plan(counters: &impl Counters, names: &[&str], repeat: u32) -> Plan {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    counters.plan(&Request { names, repeat, dispatches: 1 }).expect("plans")
}

/// What dispatch number `index` does.
fn work(index: u32) -> ExecStats {
    let scale = u64::from(index) + 1;
    ExecStats {
        workgroups: scale,
        waves: 4 * scale,
        workitems: 250 * scale,
        insts: 91 * scale,
        insts_valu: 40 * scale,
        insts_salu: 13 * scale,
        insts_vmem_rd: 7 * scale,
        insts_vmem_wr: 3 * scale,
        valu_lanes: 40 * 60 * scale,
        read_lines: 100 * scale,
        write_lines: 50 * scale,
        atomic_lines: 5 * scale,
        cycles: 91 * scale,
        ..ExecStats::default()
    }
}

fn collect(counters: &impl Counters) -> Result<Vec<Reading>, CountersError> {
    delivery(counters).whole()
}

fn delivery(counters: &impl Counters) -> Delivery {
    let (sender, receiver) = channel();
    counters.collect(Box::new(move |delivery| sender.send(delivery).expect("receiver")));
    counters.flush();
    receiver.try_recv().expect("delivered before flush returns")
}

/// A whole window: every pass runs every dispatch, with the agent's own work in between.
fn window(
    counters: &AqlCounters<Queue>,
    queue: &Queue,
    plan: &Plan,
    dispatches: u32,
) -> Result<Vec<Reading>, CountersError> {
    counters.open(plan, dispatches)?;
    for pass in &plan.passes {
        queue.bank.accumulate(&work(1000)); // a restore
        counters.begin(pass)?;
        for index in 0..dispatches {
            queue.bank.accumulate(&work(77)); // a compare of the agent's own
            counters.before(index)?;
            queue.bank.accumulate(&work(index));
            counters.after(index)?;
        }
        counters.end()?;
        queue.bank.accumulate(&work(500)); // a hash
    }
    collect(counters)
}

fn value(readings: &[Reading], dispatch: u32, name: &str) -> Value {
    let mut found = readings.iter().filter(|reading| reading.dispatch == dispatch && &*reading.counter == name);
    let reading = found.next().unwrap_or_else(|| panic!("{name} of dispatch {dispatch}"));
    assert!(found.next().is_none(), "{name} of dispatch {dispatch} twice");
    reading.value
}

#[test]
fn every_counter_of_every_dispatch_is_exact_over_several_passes() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["all"], 1);
    assert!(plan.passes.len() >= 5);
    // Two windows: the second uses the buffers of the first again.
    for dispatches in [3, 40] {
        let readings = window(&counters, &queue, &plan, dispatches).expect("readings");
        for index in 0..dispatches {
            for event in pmc::EVENTS {
                let cells = match event.spread {
                    pmc::Spread::Shared => 1,
                    pmc::Spread::Each => u64::from(pmc::Block::find(event.block).expect("block").cells()),
                };
                let expected = Value::Count((event.of)(&work(index)) * cells);
                assert_eq!(value(&readings, index, event.name), expected, "{} of {index}", event.name);
            }
        }
        let places: Vec<(u32, u32)> = readings.iter().map(|reading| (reading.dispatch, reading.pass)).collect();
        assert!(places.is_sorted(), "in dispatch order");
    }
}

#[test]
fn metrics_are_computed_from_their_counters() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    // The first four push the two counters of L1AccessesPerInst apart, into two passes.
    let l1 = ["TCP_TOTAL_READ", "TCP_TOTAL_WRITE", "TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "L1AccessesPerInst"];
    let others = ["FETCH_SIZE", "WRITE_SIZE", "VALUInsts", "VALUUtilization", "LDSConflictsPerInst"];
    let plan = plan(&counters, &[l1, others].concat(), 1);
    assert_eq!(plan.passes.len(), 2);
    let readings = window(&counters, &queue, &plan, 2).expect("readings");
    assert_eq!(value(&readings, 1, "L1AccessesPerInst"), Value::Real(15.5));
    assert_eq!(value(&readings, 1, "FETCH_SIZE"), Value::Real(200.0 * 64.0 / 1024.0));
    assert_eq!(value(&readings, 1, "WRITE_SIZE"), Value::Real(110.0 * 64.0 / 1024.0));
    assert_eq!(value(&readings, 0, "VALUInsts"), Value::Real(10.0));
    assert_eq!(value(&readings, 0, "VALUUtilization"), Value::Real(93.75));
    // No LDS instruction: not defined, so not there.
    assert!(!readings.iter().any(|reading| &*reading.counter == "LDSConflictsPerInst"));
    assert!(readings.iter().all(|reading| reading.derived == matches!(reading.value, Value::Real(_))));
}

#[test]
fn a_repeat_gives_every_counter_once_a_pass() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["SQ_WAVES", "VALUInsts"], 3);
    let readings = window(&counters, &queue, &plan, 2).expect("readings");
    for dispatch in 0..2 {
        for pass in 0..3 {
            let at = |name: &str| {
                let mut found = readings
                    .iter()
                    .filter(|r| (r.dispatch, r.pass) == (dispatch, pass) && &*r.counter == name)
                    .map(|reading| reading.value);
                (found.next(), found.next())
            };
            assert_eq!(at("SQ_WAVES"), (Some(Value::Count(4 * u64::from(dispatch + 1))), None));
            assert_eq!(at("VALUInsts"), (Some(Value::Real(10.0)), None));
        }
    }
}

#[test]
fn a_pass_left_out_or_a_dispatch_cut_short_leaves_its_readings_out() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["compute"], 1);
    counters.open(&plan, 2).expect("opens");
    counters.begin(&plan.passes[1]).expect("begins");
    counters.before(0).expect("before");
    queue.bank.accumulate(&work(0));
    counters.after(0).expect("after");
    counters.before(1).expect("before");
    counters.end().expect("ends");
    let readings = collect(&counters).expect("readings");
    assert!(!readings.is_empty());
    assert!(readings.iter().all(|reading| (reading.dispatch, reading.pass) == (0, 1)));
}

#[test]
fn only_times_need_no_packets() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &[], 2);
    assert_eq!(window(&counters, &queue, &plan, 3).expect("readings"), []);
    assert_eq!(queue.packets.load(Ordering::Relaxed), 0);
}

#[test]
fn calls_out_of_order_are_errors() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    let pass = &plan.passes[0];
    assert!(counters.begin(pass).is_err(), "no window");
    assert!(counters.end().is_err());
    assert!(collect(&counters).is_err());
    counters.open(&plan, 1).expect("opens");
    assert!(counters.open(&plan, 1).is_err(), "open already");
    assert!(counters.before(0).is_err(), "no pass");
    counters.begin(pass).expect("begins");
    assert!(counters.begin(pass).is_err(), "a pass in a pass");
    assert!(counters.after(0).is_err(), "after without before");
    counters.before(0).expect("before");
    assert!(counters.after(1).is_err(), "of another dispatch");
    counters.after(0).expect("after");
    assert!(counters.after(0).is_err(), "twice");
    counters.abandon();
    assert!(counters.end().is_err());
    // All is well again afterwards.
    assert!(!window(&counters, &queue, &plan, 1).expect("readings").is_empty());
}

#[test]
fn what_the_device_does_not_store_is_never_a_value() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    assert!(window(&counters, &queue, &plan, 1).is_ok());
    queue.deaf.store(true, Ordering::Relaxed);
    let error = window(&counters, &queue, &plan, 1).expect_err("nothing was stored");
    assert!(matches!(error, CountersError::Discarded(_)), "{error}");
}

#[test]
fn counters_of_32_bits_go_round() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    let wide = window(&counters, &queue, &plan, 3).expect("readings");
    queue.narrow.store(true, Ordering::Relaxed);
    assert_eq!(window(&counters, &queue, &plan, 3).expect("readings"), wide);
    assert!(queue.ahead.lock().expect("lock").is_some(), "values were stored in 32 bits");
    // What is not stored stays told apart.
    queue.deaf.store(true, Ordering::Relaxed);
    let error = window(&counters, &queue, &plan, 1).expect_err("nothing was stored");
    assert!(matches!(error, CountersError::Discarded(_)), "{error}");
}

#[test]
fn what_is_lost_of_one_dispatch_costs_the_others_nothing() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    let whole = window(&counters, &queue, &plan, 3).expect("readings");
    counters.open(&plan, 3).expect("opens");
    for pass in &plan.passes {
        counters.begin(pass).expect("begins");
        for index in 0..3 {
            queue.deaf.store(index == 1, Ordering::Relaxed);
            counters.before(index).expect("before");
            queue.bank.accumulate(&work(index));
            counters.after(index).expect("after");
        }
        counters.end().expect("ends");
    }
    let found = delivery(&counters);
    let lost = |lost: &LostReadings| lost.dispatches == Some(1..2) && matches!(lost.why, CountersError::Discarded(_));
    assert!(!found.lost.is_empty() && found.lost.iter().all(lost), "{:?}", found.lost);
    let kept: Vec<Reading> = whole.into_iter().filter(|reading| reading.dispatch != 1).collect();
    assert_eq!(found.readings, kept);
}

#[test]
fn a_broken_queue_fails_and_later_windows_count_again() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    counters.open(&plan, 1).expect("opens");
    counters.begin(&plan.passes[0]).expect("begins");
    counters.before(0).expect("before");
    queue.broken.store(true, Ordering::Relaxed);
    assert!(counters.after(0).is_err());
    assert!(counters.end().is_err());
    counters.abandon();
    queue.broken.store(false, Ordering::Relaxed);
    assert!(!window(&counters, &queue, &plan, 2).expect("readings").is_empty());
}

#[test]
fn memory_is_used_again_and_given_back() {
    let queue = Arc::new(Queue::default());
    let live = || queue.live.lock().expect("lock").len();
    let counters = counters(&queue);
    let basic = plan(&counters, &["basic"], 1);
    window(&counters, &queue, &basic, 4).expect("readings");
    let allocated = queue.allocations.load(Ordering::Relaxed);
    for _ in 0..50 {
        window(&counters, &queue, &basic, 4).expect("readings");
    }
    assert_eq!(queue.allocations.load(Ordering::Relaxed), allocated, "nothing is allocated for a known plan");
    let before = live();
    window(&counters, &queue, &plan(&counters, &["lds"], 1), 1).expect("readings");
    assert_eq!(live(), before, "another plan's memory goes");
    drop(counters);
    assert_eq!(live(), 0);
}

#[test]
fn a_failed_allocation_fails_the_window_and_leaks_nothing() {
    for left in 0..6 {
        let queue = Arc::new(Queue::default());
        let counters = counters(&queue);
        let plan = plan(&counters, &["all"], 1);
        *queue.left.lock().expect("lock") = Some(left);
        assert!(counters.open(&plan, 1).is_err(), "{left}");
        *queue.left.lock().expect("lock") = None;
        assert!(!window(&counters, &queue, &plan, 1).expect("readings").is_empty());
        drop(counters);
        assert_eq!(queue.live.lock().expect("lock").len(), 0, "{left}");
    }
}

#[test]
fn an_unknown_chip_is_told_with_the_known_ones() {
    let queue = Arc::new(Queue::default());
    let error = AqlCounters::new(queue, library(), 1, "gfx803", false, DEVICE).err().expect("unknown");
    assert!(error.to_string().contains("gfx803") && error.to_string().contains("gfx90a"), "{error}");
}

#[test]
fn the_library_decides_what_a_real_agents_list_holds() {
    // The software GPU's library behind an agent that does not call itself simulated: the list is what the library
    // offers.
    let queue = Arc::new(Queue::default());
    let counters = AqlCounters::new(queue, library(), 1, "gfx90a", false, DEVICE).expect("counters");
    assert!(counters.catalogue().counter("SQ_WAVES").is_some());
    assert!(counters.catalogue().counter("TCC_HIT").is_none());
    assert!(counters.catalogue().metric("L2CacheHit").is_none());
    let none = AqlCounters::new(Arc::new(Queue::default()), library(), 0, "gfx90a", false, DEVICE);
    let error = none.err().expect("handle zero is no agent");
    assert!(error.to_string().contains("handle is zero"), "{error}");
}
