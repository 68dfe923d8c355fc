//! The copy engine, driven packet by packet without a runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use softgpu::device::{Config, Device};
use softgpu::event::EventKind;
use softgpu::memory::MemoryKind;
use softgpu::queue::{QueueKind, QueueRequest, QueueResource};

const RING: u64 = 4096;

struct Engine {
    device: Arc<Device>,
    queue: QueueResource,
    ring: u64,
    written: u64,
}

impl Engine {
    fn new() -> Self {
        let device = Arc::new(Device::new(Config { memory_bytes: 64 << 20, ..Config::default() }).unwrap());
        let ring = mapped(&device, RING);
        let request = QueueRequest { kind: QueueKind::Sdma, base: ring, bytes: RING, read_index: 0 };
        let queue = device.queues.create(&device, request).unwrap();
        Self { device, queue, ring, written: 0 }
    }

    fn submit(&mut self, words: &[u32]) {
        for word in words {
            let at = (self.ring + self.written % RING) as *mut u32;
            // SAFETY: inside the ring, which lives as long as the device.
            unsafe { at.write_volatile(*word) };
            self.written += 4;
        }
        index(self.queue.doorbell).store(self.written, Ordering::Release);
    }

    /// Whether everything submitted gets done.
    fn done(&self) -> bool {
        soon(|| index(self.queue.read).load(Ordering::Acquire) == self.written)
    }

    /// Whether the engine stops at an error, with the packet not done.
    fn stopped(&self) -> bool {
        soon(|| self.device.totals.errors.load(Ordering::Acquire) == 1)
            && index(self.queue.read).load(Ordering::Acquire) < self.written
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.device.queues.destroy(self.queue.id).unwrap();
    }
}

fn index(address: u64) -> &'static AtomicU64 {
    // SAFETY: doorbells and indices live for ever.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

