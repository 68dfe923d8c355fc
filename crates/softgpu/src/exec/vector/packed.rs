//! VOP3P: two 16-bit or two 32-bit operations at once, and mixed precision.

use super::arith::{Arith, fma_half, rounded32};
use super::dot::dot;
use super::float::{Format, fma, half_from_single, half_round, half_to_single, max32, min32};
use super::lanes::{one, put_single};
use super::source::{Kind, Kind64, put32, put64, src, src64, through_dpp};
use crate::exec::code::Slot;
use crate::exec::scalar;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Inst;
use crate::isa::table::vop3p::*;

type Done = Result<(), Stop>;

/// Runs a VOP3P instruction.
pub(super) fn execute(w: &mut Wave, s: &Slot) -> Done {
    let clamp = s.inst.clamp;
    let mode = w.float;
    match s.inst.op {
        V_ACCVGPR_READ_B32 | V_ACCVGPR_WRITE_B32 => one(w, s, |a| a),
        V_PK_FMA_F32 | V_PK_MUL_F32 | V_PK_ADD_F32 | V_PK_MOV_B32 => pairs(w, s),
        V_PK_MAD_I16 | V_PK_MAD_U16 => words(w, s, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        V_PK_MUL_LO_U16 => words(w, s, |a, b, _| a.wrapping_mul(b)),
        V_PK_ADD_I16 if clamp => words(w, s, |a, b, _| (a as i16).saturating_add(b as i16) as u16),
        V_PK_SUB_I16 if clamp => words(w, s, |a, b, _| (a as i16).saturating_sub(b as i16) as u16),
        V_PK_ADD_U16 if clamp => words(w, s, |a, b, _| a.saturating_add(b)),
        V_PK_SUB_U16 if clamp => words(w, s, |a, b, _| a.saturating_sub(b)),
        V_PK_ADD_I16 | V_PK_ADD_U16 => words(w, s, |a, b, _| a.wrapping_add(b)),
        V_PK_SUB_I16 | V_PK_SUB_U16 => words(w, s, |a, b, _| a.wrapping_sub(b)),
        V_PK_LSHLREV_B16 => words(w, s, |a, b, _| b << (a & 15)),
        V_PK_LSHRREV_B16 => words(w, s, |a, b, _| b >> (a & 15)),
        V_PK_ASHRREV_I16 => words(w, s, |a, b, _| (b as i16 >> (a & 15)) as u16),
        V_PK_MAX_I16 => words(w, s, |a, b, _| (a as i16).max(b as i16) as u16),
        V_PK_MIN_I16 => words(w, s, |a, b, _| (a as i16).min(b as i16) as u16),
        V_PK_MAX_U16 => words(w, s, |a, b, _| a.max(b)),
        V_PK_MIN_U16 => words(w, s, |a, b, _| a.min(b)),
        V_PK_FMA_F16 => halves(w, s, move |a, b, c| fma_half(a, b, c, mode.round64)),
        V_PK_ADD_F16 => halves(w, s, move |a, b, _| half_round(half_to_single(a) + half_to_single(b), &mode)),
        V_PK_MUL_F16 => halves(w, s, move |a, b, _| half_round(half_to_single(a) * half_to_single(b), &mode)),
        V_PK_MIN_F16 => halves(w, s, |a, b, _| half_from_single(min32(half_to_single(a), half_to_single(b)))),
        V_PK_MAX_F16 => halves(w, s, |a, b, _| half_from_single(max32(half_to_single(a), half_to_single(b)))),
        V_FMA_MIX_F32 | V_FMA_MIXLO_F16 | V_FMA_MIXHI_F16 => mixed(w, s),
        V_DOT2_F32_F16 | V_DOT2_I32_I16 | V_DOT2_U32_U16 | V_DOT4_I32_I8 | V_DOT4_U32_U8 | V_DOT8_I32_I4
        | V_DOT8_U32_U4 => dot(w, s),
        _ => Err(Stop::Unsupported("")),
    }
}

/// Source `k` as a dword with both halves; a float constant is in the low half only.
pub(super) fn both_halves(w: &Wave, i: &Inst, k: usize) -> Lanes {
    let operand = i.src[k];
    if operand.is_none() {
        return Lanes::ZERO;
    }
    if operand.is_vector() {
        let mut values = *w.v(operand, 0);
        if k == 0 {
            through_dpp(w, i, &mut values);
        }
        return values;
    }
    let value = match operand.inline_float() {
        Some(float) => u32::from(half_from_single(float as f32)),
        None => scalar::src32(w, i, operand),
    };
    Lanes([value; LANES])
}

/// The half that op_sel chooses, for the low or the high result.
pub(super) fn chosen(i: &Inst, k: usize, value: u32, high: bool) -> u16 {
    let select = if high { i.opsel_hi } else { i.opsel };
    if select >> k & 1 != 0 { (value >> 16) as u16 } else { value as u16 }
}

/// The same with the sign changed as the low or high negation says.
pub(super) fn chosen_half(i: &Inst, k: usize, value: u32, high: bool) -> u16 {
    let negate = if high { i.abs } else { i.neg };
    chosen(i, k, value, high) ^ if negate >> k & 1 != 0 { 0x8000 } else { 0 }
}

fn words(w: &mut Wave, s: &Slot, f: impl Fn(u16, u16, u16) -> u16) -> Done {
    let i = &s.inst;
    let [a, b, c] = std::array::from_fn(|k| both_halves(w, i, k));
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let run =
            |high| u32::from(f(chosen(i, 0, a.0[l], high), chosen(i, 1, b.0[l], high), chosen(i, 2, c.0[l], high)));
        out.0[l] = run(false) | run(true) << 16;
    }
    put32(w, i, &out);
    Ok(())
}

