//! Memsets of every width, and copies and memsets of more rows than are recorded one by one.

use super::*;

/// More than are recorded one by one.
const MANY: u64 = 5000;

/// Bytes that the values of a memset are made of, in a parameter whose other bytes say nothing.
const VALUE: u32 = 0x4433_2211;

fn set_rows(to: u64, pitch: u64, element: usize, width: usize, height: u64) -> i32 {
    for row in 0..height {
        let values = bytes(to + row * pitch, width * element);
        values.iter_mut().enumerate().for_each(|(at, byte)| *byte = VALUE.to_le_bytes()[at % element]);
    }
    0
}

fn copy_rows(to: (u64, u64), from: (u64, u64), width: usize, height: u64) {
    (0..height).for_each(|row| {
        bytes(to.0 + row * to.1, width).copy_from_slice(bytes(from.0 + row * from.1, width));
    });
}

/// A window that is open, over half a mebibyte of data.
fn open_over() -> (Program, u64, Function) {
    let program = Program::with(3, true);
    let data = program.allocate(1 << 19);
    bytes(data, 1 << 19).fill(0);
    // What copies read.
    bytes(data + 4096, 1 << 17).iter_mut().zip((0..251).cycle()).for_each(|(byte, value)| *byte = value);
    let function = increment("of_rows");
    program.launch(function, "of_rows", data, Stream::NULL, 0);
    (program, data, function)
}

/// It is open still, and the replays did what the program did.
fn is_replayed(program: &Program, function: Function, looked_at: u64) {
    assert_eq!(program.records(), 0, "the window is open");
    program.launch(function, "of_rows", looked_at, Stream::NULL, 0);
    program.closes_well();
    assert_eq!(program.records(), 2);
}

#[test]
fn memsets_of_every_width_are_done_again() {
    // Done at once, in order, and both of a thread's own stream; of one, two and four bytes.
    let lines = [[249, 216, 411, 428], [250, 218, 412, 429], [251, 220, 413, 430]];
    let rectangles = [[252, 222, 414, 431], [253, 224, 415, 432], [254, 226, 416, 433]];
    for (element, (lines, rectangles)) in [1, 2, 4].into_iter().zip(lines.into_iter().zip(rectangles)) {
        for (line, rectangle) in lines.into_iter().zip(rectangles) {
            let (program, data, function) = open_over();
            program.call(line, "", &SetParams { to: data + 64, value: VALUE, count: 5 }, || {
                set_rows(data + 64, 0, element, 5, 1)
            });
            let p = SetRectangleParams { to: data + (1 << 18), pitch: 64, value: VALUE, width: 3, height: 4 };
            program.call(rectangle, "", &p, || set_rows(data + (1 << 18), 64, element, 3, 4));
            is_replayed(&program, function, data + (1 << 18));
            let end = data + 64 + 5 * element as u64;
            assert_eq!((bytes(end - 1, 1)[0], bytes(end, 1)[0]), (VALUE.to_le_bytes()[element - 1], 0), "{line}");
        }
    }
}

#[test]
fn memsets_of_many_rows_are_done_again_by_one_call() {
    for (element, id, by) in
        [(1, 252, "cuMemsetD2D8Async"), (2, 253, "cuMemsetD2D16Async"), (4, 254, "cuMemsetD2D32Async")]
    {
        let (program, data, function) = open_over();
        let p = SetRectangleParams { to: data + (1 << 18), pitch: 16, value: VALUE, width: 3, height: MANY as usize };
        program.call(id, "", &p, || set_rows(data + (1 << 18), 16, element, 3, MANY));
        fake::take_calls();
        is_replayed(&program, function, data + (1 << 18) + 16 * (MANY - 1));
        assert_eq!(fake::take_calls().get(by), Some(&2), "{by}");
    }
}

