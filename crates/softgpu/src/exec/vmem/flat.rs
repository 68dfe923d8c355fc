//! FLAT: flat, global and scratch instructions.

use super::access::{load, store};
use super::address::Addresses;
use super::atomic;
use super::shape::Shape;
use crate::exec::scalar::{PRIVATE_BASE, src32};
use crate::exec::step::{Cx, Stop};
use crate::exec::wave::{LANES, Wave};
use crate::isa::{Inst, Segment};

/// Runs a FLAT instruction.
pub(in crate::exec) fn flat(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    if i.lds_or_gds {
        return Err(Stop::Unsupported("loads to LDS"));
    }
    let a = addresses(w, i);
    match Shape::of(i.op) {
        Some((shape, true)) => store(cx, w, &a, shape, i.src[1]),
        Some((shape, false)) => load(cx, w, &a, shape, i.dst),
        None => atomic::run(cx, w, &a, i.op, i.src[1], i.dst),
    }
}

fn addresses(w: &Wave, i: &Inst) -> Addresses {
    let offset = i64::from(i.imm);
    let mut lanes = [0; LANES];
    if i.segment == Segment::Scratch {
        let scalar = if i.src[2].is_none() { 0 } else { src32(w, i, i.src[2]) };
        for (lane, to) in lanes.iter_mut().enumerate() {
            let vector = if i.src[0].is_none() { 0 } else { w.v(i.src[0], 0).0[lane] };
            *to = PRIVATE_BASE | u64::from(vector.wrapping_add(scalar).wrapping_add(offset as u32));
        }
    } else if i.src[2].is_none() {
        let (low, high) = (w.v(i.src[0], 0), w.v(i.src[0], 1));
        for (to, (low, high)) in lanes.iter_mut().zip(low.0.iter().zip(&high.0)) {
            *to = (u64::from(*low) | u64::from(*high) << 32).wrapping_add_signed(offset);
        }
    } else {
        let base = w.s64(i.src[2].0).wrapping_add_signed(offset);
        for (to, from) in lanes.iter_mut().zip(&w.v(i.src[0], 0).0) {
            *to = base.wrapping_add(u64::from(*from));
        }
    }
    Addresses { lanes, mask: w.exec, flat: i.segment != Segment::Global, private: w.flat_scratch() }
}
