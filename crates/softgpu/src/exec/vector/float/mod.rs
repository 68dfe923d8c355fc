//! Floating-point numbers: halves, rounding modes, output modifiers, and the functions of the transcendental unit.

mod division;
mod finish;
mod half;
mod preop;
mod soft;
mod special;
mod transcendental;

pub(in crate::exec) use half::{half_from_single, half_to_single};

pub(super) use division::{div_fixup32, div_fixup64, div_scale32, div_scale64};
pub(super) use finish::{finish_double, finish_half, finish_one_half, finish_single};
pub(super) use half::{half_from_double, half_round};
pub(super) use preop::trig_preop;
pub(super) use soft::{Format, Unpacked, fma, from_integer, narrow};
pub(super) use special::*;
pub(super) use transcendental::*;
