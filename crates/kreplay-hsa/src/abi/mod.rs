//! What the HSA runtime's C interface looks like in memory, declared by hand from its public headers (ROCr 5.2.3's
//! `hsa.h`, `hsa_ext_amd.h`, `amd_hsa_signal.h`; unchanged in ROCm 7). Only what is used here is declared; sizes and
//! offsets are asserted.

mod info;
mod packet;
mod signal;
mod types;

pub(crate) use info::*;
pub(crate) use packet::*;
pub(crate) use signal::*;
pub(crate) use types::*;
