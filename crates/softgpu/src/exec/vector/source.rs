//! Vector sources and destinations: registers, constants, modifiers, SDWA and DPP.

use crate::exec::code::Slot;
use crate::exec::scalar;
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::{Dpp, Form, Inst, Operand};

/// How a 32-bit source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As it is.
    Bits,
    /// With a float's sign modifiers.
    Signed,
    /// A single: sign modifiers, denormals flushed as the mode says.
    Single,
    /// The low 16 bits (or the high ones, by op_sel).
    Bits16,
    /// A half: sign modifiers, denormals flushed as the mode says.
    Half,
}

/// Two dwords of each lane.
pub(super) type Lanes64 = [u64; LANES];

/// Source `k` of 32 or 16 bits. `buffer` holds it where it is not a register as it is.
#[inline(always)]
pub(super) fn src<'a>(w: &'a Wave, s: &Slot, k: usize, kind: Kind, buffer: &'a mut Lanes) -> &'a Lanes {
    let operand = s.inst.src[k];
    let simple = match kind {
        Kind::Bits | Kind::Signed => true,
        Kind::Single => !w.float.flush32.0,
        // The upper half must go.
        Kind::Bits16 | Kind::Half => false,
    };
    if s.plain && simple {
        if operand.is_vector() {
            return w.v(operand, 0);
        }
        buffer.0 = [scalar::src32(w, &s.inst, operand); LANES];
        return buffer;
    }
    src_modified(w, s, k, kind, buffer);
    buffer
}

#[inline(never)]
fn src_modified(w: &Wave, s: &Slot, k: usize, kind: Kind, buffer: &mut Lanes) {
    let i = &s.inst;
    let operand = i.src[k];
    let half = matches!(kind, Kind::Bits16 | Kind::Half);
    if operand.is_vector() {
        *buffer = *w.v(operand, 0);
    } else {
        let value = match operand.inline_float() {
            Some(float) if half => u32::from(super::float::half_from_single(float as f32)),
            _ => scalar::src32(w, i, operand),
        };
        buffer.0 = [value; LANES];
    }
    if k == 0 {
        through_dpp(w, i, buffer);
    }
    if i.form == Form::Sdwa && k < 2 {
        let sdwa = i.sdwa();
        let (first, count) = part(sdwa.src_sel[k]);
        for value in &mut buffer.0 {
            let field = *value >> first << (32 - count);
            *value = if sdwa.sext[k] { (field as i32 >> (32 - count)) as u32 } else { field >> (32 - count) };
        }
    }
    if half {
        let shift = if i.form == Form::Vop3 && i.opsel >> k & 1 != 0 { 16 } else { 0 };
        for value in &mut buffer.0 {
            *value = *value >> shift & 0xffff;
        }
    }
    let sign = match kind {
        Kind::Bits | Kind::Bits16 => return,
        Kind::Half => 0x8000,
        Kind::Signed | Kind::Single => 0x8000_0000,
    };
    if i.abs >> k & 1 != 0 {
        buffer.0.iter_mut().for_each(|value| *value &= !sign);
    }
    if i.neg >> k & 1 != 0 {
        buffer.0.iter_mut().for_each(|value| *value ^= sign);
    }
    if kind == Kind::Single && w.float.flush32.0 {
        buffer.0.iter_mut().for_each(|value| *value = flush32(*value));
    }
    if kind == Kind::Half && w.float.flush64.0 {
        buffer.0.iter_mut().for_each(|value| {
            if *value & 0x7c00 == 0 {
                *value &= 0x8000;
            }
        });
    }
}

/// The first source of an instruction, as each lane finds it through DPP, if it has that.
pub(super) fn through_dpp(w: &Wave, i: &Inst, values: &mut Lanes) {
    if i.form != Form::Dpp {
        return;
    }
    let from = values.0;
    let dpp = i.dpp();
    for (lane, to) in values.0.iter_mut().enumerate() {
        *to = dpp_lane(&dpp, lane).filter(|&n| w.exec >> n & 1 != 0).map_or(0, |n| from[n]);
    }
}

/// A denormal becomes a zero of its sign.
#[inline(always)]
pub(super) fn flush32(value: u32) -> u32 {
    if value & 0x7f80_0000 == 0 { value & 0x8000_0000 } else { value }
}

/// A denormal becomes a zero of its sign.
#[inline(always)]
pub(super) fn flush64(value: u64) -> u64 {
    if value & 0x7ff0_0000_0000_0000 == 0 { value & 1 << 63 } else { value }
}

/// First bit and number of bits of a sub-dword selection.
pub(super) fn part(sel: u8) -> (u32, u32) {
    match sel {
        0..=3 => (u32::from(sel) * 8, 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => (0, 32),
    }
}

/// How a 64-bit source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind64 {
    /// As it is; a literal is extended with zeros.
    Bits,
    /// As it is; a literal is extended by its sign.
    Integer,
    /// A double: sign modifiers, denormals flushed; a literal is the high half.
    Double,
}

/// Source `k` of 64 bits.
#[inline(always)]
pub(super) fn src64(w: &Wave, s: &Slot, k: usize, kind: Kind64) -> Lanes64 {
    let operand = s.inst.src[k];
    let mut out = [0; LANES];
    if operand.is_vector() {
        let (low, high) = (w.v(operand, 0), w.v(operand, 1));
        for (out, (low, high)) in out.iter_mut().zip(low.0.iter().zip(&high.0)) {
            *out = u64::from(*low) | u64::from(*high) << 32;
        }
    } else {
        out = [scalar64(w, &s.inst, operand, kind); LANES];
    }
    if !s.plain || kind == Kind64::Double && w.float.flush64.0 {
        modify64(w, s, k, kind, &mut out);
    }
    out
}