fn halves(w: &mut Wave, s: &Slot, f: impl Fn(u16, u16, u16) -> u16) -> Done {
    let i = &s.inst;
    let [a, b, c] = std::array::from_fn(|k| both_halves(w, i, k));
    let flush = w.float.flush64.0;
    let denormal = |half: u16| if flush && half & 0x7c00 == 0 { half & 0x8000 } else { half };
    let finish = i.clamp || i.omod != 0 || w.float.flush64.1;
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let run = |high| {
            let pick = |k: usize, value: u32| denormal(chosen_half(i, k, value, high));
            let bits = f(pick(0, a.0[l]), pick(1, b.0[l]), pick(2, c.0[l]));
            u32::from(if finish { super::float::finish_one_half(w, i, bits) } else { bits })
        };
        out.0[l] = run(false) | run(true) << 16;
    }
    put32(w, i, &out);
    Ok(())
}

/// `v_pk_fmac_f16`: both halves of the destination accumulate.
pub(super) fn fmac(w: &mut Wave, s: &Slot) -> Done {
    let i = &s.inst;
    let rounding = w.float.round64;
    let (a, b) = (both_halves(w, i, 0), both_halves(w, i, 1));
    let c = *w.v(i.dst, 0);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let run = |shift: u32| {
            let part = |value: u32| (value >> shift) as u16;
            u32::from(fma_half(part(a.0[l]), part(b.0[l]), part(c.0[l]), rounding)) << shift
        };
        out.0[l] = run(0) | run(16);
    }
    put32(w, i, &out);
    Ok(())
}