#[test]
fn copies_of_many_rows_within_the_device_are_done_again_by_one_call() {
    for id in [287, 289, 405, 424] {
        let (program, data, function) = open_over();
        let (to, from) = (data + (1 << 18), data + 4096);
        let mut p = rectangle((memory_kind::DEVICE, memory_kind::UNIFIED), from, to);
        p.height = MANY as usize;
        program.call(id, "", &(&raw const p), || {
            copy_rows((to, 32), (from, 16), 8, MANY);
            0
        });
        fake::take_calls();
        is_replayed(&program, function, to + 32 * (MANY - 1));
        assert_eq!(fake::take_calls().get("cuMemcpy3DAsync_v2"), Some(&2));
    }
}

#[test]
fn copies_of_many_planes_keep_what_lies_between_them() {
    for id in [290, 291, 407, 425] {
        let (program, data, function) = open_over();
        let (to, from) = (data + (1 << 18), data + 4096);
        // SAFETY: numbers and pointers, for which zeroes are values.
        let mut p: CopyNodeParams = unsafe { std::mem::zeroed() };
        (p.from_kind, p.from_device, p.from_pitch, p.from_height) = (memory_kind::DEVICE, from, 8, 5);
        (p.to_kind, p.to_device, p.to_pitch, p.to_height) = (memory_kind::DEVICE, to, 16, 6);
        (p.width, p.height, p.depth, p.to_x) = (8, 5, 1200, 4);
        program.call(id, "", &(&raw const p), || {
            (0..1200).for_each(|plane| copy_rows((to + 4 + plane * 96, 16), (from + plane * 40, 8), 8, 5));
            0
        });
        fake::take_calls();
        is_replayed(&program, function, to + 1199 * 96 + 4);
        assert_eq!(fake::take_calls().get("cuMemcpy3DAsync_v2"), Some(&2));
        assert_eq!((bytes(to + 84, 1)[0], bytes(to + 100, 1)[0]), (0, 40), "the sixth row of a plane is left alone");
    }
}

#[test]
fn many_rows_to_the_host_are_a_read_and_from_the_host_end_the_window() {
    let (program, data, _) = open_over();
    let host = Box::leak(vec![0u8; 1 << 18].into_boxed_slice()).as_ptr() as u64;
    let mut p = rectangle((memory_kind::DEVICE, memory_kind::HOST), data, host);
    p.height = MANY as usize;
    program.call(287, "", &(&raw const p), || 0);
    assert_eq!(program.records(), 0);
    let mut p = rectangle((memory_kind::HOST, memory_kind::DEVICE), host, data);
    p.height = MANY as usize;
    program.call(287, "", &(&raw const p), || 0);
    assert_eq!(program.records(), 1);
    program.closes_well();
}

/// The driver takes them, and looks at no address: a program's array may be empty, and its host memory null.
#[test]
fn copies_and_memsets_of_no_rows_are_nothing_again() {
    for (id, depth) in [(287, None), (289, None), (290, Some(0)), (291, Some(1))] {
        let (program, data, function) = open_over();
        let mut flat = rectangle((memory_kind::HOST, memory_kind::DEVICE), 0, data + 4096);
        flat.height = 0;
        // SAFETY: numbers and pointers, for which zeroes are values.
        let mut cube: CopyNodeParams = unsafe { std::mem::zeroed() };
        (cube.from_kind, cube.to_kind, cube.to_device) = (memory_kind::HOST, memory_kind::DEVICE, data + 4096);
        (cube.width, cube.height, cube.depth) = (8, 1 - depth.unwrap_or(0), depth.unwrap_or(0));
        let description = if depth.is_some() { (&raw const cube).cast::<c_void>() } else { (&raw const flat).cast() };
        program.call(id, "", &description, || 0);
        let none = SetRectangleParams { to: data + 8192, pitch: 64, value: 5, width: 8, height: 0 };
        program.call(252, "", &none, || 0);
        is_replayed(&program, function, data);
    }
}
