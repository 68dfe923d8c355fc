//! VOPC: comparisons.
//!
//! The opcodes are regular: the type stands in the high bits, then a bit that says whether EXEC is written too, then the
//! condition. A condition is a set of outcomes, one bit each: less, equal, greater, unordered.

use super::float::{class, half_to_single};
use super::source::{Kind, Kind64, src, src64};
use super::vop2::gather_bits;
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};

/// Runs a VOPC instruction.
#[inline(always)]
pub(super) fn execute(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let op = s.inst.op;
    let condition = u32::from(op & 15);
    // Integers have no unordered outcome; the bit tells unsigned from signed there.
    let signed = condition & 8 == 0;
    let ordered = condition & 7;
    let bits = match op & 0xe0 {
        0x00 => classes(w, s)?,
        0x20 => compare32(w, s, Kind::Half, condition, |bits| half_to_single(bits as u16)),
        0x40 => compare32(w, s, Kind::Single, condition, f32::from_bits),
        0x60 => compare64(w, s, Kind64::Double, condition, f64::from_bits),
        0xa0 if signed => compare32(w, s, Kind::Bits16, ordered, |bits| i32::from(bits as i16)),
        0xa0 => compare32(w, s, Kind::Bits16, ordered, |bits| bits & 0xffff),
        0xc0 if signed => compare32(w, s, Kind::Bits, ordered, |bits| bits as i32),
        0xc0 => compare32(w, s, Kind::Bits, ordered, |bits| bits),
        0xe0 if signed => compare64(w, s, Kind64::Integer, ordered, |bits| bits as i64),
        0xe0 => compare64(w, s, Kind64::Bits, ordered, |bits| bits),
        _ => return Err(Stop::Unsupported("")),
    };
    let writes_exec = if op < 0x20 { op & 1 != 0 } else { op & 0x10 != 0 };
    let value = bits & w.write_mask;
    w.set_s64(s.inst.sdst.0, value);
    if writes_exec {
        w.exec = value;
    }
    Ok(())
}

/// Whether a pair's outcome is in the set.
#[inline(always)]
fn outcome<T: PartialOrd>(a: T, b: T, condition: u32) -> u32 {
    let (less, equal, greater) = (u32::from(a < b), u32::from(a == b), u32::from(a > b));
    let unordered = 1 ^ (less | equal | greater);
    (less & condition) | (equal & condition >> 1) | (greater & condition >> 2) | (unordered & condition >> 3)
}

#[inline(always)]
fn compare32<T: PartialOrd>(w: &Wave, s: &Slot, kind: Kind, condition: u32, read: impl Fn(u32) -> T) -> u64 {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = src(w, s, 0, kind, &mut buffer_a);
    let b = src(w, s, 1, kind, &mut buffer_b);
    let mut bits = [0; LANES];
    for l in 0..LANES {
        bits[l] = outcome(read(a.0[l]), read(b.0[l]), condition);
    }
    gather_bits(&bits)
}

#[inline(always)]
fn compare64<T: PartialOrd>(w: &Wave, s: &Slot, kind: Kind64, condition: u32, read: impl Fn(u64) -> T) -> u64 {
    let a = src64(w, s, 0, kind);
    let b = src64(w, s, 1, kind);
    let mut bits = [0; LANES];
    for l in 0..LANES {
        bits[l] = outcome(read(a[l]), read(b[l]), condition);
    }
    gather_bits(&bits)
}

/// Which lanes' numbers are of a class that the second source asks for.
fn classes(w: &Wave, s: &Slot) -> Result<u64, Stop> {
    let mut buffer = Lanes::ZERO;
    let asked = *src(w, s, 1, Kind::Bits, &mut buffer);
    let mut bits = [0; LANES];
    match s.inst.op & !1 {
        0x10 => {
            let mut buffer = Lanes::ZERO;
            let a = src(w, s, 0, Kind::Signed, &mut buffer);
            for l in 0..LANES {
                bits[l] = u32::from(class(a.0[l].into(), 23, 8) & asked.0[l] != 0);
            }
        }
        0x12 => {
            let a = src64(w, s, 0, Kind64::Double);
            for l in 0..LANES {
                bits[l] = u32::from(class(a[l], 52, 11) & asked.0[l] != 0);
            }
        }
        0x14 => {
            let mut buffer = Lanes::ZERO;
            let a = src(w, s, 0, Kind::Half, &mut buffer);
            for l in 0..LANES {
                bits[l] = u32::from(class(a.0[l].into(), 10, 5) & asked.0[l] != 0);
            }
        }
        _ => return Err(Stop::Unsupported("")),
    }
    Ok(gather_bits(&bits))
}
