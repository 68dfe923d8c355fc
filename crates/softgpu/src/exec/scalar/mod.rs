//! Scalar instructions.

mod control;
mod hwreg;
mod smem;
mod sop1;
mod sop2;
mod source;

pub(super) use control::sopp;
pub(super) use hwreg::{PRIVATE_BASE, SHARED_BASE};
pub(super) use smem::smem;
pub(super) use sop1::sop1;
pub(super) use sop2::{sop2, sopc, sopk};
pub(super) use source::{src32, src64};
