//! The counters over the software GPU's own library and counter bank, without a runtime in between.

mod counting;
mod failing;

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
