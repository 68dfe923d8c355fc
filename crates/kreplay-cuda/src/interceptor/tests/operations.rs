//! Copies and sets in batch windows: what is recorded, and what ends one.

mod rows;

use super::*;
use crate::tables::graph_structs::{CopyNodeParams, memory_kind};
use kreplay_engine::{BatchLimits, ClosingReason};
use std::time::Duration;

/// A window that is open, over 8 KiB of data that the test knows.
fn open() -> (Program, u64, Function) {
    let program = Program::with(3, true);
    let data = program.allocate(8192);
    let function = increment("operating");
    // SAFETY: live memory of the fake.
    unsafe { std::ptr::write_bytes(data as *mut u8, 0, 8192) };
    program.launch(function, "operating", data, Stream::NULL, 0);
    assert!(locked(&program.log.dispatches).is_empty());
    (program, data, function)
}

impl Program {
    fn records(&self) -> usize {
        locked(&self.log.dispatches).len()
    }

    /// The window closes: everything in it was replayed, and nothing differed.
    fn closes_well(&self) {
        self.interceptor.context(self.context).driven().expect("an engine").engine.close_window();
        let records = locked(&self.log.dispatches);
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{records:?}");
        assert!(records.iter().all(|record| record.divergence.is_none()), "{records:?}");
    }
}

fn bytes<'a>(address: u64, count: usize) -> &'a mut [u8] {
    // SAFETY: live memory of the test's, used by one thread.
    unsafe { std::slice::from_raw_parts_mut(address as *mut u8, count) }
}

fn rectangle(kinds: (u32, u32), from: u64, to: u64) -> CopyRectangle {
    // SAFETY: numbers and pointers, for which zeroes are values.
    let mut p: CopyRectangle = unsafe { std::mem::zeroed() };
    (p.from_kind, p.from_host, p.from_device, p.from_pitch) = (kinds.0, from, from, 16);
    (p.to_kind, p.to_host, p.to_device, p.to_pitch) = (kinds.1, to, to, 32);
    (p.width, p.height) = (8, 3);
    p
}

#[test]
fn rectangles_and_boxes_are_recorded() {
    let (program, data, function) = open();
    let set = SetRectangleParams { to: data + 256, pitch: 64, value: 5, width: 8, height: 4 };
    program.call(252, "", &set, || {
        (0..4).for_each(|row| bytes(data + 256 + row * 64, 8).fill(5));
        0
    });
    let within = rectangle((memory_kind::DEVICE, memory_kind::UNIFIED), data + 256, data + 1024);
    program.call(289, "", &(&raw const within), || {
        (0..3).for_each(|row| bytes(data + 1024 + row * 32, 8).copy_from_slice(bytes(data + 256 + row * 16, 8)));
        0
    });
    let source = Box::leak(Box::new([7u8; 64]));
    let upload = rectangle((memory_kind::HOST, memory_kind::DEVICE), source.as_ptr() as u64, data + 2048);
    program.call(287, "", &(&raw const upload), || {
        (0..3).for_each(|row| bytes(data + 2048 + row * 32, 8).fill(7));
        0
    });
    source.fill(9);
    // SAFETY: numbers and pointers, for which zeroes are values.
    let mut cube: CopyNodeParams = unsafe { std::mem::zeroed() };
    (cube.from_kind, cube.from_device, cube.from_pitch, cube.from_height) = (memory_kind::DEVICE, data + 2048, 32, 2);
    (cube.to_kind, cube.to_device, cube.to_pitch, cube.to_height) = (memory_kind::DEVICE, data + 4096, 32, 2);
    (cube.width, cube.height, cube.depth) = (32, 2, 2);
    program.call(291, "", &(&raw const cube), || {
        bytes(data + 4096, 128).copy_from_slice(bytes(data + 2048, 128));
        0
    });
    let back = rectangle((memory_kind::DEVICE, memory_kind::HOST), data, source.as_ptr() as u64);
    program.call(287, "", &(&raw const back), || 0);
    // A prefetch is nothing that is looked at.
    program.call(467, "", &0u64, || 0);
    program.launch(function, "operating", data + 4096, Stream::NULL, 0);
    assert_eq!(program.records(), 0, "the window is still open");
    program.closes_well();
    assert_eq!(program.records(), 2);
    assert_eq!((bytes(data + 256, 9)[7..].to_vec(), bytes(data + 1024, 8)[0]), (vec![5, 0], 5));
    assert_eq!((bytes(data + 4096, 8).to_vec(), source[0]), (vec![8, 7, 7, 7, 7, 7, 7, 7], 9));
}

