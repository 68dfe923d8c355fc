//! What the driver does with memory that was freed to a pool: what this module relies on, shown on a GPU.

use super::*;
use crate::agent::tests::gpu_agent;
use crate::agent::{CudaAgent, CudaWork};
use crate::tables::{MemoryPlace, Stream};
use kreplay_engine::Agent;
use std::ffi::CStr;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

type Allocate = unsafe extern "C" fn(*mut u64, usize, Stream) -> i32;
type Free = unsafe extern "C" fn(u64, Stream) -> i32;

/// The program's calls, on the default stream of the agent's context.
struct Program {
    agent: CudaAgent,
    pools: Arc<Pools>,
    allocate: Allocate,
    free: Free,
}

fn function(name: &CStr) -> *mut std::ffi::c_void {
    // SAFETY: C strings; the library is loaded already and stays.
    let found = unsafe { libc::dlsym(libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW), name.as_ptr()) };
    assert!(!found.is_null(), "{name:?}");
    found
}

impl Program {
    fn new() -> Option<Self> {
        let agent = gpu_agent()?;
        let driver = Driver::load().expect("it was loaded before");
        let pools = Arc::new(Pools::new(Arc::new(driver)));
        agent.set_pools(Arc::clone(&pools));
        // SAFETY: the driver documents these names with these signatures.
        let (allocate, free) = unsafe {
            (
                std::mem::transmute::<*mut std::ffi::c_void, Allocate>(function(c"cuMemAllocAsync")),
                std::mem::transmute::<*mut std::ffi::c_void, Free>(function(c"cuMemFreeAsync")),
            )
        };
        Some(Self { agent, pools, allocate, free })
    }

    fn allocate(&self, bytes: u64) -> u64 {
        let _entered = self.agent.enter().expect("the context is there");
        let mut base = 0;
        let _asking = self.pools.allocating();
        // SAFETY: the output is a local.
        let status = unsafe { (self.allocate)(&mut base, bytes as usize, Stream::LEGACY) };
        assert_eq!(status, 0);
        self.pools.allocated(Range::new(base, bytes));
        base
    }

    fn hold(&self, base: u64) -> MemoryPool {
        let _entered = self.agent.enter().expect("the context is there");
        self.pools.hold(base).expect("it is of a pool")
    }

    fn free(&self, base: u64) {
        let _entered = self.agent.enter().expect("the context is there");
        // SAFETY: allocated above, and not used by the program any more.
        assert_eq!(unsafe { (self.free)(base, Stream::LEGACY) }, 0);
        self.pools.freed(base).expect("its birth was told");
    }

    fn synchronise(&self) {
        let _entered = self.agent.enter().expect("the context is there");
        self.agent.driver().synchronise_context().expect("nothing failed");
    }

    fn settle(&self) {
        self.agent.settle(Instant::now() + Duration::from_secs(20)).expect("nothing failed");
    }

    fn reserved(&self, pool: MemoryPool) -> u64 {
        self.agent.driver().pool_number(pool, pool_attribute::RESERVED_CURRENT).expect("a pool")
    }

    /// Runs work; whether a kernel of ours had to do it.
    fn submit(&self, work: &CudaWork) -> bool {
        let before = self.agent.launches();
        self.agent.submit(work).expect("submitted");
        self.settle();
        self.agent.launches() > before
    }

    fn fill(&self, to: u64, bytes: u64, value: u32) -> bool {
        self.submit(&CudaWork::Fill { to, value, element: 4, count: bytes / 4 })
    }

    /// What a range holds, by way of memory that is nobody's but ours.
    fn read(&self, from: u64, bytes: u64) -> (Vec<u32>, bool) {
        let _entered = self.agent.enter().expect("the context is there");
        let own = self.agent.driver().allocate(bytes as usize).expect("there is room");
        let by_kernel = self.submit(&CudaWork::Copy { to: own, from, bytes });
        let mut found = vec![0u32; bytes as usize / 4];
        self.agent.driver().copy(found.as_mut_ptr() as u64, own, bytes, self.agent.stream()).expect("copied");
        self.settle();
        self.agent.driver().free(own).expect("freed");
        (found, by_kernel)
    }
}

#[test]
fn the_driver_tells_where_memory_lies() {
    let Some(program) = Program::new() else { return };
    let (pooled, driver) = (program.allocate(MIB), program.agent.driver());
    let own = MemoryPlace::Device(program.agent.device());
    let host = {
        let _entered = program.agent.enter().expect("the context is there");
        driver.allocate_host(4096).expect("there is room")
    };
    assert_eq!((driver.memory_place(pooled), driver.memory_place(pooled + MIB - 1)), (Some(own), Some(own)));
    assert_eq!(driver.memory_place(host), Some(MemoryPlace::Host));
    assert_eq!(driver.memory_place(std::ptr::from_ref(&own) as u64), None, "the driver does not know it");
    program.free(pooled);
}

