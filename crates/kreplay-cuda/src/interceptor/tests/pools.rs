//! Memory pools: frees within batch windows, and what takes freed memory away.

mod moved;
mod places;
mod rows;

use super::*;
use kreplay_engine::{ClosingReason, Decline};

const BYTES: u64 = 16 << 10;
const OWN_THRESHOLD: u64 = 4096;
const MIB: u64 = 1 << 20;

fn zero(at: u64) {
    // SAFETY: live memory of the fake.
    unsafe { *(at as *mut u32) = 0 };
}

/// A program with a pool, of which two parts are allocated and zero.
struct Pooled {
    program: Program,
    pool: u64,
    first: u64,
    second: u64,
    plain: u64,
    function: Function,
}

impl Pooled {
    fn new() -> Self {
        let program = Program::with(3, true);
        let base = {
            let _depth = crate::agent::Depth::enter();
            program.interceptor.driver.allocate(BYTES as usize).expect("memory")
        };
        let plain = program.allocate(4096);
        for (at, bytes) in [(base, BYTES), (plain, 4096)] {
            // SAFETY: live memory of the fake.
            unsafe { std::ptr::write_bytes(at as *mut u8, 0, bytes as usize) };
        }
        let pool = fake::add_pool(base, BYTES);
        fake::set_pool_threshold(pool, OWN_THRESHOLD);
        let function = increment("pooled");
        let pooled = Self { program, pool, first: base, second: base + 8192, plain, function };
        pooled.allocate(pooled.first, 8192);
        pooled.allocate(pooled.second, 4096);
        pooled
    }

    /// One with a pool of twelve mebibytes, so of steps of at most four, of which one and five are allocated. And memory that
    /// is not the pool's yet.
    fn large() -> (Self, u64) {
        let p = Self::new();
        let bases = {
            let _depth = crate::agent::Depth::enter();
            [16 * MIB; 2].map(|bytes| p.program.interceptor.driver.allocate(bytes as usize).expect("memory"))
        };
        let [base, elsewhere] = bases.map(|base| base.next_multiple_of(4 * MIB));
        let p = Self { pool: fake::add_pool(base, 12 * MIB), first: base, second: base + 4 * MIB, ..p };
        fake::set_pool_threshold(p.pool, u64::MAX);
        p.allocate(p.first, MIB);
        p.allocate(p.second, 5 * MIB);
        [p.first, p.second, elsewhere].into_iter().for_each(zero);
        (p, elsewhere)
    }

    fn allocate(&self, base: u64, bytes: u64) {
        self.allocate_while(base, bytes, || {});
    }

    /// Allocates, and does something meanwhile.
    fn allocate_while(&self, base: u64, bytes: u64, meanwhile: impl FnOnce()) {
        let parameters = MemAllocAsyncParams { pointer: &raw const base, bytes: bytes as usize, stream: Stream::NULL };
        self.program.call(cbid::MEM_ALLOC_ASYNC, "", &parameters, || {
            meanwhile();
            fake::pool_allocate(self.pool, base, bytes);
            0
        });
    }

    fn free(&self, base: u64, status: i32) {
        self.program.call(cbid::MEM_FREE_ASYNC, "", &FreeParams { pointer: base }, || {
            if status == 0 {
                fake::pool_free(self.pool, base);
            }
            status
        });
    }

    fn launch(&self, address: u64) {
        self.program.launch(self.function, "pooled", address, Stream::NULL, 0);
    }

    fn copy(&self, to: u64, from: u64) {
        self.program.call(280, "", &CopyParams { to, from, bytes: 4 }, || {
            // SAFETY: live memory of the fake.
            unsafe { *(to as *mut u32) = *(from as *const u32) };
            0
        });
    }

    fn synchronise(&self) {
        let _depth = crate::agent::Depth::enter();
        self.program.interceptor.driver.synchronise_context().expect("the fake synchronises");
    }

    fn close(&self) {
        self.program.interceptor.context(self.program.context).driven().expect("an engine").engine.close_window();
    }

    fn closings(&self) -> Vec<ClosingReason> {
        locked(&self.program.log.windows).iter().map(|window| window.closing).collect()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let records = std::mem::take(&mut *locked(&self.program.log.dispatches));
        assert!(records.iter().all(|record| record.divergence.is_none()), "{records:?}");
        records.into_iter().map(|record| record.outcome).collect()
    }

    fn declined(&self) -> bool {
        let outcomes = self.outcomes();
        let declined = |outcome: &Outcome| matches!(outcome, Outcome::Declined { reason: Decline::PassFailed, .. });
        !outcomes.is_empty() && outcomes.iter().all(declined)
    }
}

