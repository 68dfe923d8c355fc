//! Dot products of VOP3P, and those of VOP2, which accumulate.

use super::float::half_to_single;
use super::lanes::put_single;
use super::packed::{both_halves, chosen, chosen_half};
use super::source::{Kind, put32, src};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Inst;
use crate::isa::table::vop2;
use crate::isa::table::vop3p::*;

type Done = Result<(), Stop>;

pub(super) fn dot(w: &mut Wave, s: &Slot) -> Done {
    let i = &s.inst;
    let (a, b) = (both_halves(w, i, 0), both_halves(w, i, 1));
    let mut buffer = Lanes::ZERO;
    let plain = Slot { inst: Inst { neg: 0, abs: 0, opsel: 0, ..*i }, class: s.class, plain: true };
    let c = *src(w, &plain, 2, Kind::Bits, &mut buffer);
    let mut out = Lanes::ZERO;
    match dot_shape(i.op) {
        Some((bits, signed)) => {
            for l in 0..LANES {
                // op_sel chooses halves where an element is one.
                let arrange = |k: usize, value: u32| match bits {
                    16 => u32::from(chosen(i, k, value, false)) | u32::from(chosen(i, k, value, true)) << 16,
                    _ => value,
                };
                out.0[l] = dot_integer(arrange(0, a.0[l]), arrange(1, b.0[l]), c.0[l], bits, signed, i.clamp);
            }
            put32(w, i, &out);
        }
        None => {
            for l in 0..LANES {
                let part = |k: usize, value: u32, high: bool| half_to_single(chosen_half(i, k, value, high));
                let c = f32::from_bits(c.0[l] ^ if i.neg >> 2 & 1 != 0 { 0x8000_0000 } else { 0 });
                let low = part(0, a.0[l], false) * part(1, b.0[l], false);
                let high = part(0, a.0[l], true) * part(1, b.0[l], true);
                out.0[l] = ((f64::from(low) + f64::from(high) + f64::from(c)) as f32).to_bits();
            }
            put_single(w, s, &mut out);
        }
    }
    Ok(())
}

/// The shape of an integer dot product: bits of an element, and whether it is signed.
fn dot_shape(op: u16) -> Option<(u32, bool)> {
    Some(match op {
        V_DOT2_I32_I16 => (16, true),
        V_DOT2_U32_U16 => (16, false),
        V_DOT4_I32_I8 => (8, true),
        V_DOT4_U32_U8 => (8, false),
        V_DOT8_I32_I4 => (4, true),
        V_DOT8_U32_U4 => (4, false),
        _ => return None,
    })
}

/// Sum of products of elements, plus a number; saturated where clamped.
fn dot_integer(a: u32, b: u32, c: u32, bits: u32, signed: bool, clamp: bool) -> u32 {
    let element = |value: u32, n: u32| {
        let field = value << (32 - bits - n * bits);
        if signed { i64::from(field as i32 >> (32 - bits)) } else { i64::from(field >> (32 - bits)) }
    };
    let sum: i64 = (0..32 / bits).map(|n| element(a, n) * element(b, n)).sum();
    let sum = sum + if signed { i64::from(c as i32) } else { i64::from(c) };
    match (clamp, signed) {
        (true, true) => sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32,
        (true, false) => sum.min(u32::MAX.into()) as u32,
        (false, _) => sum as u32,
    }
}

/// The dot products of VOP2, which accumulate in the destination.
pub(super) fn dot_accumulate(w: &mut Wave, s: &Slot) -> Done {
    if s.inst.neg != 0 || s.inst.abs != 0 {
        // Of these instructions no manual says which halves they change.
        return Err(Stop::Unsupported("sign modifiers of a dot product"));
    }
    let op = match s.inst.op {
        vop2::V_DOT2C_F32_F16 => V_DOT2_F32_F16,
        vop2::V_DOT2C_I32_I16 => V_DOT2_I32_I16,
        vop2::V_DOT4C_I32_I8 => V_DOT4_I32_I8,
        _ => V_DOT8_I32_I4,
    };
    let [a, b, _] = s.inst.src;
    let inst = Inst { op, src: [a, b, s.inst.dst], opsel_hi: 3, ..s.inst };
    dot(w, &Slot { inst, class: s.class, plain: true })
}