#[test]
fn memory_that_is_freed_to_a_held_pool_stays_and_goes_with_the_hold() {
    let Some(program) = Program::new() else { return };
    let bytes = 48 * MIB;
    let base = program.allocate(bytes);
    assert!(!program.fill(base, bytes, 0x0102_0304), "what is allocated the driver fills itself");
    let pool = program.hold(base);
    let held = program.reserved(pool);
    program.free(base);
    (0..3).for_each(|_| program.synchronise());
    program.pools.kept().expect("it stays");
    assert_eq!(program.reserved(pool), held);
    let (found, read_by_kernel) = program.read(base, bytes);
    assert!(found.iter().all(|word| *word == 0x0102_0304));
    // Writing it is what a replay does; then something else is allocated there.
    let filled_by_kernel = program.fill(base, bytes, 7);
    let upload = Arc::new((0..4096u32).map(|at| at as u8).collect::<Vec<u8>>());
    let uploaded_by_kernel = program.submit(&CudaWork::Upload { to: base + 64, content: upload });
    let (found, _) = program.read(base, 4096);
    assert_eq!((found[0], found[16], found[17]), (7, 0x0302_0100, 0x0706_0504));
    let again = program.allocate(bytes / 2);
    let same = again == base;
    program.pools.kept().expect("it stays");
    program.free(again);
    program.pools.release(pool);
    program.synchronise();
    let left = program.reserved(pool);
    assert!(left < held, "what is unused went back: {left} of {held}");
    println!(
        "{{\"test\":\"freed_memory\",\"copy_by_kernel\":{read_by_kernel},\"fill_by_kernel\":{filled_by_kernel},\
         \"upload_by_kernel\":{uploaded_by_kernel},\"same_place\":{same},\"held\":{held},\"left\":{left}}}"
    );
}

/// Requests that find no piece large enough. Where the driver moves unused memory together, that is noticed; where nothing
/// was noticed, everything that was freed is still there.
#[test]
fn memory_that_the_driver_moves_is_noticed() {
    let Some(program) = Program::new() else { return };
    for (piece, large) in [(3 * MIB, 40 * MIB), (10 * MIB, 16 * MIB), (20 * MIB, 100 * MIB), (64 * MIB, 640 * MIB)] {
        let pieces: Vec<u64> = (0..32).map(|_| program.allocate(piece)).collect();
        for (at, base) in pieces.iter().enumerate() {
            program.fill(*base, piece, at as u32);
        }
        let pool = program.hold(pieces[0]);
        let before = program.reserved(pool);
        let freed: Vec<(usize, u64)> = pieces.iter().copied().enumerate().step_by(2).collect();
        freed.iter().for_each(|(_, base)| program.free(*base));
        program.synchronise();
        let foreseen = program.pools.may_move(large, Some(pool));
        let whole = program.allocate(large);
        let after = program.reserved(pool);
        let (kept, why) = program.pools.kept().map_or_else(|why| (false, why), |()| (true, String::new()));
        assert!(kept || foreseen, "{why}");
        if kept {
            for (at, base) in &freed {
                let inside = (whole..whole + large).contains(base) || (*base..base + piece).contains(&whole);
                let (found, _) = program.read(*base, piece);
                assert!(inside || found.iter().all(|word| *word == *at as u32), "{at} at {base:#x}");
            }
        }
        println!(
            "{{\"test\":\"moved_memory\",\"piece_mib\":{},\"large_mib\":{},\"kept\":{kept},\"foreseen\":{foreseen},\"why\":\"{why}\",\"before\":{before},\
             \"after\":{after},\"first\":\"{:#x}\",\"last\":\"{:#x}\",\"whole\":\"{whole:#x}\"}}",
            piece / MIB,
            large / MIB,
            pieces[0],
            pieces[31],
        );
        pieces.iter().skip(1).step_by(2).for_each(|base| program.free(*base));
        program.free(whole);
        program.pools.release(pool);
        program.synchronise();
    }
}

/// The pool of tests/cuda/pool_reuse.cu: pieces come and go, and holds end and begin in between, with a synchronise that gives
/// back what is unused. Nothing of it is doubted, and what was freed is still there.
#[test]
fn pieces_that_come_and_go_are_explained() {
    let Some(program) = Program::new() else { return };
    let (small, large, many) = (3 * MIB, 40 * MIB, 24);
    for frees_of_hold in [7, 12, 18, 100] {
        let mut held: Option<MemoryPool> = None;
        let mut sizes = Vec::new();
        let mut frees = 0;
        let mut free = |base: u64, bytes: u64, value: u32, sizes: &mut Vec<u64>| {
            if frees % frees_of_hold == 0
                && let Some(pool) = held.take()
            {
                program.pools.kept().unwrap_or_else(|why| panic!("{frees_of_hold}, {frees}: {why}"));
                program.pools.release(pool);
                program.synchronise();
                sizes.push(program.reserved(pool) / MIB);
            }
            frees += 1;
            held.get_or_insert_with(|| program.hold(base));
            program.free(base);
            program.synchronise();
            let (found, _) = program.read(base, bytes);
            assert!(found.iter().all(|word| *word == value), "{value} at {base:#x}");
        };
        for _ in 0..3 {
            let pieces: Vec<u64> = (0..many).map(|_| program.allocate(small)).collect();
            pieces.iter().enumerate().for_each(|(at, base)| _ = program.fill(*base, small, at as u32));
            pieces.iter().enumerate().step_by(2).for_each(|(at, base)| free(*base, small, at as u32, &mut sizes));
            let whole = program.allocate(large);
            program.fill(whole, large, 99);
            let odd = pieces.iter().enumerate().skip(1).step_by(2);
            odd.for_each(|(at, base)| free(*base, small, at as u32, &mut sizes));
            free(whole, large, 99, &mut sizes);
        }
        program.pools.kept().unwrap_or_else(|why| panic!("{frees_of_hold}, at the end: {why}"));
        if let Some(pool) = held {
            program.pools.release(pool);
            program.synchronise();
        }
        println!("{{\"test\":\"pieces\",\"frees_of_hold\":{frees_of_hold},\"mib_after_trims\":{sizes:?}}}");
    }
}