fn scalar64(w: &Wave, i: &Inst, operand: Operand, kind: Kind64) -> u64 {
    if operand == Operand::LITERAL && kind == Kind64::Double {
        return u64::from(i.literal) << 32;
    }
    scalar::src64(w, i, operand, kind == Kind64::Integer)
}

#[inline(never)]
fn modify64(w: &Wave, s: &Slot, k: usize, kind: Kind64, values: &mut Lanes64) {
    let i = &s.inst;
    if i.form == Form::Dpp && k == 0 {
        let from = *values;
        let dpp = i.dpp();
        for (lane, to) in values.iter_mut().enumerate() {
            *to = dpp_lane(&dpp, lane).filter(|&n| w.exec >> n & 1 != 0).map_or(0, |n| from[n]);
        }
    }
    if kind != Kind64::Double {
        return;
    }
    for value in values.iter_mut() {
        if i.abs >> k & 1 != 0 {
            *value &= !(1 << 63);
        }
        if i.neg >> k & 1 != 0 {
            *value ^= 1 << 63;
        }
        if w.float.flush64.0 {
            *value = flush64(*value);
        }
    }
}

/// The lane that `lane` reads under a DPP control, if there is one.
fn dpp_lane(dpp: &Dpp, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let count = usize::from(dpp.ctrl & 15);
    match dpp.ctrl {
        0x000..=0x0ff => Some((lane & !3) + usize::from(dpp.ctrl >> (2 * (lane & 3)) & 3)),
        0x101..=0x10f => (at + count < 16).then(|| lane + count),
        0x111..=0x11f => (at >= count).then(|| lane - count),
        0x121..=0x12f => Some(row + (at + 16 - count) % 16),
        0x130 => (lane < 63).then(|| lane + 1),
        0x134 => Some((lane + 1) % 64),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) % 64),
        0x140 => Some(row + 15 - at),
        0x141 => Some((lane & !7) + 7 - (lane & 7)),
        0x142 => row.checked_sub(1),
        0x143 => (lane >= 32).then_some(31),
        0x150..=0x15f => Some(row + count),
        _ => None,
    }
}

/// Whether a DPP control exists.
pub(super) fn dpp_known(ctrl: u16) -> bool {
    matches!(ctrl, 0x000..=0x0ff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f)
        || matches!(ctrl, 0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143 | 0x150..=0x15f)
}

/// The lanes that a DPP instruction writes.
pub(super) fn dpp_mask(w: &Wave, i: &Inst) -> u64 {
    let dpp = i.dpp();
    let writes = |lane: &usize| {
        let lane = *lane;
        let chosen = dpp.row_mask >> (lane / 16) & 1 != 0 && dpp.bank_mask >> (lane % 16 / 4) & 1 != 0;
        chosen && (dpp.bound_ctrl || dpp_lane(&dpp, lane).is_some_and(|n| w.exec >> n & 1 != 0))
    };
    (0..LANES).filter(writes).fold(0, |mask, lane| mask | 1 << lane) & w.exec
}

/// Writes a 32-bit result.
#[inline(always)]
pub(super) fn put32(w: &mut Wave, i: &Inst, out: &Lanes) {
    if i.form == Form::Sdwa {
        return put_sdwa(w, i, out);
    }
    w.put(i.dst, 0, out, w.write_mask);
}

/// Writes a 16-bit result, held in the low bits of `out`. `keeps` says that the instruction leaves the other half alone.
#[inline(always)]
pub(super) fn put16(w: &mut Wave, i: &Inst, out: &mut Lanes, keeps: bool) {
    if i.form == Form::Sdwa {
        return put_sdwa(w, i, out);
    }
    let high = i.form == Form::Vop3 && i.opsel & 8 != 0;
    if high || keeps {
        let old = w.v(i.dst, 0);
        for (out, old) in out.0.iter_mut().zip(&old.0) {
            *out = if high { *out << 16 | old & 0xffff } else { *out & 0xffff | old & 0xffff_0000 };
        }
    }
    w.put(i.dst, 0, out, w.write_mask);
}

/// Writes a 64-bit result.
#[inline(always)]
pub(super) fn put64(w: &mut Wave, i: &Inst, out: &Lanes64) {
    let (mut low, mut high) = (Lanes::ZERO, Lanes::ZERO);
    for (lane, value) in out.iter().enumerate() {
        low.0[lane] = *value as u32;
        high.0[lane] = (*value >> 32) as u32;
    }
    w.put(i.dst, 0, &low, w.write_mask);
    w.put(i.dst, 1, &high, w.write_mask);
}

#[inline(never)]
fn put_sdwa(w: &mut Wave, i: &Inst, out: &Lanes) {
    let sdwa = i.sdwa();
    let (first, count) = part(sdwa.dst_sel);
    if count == 32 {
        return w.put(i.dst, 0, out, w.write_mask);
    }
    let mask = ((1u32 << count) - 1) << first;
    let mut result = *w.v(i.dst, 0);
    for (result, out) in result.0.iter_mut().zip(&out.0) {
        let placed = *out << first & mask;
        *result = match sdwa.dst_unused {
            0 => placed,
            // Sign extension fills above the part; below it are zeros.
            1 => ((*out << (32 - count)) as i32 >> (32 - count) << first) as u32,
            _ => *result & !mask | placed,
        };
    }
    w.put(i.dst, 0, &result, w.write_mask);
}