/// Two singles at once.
fn pairs(w: &mut Wave, s: &Slot) -> Done {
    let i = &s.inst;
    let rounding = w.float.round32;
    let flush = w.float.flush32.0;
    let read = |k: usize| {
        let operand = i.src[k];
        if operand.is_none() {
            return [0; LANES];
        }
        // A constant is one dword, and both halves of the pair see it.
        if operand.0 >= 128 && !operand.is_vector() {
            let value = u64::from(scalar::src32(w, i, operand));
            return [value | value << 32; LANES];
        }
        src64(w, &Slot { inst: *i, class: s.class, plain: true }, k, Kind64::Bits)
    };
    let [a, b, c] = std::array::from_fn(read);
    let mut low = Lanes::ZERO;
    let mut high = Lanes::ZERO;
    let pick = |k: usize, value: u64, upper: bool| {
        let select = if upper { i.opsel_hi } else { i.opsel };
        let negate = if upper { i.abs } else { i.neg };
        let bits = if select >> k & 1 != 0 { (value >> 32) as u32 } else { value as u32 };
        let bits = bits ^ if negate >> k & 1 != 0 { 0x8000_0000 } else { 0 };
        if flush { super::source::flush32(bits) } else { bits }
    };
    if i.op == V_PK_MOV_B32 {
        // Each half of the result takes one source; op_sel says which half of it.
        let mut out = [0; LANES];
        for l in 0..LANES {
            let half = |k: usize, value: u64| if i.opsel >> k & 1 != 0 { value >> 32 } else { value & 0xffff_ffff };
            out[l] = half(0, a[l]) | half(1, b[l]) << 32;
        }
        put64(w, i, &out);
        return Ok(());
    }
    for (upper, out) in [(false, &mut low), (true, &mut high)] {
        let [x, y, z] = [(0, &a), (1, &b), (2, &c)].map(|(k, values)| Lanes(values.map(|value| pick(k, value, upper))));
        match i.op {
            V_PK_FMA_F32 => super::arith::fma_all32(w, &x, &y, &z, out),
            V_PK_MUL_F32 => {
                for l in 0..LANES {
                    out.0[l] = rounded_fast(Arith::Mul, x.0[l], y.0[l], rounding);
                }
            }
            _ => {
                for l in 0..LANES {
                    out.0[l] = rounded_fast(Arith::Add, x.0[l], y.0[l], rounding);
                }
            }
        }
        if i.clamp || i.omod != 0 || w.float.flush32.1 {
            super::float::finish_single(w, i, out);
        }
    }
    w.put(i.dst, 0, &low, w.write_mask);
    w.put(i.dst, 1, &high, w.write_mask);
    Ok(())
}

#[inline(always)]
fn rounded_fast(op: Arith, a: u32, b: u32, rounding: crate::exec::wave::Rounding) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match (rounding, op) {
        (crate::exec::wave::Rounding::NearestEven, Arith::Mul) => (x * y).to_bits(),
        (crate::exec::wave::Rounding::NearestEven, Arith::Add) => (x + y).to_bits(),
        _ => rounded32(op, a, b, rounding),
    }
}

/// Fused multiply-add whose sources are singles or halves: op_sel_hi says which, op_sel which half.
fn mixed(w: &mut Wave, s: &Slot) -> Done {
    let i = &s.inst;
    let mode = w.float;
    let values: [Lanes; 3] = std::array::from_fn(|k| {
        let is_half = i.opsel_hi >> k & 1 != 0;
        let mut raw = if is_half {
            both_halves(w, i, k)
        } else {
            let mut buffer = Lanes::ZERO;
            *src(
                w,
                &Slot { inst: Inst { neg: 0, abs: 0, opsel: 0, ..*i }, class: s.class, plain: true },
                k,
                Kind::Bits,
                &mut buffer,
            )
        };
        for value in &mut raw.0 {
            if is_half {
                let half = if i.opsel >> k & 1 != 0 { *value >> 16 } else { *value };
                *value = half_to_single(half as u16).to_bits();
            }
            // The high negation is the absolute value here.
            if i.abs >> k & 1 != 0 {
                *value &= 0x7fff_ffff;
            }
            if i.neg >> k & 1 != 0 {
                *value ^= 0x8000_0000;
            }
        }
        raw
    });
    let [a, b, c] = &values;
    let mut out = Lanes::ZERO;
    if i.op == V_FMA_MIX_F32 {
        super::arith::fma_all32(w, a, b, c, &mut out);
        put_single(w, s, &mut out);
        return Ok(());
    }
    let old = *w.v(i.dst, 0);
    for l in 0..LANES {
        let single = fma(a.0[l].into(), b.0[l].into(), c.0[l].into(), Format::SINGLE, mode.round32) as u32;
        let mut half = half_round(f32::from_bits(single), &mode);
        if i.clamp {
            half = super::float::finish_one_half(w, i, half);
        }
        out.0[l] = match i.op {
            V_FMA_MIXLO_F16 => old.0[l] & 0xffff_0000 | u32::from(half),
            _ => old.0[l] & 0xffff | u32::from(half) << 16,
        };
    }
    put32(w, i, &out);
    Ok(())
}