#[test]
fn a_window_outlives_what_is_freed_to_a_pool() {
    let p = Pooled::new();
    for round in 1..=3u32 {
        let before = word(p.plain);
        p.launch(p.first);
        p.copy(p.plain, p.first);
        p.launch(p.first);
        p.free(p.first, 0);
        assert_eq!(fake::pool_threshold(p.pool), u64::MAX);
        // Without the hold this would take the memory away.
        p.synchronise();
        // The same place, then a part of it and what was free before; with copies of what is freed again.
        p.allocate(p.first, 8192);
        p.launch(p.first);
        p.launch(p.plain);
        p.copy(p.plain + 4, p.first);
        p.free(p.first, 0);
        p.free(p.second, 0);
        p.allocate(p.first + 4096, 4096);
        p.launch(p.first + 4096);
        p.copy(p.plain + 8, p.first + 4096);
        p.free(p.first + 4096, 0);
        p.allocate(p.first + 4096, 8192);
        p.launch(p.first + 4096);
        p.synchronise();
        assert_eq!(locked(&p.program.log.dispatches).len(), 0, "the window is open");
        p.close();
        assert_eq!(p.outcomes(), vec![Outcome::Replayed; 6]);
        assert_eq!(fake::pool_threshold(p.pool), OWN_THRESHOLD, "as the program had it");
        let values = [p.plain, p.plain + 4, p.plain + 8, p.first + 4096].map(word);
        assert_eq!(values, [2, 3, 1, 2], "round {round}, {before} before");
        // What nothing is allocated in goes now, as the program wants it.
        p.synchronise();
        assert_eq!((word(p.first), word(p.first + 4096)), (0xdddd_dddd, 2));
        p.free(p.first + 4096, 0);
        p.allocate(p.first, 8192);
        p.allocate(p.second, 4096);
        // SAFETY: live memory of the fake.
        unsafe { std::ptr::write_bytes(p.first as *mut u8, 0, 12 << 10) };
    }
    assert_eq!(p.closings(), [ClosingReason::Unrecordable; 3]);
}

#[test]
fn what_takes_freed_memory_away_ends_the_window_first() {
    let p = Pooled::new();
    let threshold = 1u64 << 20;
    let attribute = |number| PoolAttributeParams {
        pool: crate::tables::MemoryPool(p.pool as *mut c_void),
        attribute: number,
        value: &raw const threshold as *mut u64,
    };
    let open = || {
        p.launch(p.first);
        p.free(p.first, 0);
        assert_eq!(fake::pool_threshold(p.pool), u64::MAX);
    };
    let again = || {
        p.allocate(p.first, 8192);
        // SAFETY: live memory of the fake.
        unsafe { std::ptr::write_bytes(p.first as *mut u8, 0, 8192) };
    };
    open();
    p.program.call(cbid::MEM_POOL_GET, "", &attribute(7), || 0);
    assert_eq!(p.closings(), [], "nothing is taken away by reading how much is used");
    p.program.call(cbid::MEM_POOL_GET, "", &attribute(4), || {
        assert_eq!(fake::pool_threshold(p.pool), OWN_THRESHOLD, "the program reads its own");
        0
    });
    again();
    open();
    p.program.call(cbid::MEM_POOL_SET, "", &attribute(4), || {
        fake::set_pool_threshold(p.pool, threshold);
        0
    });
    assert_eq!(fake::pool_threshold(p.pool), threshold);
    again();
    for id in [cbid::MEM_POOL_TRIM, cbid::MEM_POOL_DESTROY] {
        open();
        p.program.call(id, "", &PoolParams { pool: crate::tables::MemoryPool(p.pool as *mut c_void) }, || {
            fake::pool_trim(p.pool);
            0
        });
        again();
    }
    assert_eq!(p.closings(), [ClosingReason::Freed; 4]);
    assert_eq!(p.outcomes(), vec![Outcome::Replayed; 4]);
}