#[test]
fn copies_from_the_host_are_saved_as_long_as_the_window_has_room() {
    let settings = Program::settings(2, true, Request::default());
    let batch = BatchLimits { bytes: 10_000, time: Duration::MAX, ..settings.batch };
    let filter = Arc::new(ByName("boring"));
    let program = Program::made(Settings { batch, ..settings }, filter, Box::new(|_| None));
    let function = increment("uploading");
    let data = program.allocate(1 << 20);
    // How many copies of so many bytes go by before the window closes.
    let upload = |bytes: usize| {
        let source = Box::leak(vec![7u8; bytes].into_boxed_slice());
        program.call(276, "", &CopyParams { to: data + 4096, from: source.as_ptr() as u64, bytes }, || {
            self::bytes(data + 4096, bytes).fill(7);
            0
        });
    };
    for (bytes, fit) in [(4000, 2), (10_001, 0)] {
        program.launch(function, "uploading", data, Stream::NULL, 0);
        let before = locked(&program.log.windows).len();
        (0..fit).for_each(|_| upload(bytes));
        assert_eq!(locked(&program.log.windows).len(), before, "{fit} copies of {bytes} bytes fit");
        upload(bytes);
        let windows = locked(&program.log.windows);
        assert_eq!(windows.len(), before + 1, "another does not");
        let last = windows.last().expect("a window");
        assert_eq!((last.closing, last.operations), (ClosingReason::Bytes, fit));
        drop(windows);
        program.closes_well();
    }
}

/// The driver goes by addresses: programs that name the wrong direction work.
#[test]
fn copies_that_are_named_for_the_host_and_stay_on_the_device_are_done_again() {
    for id in [278, 279, 398, 422, 276, 277] {
        let (program, data, function) = open();
        program.call(id, "", &CopyParams { to: data + 4096, from: data, bytes: 4 }, || {
            bytes(data + 4096, 4).copy_from_slice(bytes(data, 4));
            0
        });
        program.launch(function, "operating", data + 4096, Stream::NULL, 0);
        assert_eq!((program.records(), word(data + 4096)), (0, 2), "{id}");
        program.closes_well();
        assert_eq!((program.records(), word(data + 4096)), (2, 2), "{id}");
    }
    // From memory that nobody told of.
    let (program, data, _) = open();
    program.call(278, "", &CopyParams { to: data, from: 0x1000, bytes: 4 }, || 0);
    assert_eq!(program.records(), 1);
}

#[test]
fn memory_that_is_not_the_devices_is_not_written_again() {
    // Memory that the driver knows and nobody told of: of another process, say.
    let program = Program::with(2, true);
    let elsewhere = {
        let _depth = crate::agent::Depth::enter();
        program.interceptor.driver.allocate(4096).expect("memory")
    };
    drop(program);
    let host = Box::leak(Box::new([1u8; 4096])).as_ptr() as u64;
    // Zero stands for the window's own data.
    for (what, id, to, from) in [
        ("a copy from elsewhere", 280, 0, elsewhere),
        ("the same by another function", 305, 0, elsewhere),
        ("a copy to elsewhere", 280, elsewhere, 0),
        ("a copy to elsewhere, which is not the host", 305, elsewhere, 0),
        ("a copy from what is only called the host's", 276, 0, elsewhere),
        // A set's parameters begin alike: where, what, how many.
        ("a set of the host's memory", 251, host, 3),
    ] {
        let (program, data, _) = open();
        let known = |address| if address == 0 { data } else { address };
        program.call(id, "", &CopyParams { to: known(to), from: known(from), bytes: 8 }, || 0);
        assert_eq!(program.records(), 1, "{what} ends the window");
        program.closes_well();
    }
    let (program, data, _) = open();
    program.call(252, "", &SetRectangleParams { to: host, pitch: 64, value: 5, width: 8, height: 4 }, || 0);
    assert_eq!(program.records(), 1);
    let (program, _, _) = open();
    let array = rectangle((3, memory_kind::DEVICE), data, data);
    program.call(287, "", &(&raw const array), || 0);
    assert_eq!(program.records(), 1);
    // The host's own memory is copied, by either function.
    let (program, data, _) = open();
    for (id, value) in [(276, 40), (305, 50)] {
        let source = Box::leak(Box::new([value; 8])).as_ptr() as u64;
        program.call(id, "", &CopyParams { to: data + u64::from(value), from: source, bytes: 8 }, || {
            bytes(data + u64::from(value), 8).fill(value);
            0
        });
    }
    assert_eq!(program.records(), 0);
    program.closes_well();
    assert_eq!((bytes(data + 40, 1)[0], bytes(data + 50, 1)[0]), (40, 50));
}