/// A bound against hanging, not a measurement.
fn soon(mut met: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !met() {
        if start.elapsed() > Duration::from_secs(30) {
            return false;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    true
}

fn mapped(device: &Device, bytes: u64) -> u64 {
    let base = device.memory.allocate(MemoryKind::Vram, bytes, 0, true).unwrap();
    device.memory.map(base).unwrap();
    base
}

fn bytes(address: u64, count: u64) -> &'static mut [u8] {
    // SAFETY: tests ask for their own allocations, while the engine is at rest.
    unsafe { std::slice::from_raw_parts_mut(address as *mut u8, count as usize) }
}

fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

fn packet(parts: &[&[u32]]) -> Vec<u32> {
    parts.concat()
}

#[test]
fn linear_copies_padding_and_wrap_around() {
    let mut engine = Engine::new();
    let from = mapped(&engine.device, 8192);
    let to = mapped(&engine.device, 8192);
    for (i, byte) in bytes(from, 8192).iter_mut().enumerate() {
        *byte = (i * 7) as u8;
    }
    // 200 packets of 28 + 12 bytes go twice around the ring.
    for i in 0..200u64 {
        bytes(to, 8192).fill(0xee);
        let n = 1 + i * 13 % 5000;
        let copy = packet(&[&[1, n as u32 - 1, 0], &halves(from + i), &halves(to + 1)]);
        engine.submit(&copy);
        // Two dwords of padding in one packet, then one alone.
        engine.submit(&[1 << 16, 0xffff_ffff, 0]);
        assert!(engine.done());
        assert_eq!(bytes(to + 1, n), bytes(from + i, n));
        assert_eq!((bytes(to, 1)[0], bytes(to + 1 + n, 1)[0]), (0xee, 0xee));
    }
}

#[test]
fn boxes_are_copied_between_pitches() {
    let mut engine = Engine::new();
    let (from, to) = (mapped(&engine.device, 1 << 16), mapped(&engine.device, 1 << 16));
    for (i, byte) in bytes(from, 1 << 16).iter_mut().enumerate() {
        *byte = (i ^ (i >> 8)) as u8;
    }
    bytes(to, 1 << 16).fill(0xee);
    // Elements of 4 bytes; a box of 5 × 3 × 2 from (2, 1, 1) of a 16 × 8 image to (1, 0, 3) of a 20 × 4 one.
    let side = |[x, y, z]: [u32; 3], pitch: u32, slice: u32| [x | y << 16, z | (pitch - 1) << 13, slice - 1];
    let head: [u32; 1] = [1 | 4 << 8 | 2 << 29];
    engine.submit(&packet(&[
        &head,
        &halves(from),
        &side([2, 1, 1], 16, 128),
        &halves(to),
        &side([1, 0, 3], 20, 80),
        &[4 | 2 << 16, 1],
    ]));
    assert!(engine.done());
    let mut want = vec![0xee; 1 << 16];
    for z in 0..2 {
        for y in 0..3 {
            for x in 0..5 * 4 {
                let source = ((1 + z) * 128 + (1 + y) * 16 + 2) * 4 + x;
                want[((3 + z) * 80 + y * 20 + 1) * 4 + x] = bytes(from, 1 << 16)[source];
            }
        }
    }
    assert_eq!(bytes(to, 1 << 16), want);
}

#[test]
fn fills_writes_fences_atomics_and_times() {
    let mut engine = Engine::new();
    let at = mapped(&engine.device, 4096);
    engine.submit(&packet(&[&[11 | 2 << 30], &halves(at), &[0x0403_0201, 15]]));
    engine.submit(&packet(&[&[11], &halves(at + 17), &[0x77, 2]]));
    engine.submit(&packet(&[&[2], &halves(at + 32), &[1, 0xaabb_ccdd, 0x1122_3344]]));
    engine.submit(&packet(&[&[5], &halves(at + 48), &[0x5566_7788]]));
    bytes(at + 64, 8).copy_from_slice(&5u64.to_le_bytes());
    engine.submit(&packet(&[&[10 | 47 << 25], &halves(at + 64), &[u32::MAX, u32::MAX, 0, 0, 0]]));
    engine.submit(&packet(&[&[13 | 2 << 8], &halves(at + 72)]));
    assert!(engine.done());
    assert_eq!(bytes(at, 16), [1, 2, 3, 4].repeat(4));
    assert_eq!(bytes(at + 16, 5), [0, 0x77, 0x77, 0x77, 0]);
    assert_eq!(bytes(at + 32, 8), [0xdd, 0xcc, 0xbb, 0xaa, 0x44, 0x33, 0x22, 0x11]);
    assert_eq!(bytes(at + 48, 4), 0x5566_7788u32.to_le_bytes());
    assert_eq!(bytes(at + 64, 8), 4u64.to_le_bytes());
    assert!(u64::from_le_bytes(bytes(at + 72, 8).try_into().unwrap()) > 0);
}

#[test]
fn polls_wait_flushes_do_not_and_traps_raise_events() {
    let mut engine = Engine::new();
    let at = mapped(&engine.device, 4096);
    let event = engine.device.events.create(EventKind::Signal, false, false).unwrap();
    let poll = |function: u32, value: u32, mask: u32| {
        packet(&[&[8 | function << 28 | 1 << 31], &halves(at), &[value, mask, 0]])
    };
    // A flush of the host's write path looks like a poll of a register at 0.
    engine.submit(&[8, 0, 0x8000_0000, 0, 0, 0]);
    assert!(engine.done());
    let word = index(at);
    // function, value that does not meet it, value that does
    for (function, no, yes) in [(1, 7, 6), (2, 8, 7), (3, 6, 7), (4, 7, 6), (5, 6, 7), (6, 7, 8)] {
        word.store(0xff00 | no, Ordering::Release);
        engine.submit(&poll(function, 7, 0xff));
        engine.submit(&[6, event]);
        let raised =
            |ms| !engine.device.events.wait(&[event], false, Some(Duration::from_millis(ms))).unwrap().is_empty();
        assert!(!raised(20));
        word.store(0xff00 | yes, Ordering::Release);
        assert!(raised(30_000));
        assert!(engine.done());
    }
    engine.submit(&poll(0, 99, u32::MAX));
    assert!(engine.done());
    // A poll that is never met does not keep its queue from being destroyed, when `engine` is dropped.
    engine.submit(&poll(3, 99, u32::MAX));
}

#[test]
fn what_is_not_known_or_not_mapped_stops_the_engine() {
    let unmapped = halves(0x1000);
    let cases: [Vec<u32>; 9] = [
        vec![99],
        vec![1 | 2 << 8, 0, 0, 0, 0, 0, 0],
        packet(&[&[1 | 1 << 27, 0, 0], &unmapped, &unmapped]),
        packet(&[&[1, 0, 0], &unmapped, &unmapped]),
        packet(&[&[5], &unmapped, &[1]]),
        packet(&[&[10 | 48 << 25], &unmapped, &[0; 5]]),
        packet(&[&[11 | 3 << 30], &unmapped, &[0, 0]]),
        packet(&[&[8 | 7 << 28 | 1 << 31], &unmapped, &[0, 0, 0]]),
        // Cut short.
        vec![1, 0, 0],
    ];
    for case in cases {
        let mut engine = Engine::new();
        let memory = engine.device.events.create(EventKind::Memory, false, false).unwrap();
        engine.submit(&case);
        assert!(engine.stopped(), "{case:x?}");
        let raised = engine.device.events.wait(&[memory], false, Some(Duration::from_secs(30))).unwrap();
        assert!(raised[0].fault.is_some(), "{case:x?}");
    }
}

#[test]
fn read_only_memory_is_not_written() {
    let mut engine = Engine::new();
    let at = engine.device.memory.allocate(MemoryKind::Host, 4096, 0, false).unwrap();
    engine.device.memory.map(at).unwrap();
    engine.submit(&packet(&[&[5], &halves(at), &[1]]));
    assert!(engine.stopped());
    assert_eq!(bytes(at, 4), [0; 4]);
}