#[test]
fn what_the_driver_refuses_to_copy_a_kernel_copies() {
    let p = Pooled::new();
    fake::pool_refuses(p.pool);
    let source = [7u32; 4];
    for round in 1..=2 {
        p.launch(p.first);
        p.copy(p.plain, p.first);
        let upload = CopyParams { to: p.first + 16, from: source.as_ptr() as u64, bytes: 16 };
        p.program.call(276, "", &upload, || {
            // SAFETY: live memory of the fake.
            unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), (p.first + 16) as *mut u32, 4) };
            0
        });
        for (id, element, value, count) in [(251, 4, 0x0102_0304, 3), (249, 1, 9, 5), (250, 2, 0x0506, 2)] {
            let to = p.first + 64 * u64::from(element as u32);
            p.program.call(id, "", &SetParams { to, value, count }, || {
                for at in 0..count * element {
                    // SAFETY: live memory of the fake.
                    unsafe { *((to + at as u64) as *mut u8) = value.to_le_bytes()[at % element] };
                }
                0
            });
        }
        let rows = SetRectangleParams { to: p.first + 1024, pitch: 64, value: 5, width: 8, height: 4 };
        p.program.call(252, "", &rows, || {
            for row in 0..4 {
                // SAFETY: live memory of the fake.
                unsafe { std::ptr::write_bytes((p.first + 1024 + row * 64) as *mut u8, 5, 8) };
            }
            0
        });
        // What the operations left is looked at by a kernel, and where it ends up outlives the window.
        p.copy(p.plain + 8, p.first + 16);
        p.copy(p.plain + 12, p.first + 64);
        p.copy(p.plain + 16, p.first + 128);
        p.copy(p.plain + 20, p.first + 256 + 8);
        p.copy(p.plain + 24, p.first + 1024 + 3 * 64 + 4);
        p.launch(p.plain + 8);
        p.free(p.first, 0);
        p.close();
        let copies = fake::launches("kreplay_copy");
        assert!(copies > 10 * round, "the replays copied by kernel");
        assert_eq!(p.outcomes(), vec![Outcome::Replayed; 2]);
        let values = [0, 8, 12, 16, 20, 24].map(|at| word(p.plain + at));
        assert_eq!(values, [round as u32, 8, 0x0909_0909, 0x0506_0506, 0x0102_0304, 0x0505_0505]);
        p.allocate(p.first, 8192);
    }
    assert_eq!(p.closings(), [ClosingReason::Unrecordable; 2]);
}

#[test]
fn nothing_is_allocated_from_a_pool_while_a_window_is_replayed() {
    let p = Pooled::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let (begun, begins) = std::sync::mpsc::channel();
    let kernel = {
        let order = Arc::clone(&order);
        move |_: [u32; 3], _: &[*mut c_void]| {
            locked(&order).push("kernel");
            if locked(&order).len() == 2 {
                begun.send(()).expect("somebody waits");
                // Time for an allocation that does not wait.
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    };
    let function = Function(fake::add_kernel("slow", &[(0, 8)], Arc::new(kernel)) as *mut c_void);
    p.program.launch(function, "slow", p.plain, Stream::NULL, 0);
    p.free(p.first, 0);
    std::thread::scope(|scope| {
        let (p, order) = (&p, &order);
        scope.spawn(move || {
            begins.recv().expect("the replay begins");
            let base = p.first;
            let parameters = MemAllocAsyncParams { pointer: &raw const base, bytes: 64, stream: Stream::NULL };
            p.program.call(cbid::MEM_ALLOC_ASYNC, "", &parameters, || {
                locked(order).push("allocation");
                fake::pool_allocate(p.pool, base, 64);
                0
            });
        });
        p.close();
    });
    assert_eq!(*locked(&order), ["kernel", "kernel", "kernel", "allocation"]);
    assert_eq!(p.outcomes(), [Outcome::Replayed]);
}

#[test]
fn a_pool_that_is_gone_is_not_asked_about() {
    let p = Pooled::new();
    p.launch(p.plain);
    p.free(p.first, 0);
    let pool = PoolParams { pool: crate::tables::MemoryPool(p.pool as *mut c_void) };
    p.program.call(cbid::MEM_POOL_DESTROY, "", &pool, || {
        fake::pool_destroy(p.pool);
        0
    });
    assert_eq!(p.closings(), [ClosingReason::Freed]);
    let base = {
        let _depth = crate::agent::Depth::enter();
        p.program.interceptor.driver.allocate(4096).expect("memory")
    };
    let q = Pooled { pool: fake::add_pool(base, 4096), ..p };
    q.allocate(base, 1024);
    q.launch(q.plain);
    q.free(base, 0);
    q.close();
    assert_eq!(q.outcomes(), vec![Outcome::Replayed; 2]);
    assert_eq!(word(q.plain), 2);
}

#[test]
fn a_free_to_a_pool_that_fails_frees_nothing() {
    let p = Pooled::new();
    p.launch(p.first);
    p.free(p.first, 1);
    p.launch(p.first);
    p.close();
    assert_eq!(p.outcomes(), vec![Outcome::Replayed; 2]);
    assert_eq!((word(p.first), fake::pool_threshold(p.pool)), (2, OWN_THRESHOLD));
    p.launch(p.first);
    p.close();
    assert_eq!(p.program.last().bytes.footprint, 0, "its window has it");
    assert_eq!(locked(&p.program.log.windows).last().map(|window| window.bytes.footprint), Some(8192 + 4096 + 4096));
}
