//! Vector ALU instructions.
//!
//! Each works on whole registers: sources are read into arrays of 64 lanes, the operation runs over all of them in a loop
//! that the compiler turns into SIMD code, and the lanes of EXEC are written.

// A lane's number indexes several arrays of lanes at once.
#![allow(clippy::needless_range_loop)]

mod arith;
mod compare;
mod cross;
mod division;
mod dot;
mod float;
mod lanes;
pub(super) mod matrix;
mod packed;
mod source;
mod vop1;
mod vop2;
mod vop3;

pub(super) use float::{half_from_single, half_to_single};

use super::code::Slot;
use super::step::Stop;
use super::wave::Wave;
use crate::isa::{Family, Form, Operand};

/// Runs a vector ALU instruction.
#[inline(always)]
pub(super) fn execute(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    if w.gpr_index != 0 {
        return execute_indexed(w, s);
    }
    execute_plain(w, s)
}

#[inline(always)]
fn execute_plain(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    w.write_mask = w.exec;
    if s.inst.form == Form::Dpp {
        if !source::dpp_known(s.inst.dpp().ctrl) {
            return Err(Stop::Unsupported("this DPP control"));
        }
        w.write_mask = source::dpp_mask(w, &s.inst);
    }
    match s.inst.family {
        Family::Vop2 => vop2::execute(w, s),
        Family::Vop1 => vop1::execute(w, s),
        Family::Vopc => compare::execute(w, s),
        Family::Vop3 => vop3::execute(w, s),
        _ => packed::execute(w, s),
    }
}

/// With index register mode on, M0's low byte is added to the numbers of the chosen vector operands.
#[cold]
#[inline(never)]
fn execute_indexed(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let index = w.m0() as u16 & 0xff;
    let mut inst = s.inst;
    let move_by = |operand: &mut Operand| {
        if (256..512).contains(&operand.0) {
            operand.0 += index;
            if operand.0 >= 512 {
                return Err(Stop::Unsupported("a register index out of range"));
            }
        }
        Ok(())
    };
    for k in 0..3 {
        if w.gpr_index >> k & 1 != 0 {
            move_by(&mut inst.src[k])?;
        }
    }
    if w.gpr_index & 8 != 0 {
        move_by(&mut inst.dst)?;
    }
    execute_plain(w, &Slot { inst, class: s.class, plain: s.plain })
}
