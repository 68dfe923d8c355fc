//! Scalar sources: registers, constants and special values.

use super::hwreg::{PRIVATE_BASE, SHARED_BASE};
use crate::exec::wave::Wave;
use crate::isa::{Inst, Operand};

/// A constant as a 32-bit operand; `None` for a register.
#[inline]
pub(super) fn constant32(wave: &Wave, inst: &Inst, operand: Operand) -> Option<u32> {
    if let Some(integer) = operand.inline_integer() {
        return Some(integer as u32);
    }
    if let Some(float) = operand.inline_float() {
        return Some((float as f32).to_bits());
    }
    Some(match operand.0 {
        235 | 236 => (special(operand.0) >> 32) as u32,
        237 | 238 => (special(operand.0) >> 32) as u32,
        251 => u32::from(wave.vcc() == 0),
        252 => u32::from(wave.exec == 0),
        253 => u32::from(wave.scc),
        255 => inst.literal,
        _ => return None,
    })
}

/// A constant as a 64-bit operand; `None` for a register. A literal is extended by sign where `signed` is set; as a
/// double's operand it is the high half, which the caller sees to.
#[inline]
pub(super) fn constant64(wave: &Wave, inst: &Inst, operand: Operand, signed: bool) -> Option<u64> {
    if let Some(integer) = operand.inline_integer() {
        return Some(i64::from(integer) as u64);
    }
    if let Some(float) = operand.inline_float() {
        return Some(float.to_bits());
    }
    Some(match operand.0 {
        235..=238 => special(operand.0),
        255 if signed => i64::from(inst.literal as i32) as u64,
        _ => u64::from(constant32(wave, inst, operand)?),
    })
}

/// Apertures: base and last address of LDS and scratch among flat addresses.
fn special(number: u16) -> u64 {
    match number {
        235 => SHARED_BASE,
        236 => SHARED_BASE | 0xffff_ffff,
        237 => PRIVATE_BASE,
        _ => PRIVATE_BASE | 0xffff_ffff,
    }
}

/// Source `operand` as 32 bits.
#[inline(always)]
pub(in crate::exec) fn src32(wave: &Wave, inst: &Inst, operand: Operand) -> u32 {
    if operand.0 < 128 { wave.s(operand.0) } else { constant32(wave, inst, operand).unwrap_or(0) }
}

/// Source `operand` as 64 bits.
#[inline(always)]
pub(in crate::exec) fn src64(wave: &Wave, inst: &Inst, operand: Operand, signed: bool) -> u64 {
    if operand.0 < 128 { wave.s64(operand.0) } else { constant64(wave, inst, operand, signed).unwrap_or(0) }
}
