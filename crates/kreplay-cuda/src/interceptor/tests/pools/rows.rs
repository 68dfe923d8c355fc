//! Copies and memsets of many rows, of memory that is freed to a pool later.

use super::*;

/// Many rows at once as one by one.
#[test]
fn rows_that_the_driver_refuses_to_copy_a_kernel_copies() {
    const ROWS: u64 = 5000;
    let (p, _) = Pooled::large();
    fake::pool_refuses(p.pool);
    let (source, target) = (p.first + 4096, p.first + MIB / 2);
    p.launch(p.first);
    let set = SetRectangleParams { to: source, pitch: 16, value: 0x0201, width: 2, height: ROWS as usize };
    p.program.call(253, "", &set, || {
        (0..ROWS).for_each(|row| (0..4).for_each(|at| byte(source + row * 16 + at, [1, 2][at as usize % 2])));
        0
    });
    // SAFETY: numbers and pointers, for which zeroes are values.
    let mut copy: CopyRectangle = unsafe { std::mem::zeroed() };
    (copy.from_kind, copy.from_device, copy.from_pitch) = (2, source, 16);
    (copy.to_kind, copy.to_device, copy.to_pitch) = (2, target, 32);
    (copy.width, copy.height) = (4, ROWS as usize);
    p.program.call(287, "", &(&raw const copy), || {
        (0..ROWS).for_each(|row| (0..4).for_each(|at| byte(target + row * 32 + at, [1, 2][at as usize % 2])));
        0
    });
    p.copy(p.plain, target + (ROWS - 1) * 32);
    p.launch(p.plain);
    p.free(p.first, 0);
    fake::take_calls();
    p.close();
    let calls = fake::take_calls();
    assert_eq!((calls.get("cuMemcpy3DAsync_v2"), calls.get("cuMemsetD2D16Async")), (Some(&2), Some(&2)), "asked first");
    assert_eq!(p.outcomes(), vec![Outcome::Replayed; 2]);
    assert_eq!(word(p.plain), 0x0201_0202);
}

fn byte(at: u64, value: u8) {
    // SAFETY: live memory of the fake.
    unsafe { *(at as *mut u8) = value };
}
