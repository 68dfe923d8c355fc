//! What the software GPU offers of a chip's counters, and its own.
//!
//! The software GPU's crate is not needed to run on real hardware, so this is written down here; a test holds it
//! against the software GPU's own table.

use super::chips::Block;
use super::{Counter, Metric};

/// The chip that it is.
pub(super) const CHIP: &str = "gfx90a";

/// The block of the software GPU's own counters.
pub(super) const BLOCK: Block = Block { name: "SOFT", id: 0x534f, slots: 16, instances: 1 };

/// AMD's counters that it simulates.
#[rustfmt::skip]
pub(super) const OFFERED: &[&str] = &[
    "GRBM_COUNT", "GRBM_GUI_ACTIVE",
    "SPI_CSN_NUM_THREADGROUPS", "SPI_CSN_WAVE",
    "SQ_CYCLES", "SQ_BUSY_CYCLES", "SQ_WAVES", "SQ_ITEMS",
    "SQ_INSTS", "SQ_INSTS_VALU",
    "SQ_INSTS_VALU_MFMA_I8", "SQ_INSTS_VALU_MFMA_F16", "SQ_INSTS_VALU_MFMA_BF16", "SQ_INSTS_VALU_MFMA_F32", "SQ_INSTS_VALU_MFMA_F64",
    "SQ_INSTS_VALU_MFMA_MOPS_I8", "SQ_INSTS_VALU_MFMA_MOPS_F16", "SQ_INSTS_VALU_MFMA_MOPS_BF16", "SQ_INSTS_VALU_MFMA_MOPS_F32",
    "SQ_INSTS_VALU_MFMA_MOPS_F64", "SQ_INSTS_MFMA",
    "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM", "SQ_INSTS_SALU",
    "SQ_INSTS_SMEM", "SQ_INSTS_FLAT", "SQ_INSTS_LDS", "SQ_INSTS_BRANCH", "SQ_INSTS_SENDMSG",
    "SQ_WAVE_CYCLES", "SQ_ACTIVE_INST_ANY", "SQ_ACTIVE_INST_VMEM", "SQ_ACTIVE_INST_LDS", "SQ_ACTIVE_INST_VALU",
    "SQ_ACTIVE_INST_SCA", "SQ_ACTIVE_INST_MISC", "SQ_ACTIVE_INST_FLAT", "SQ_THREAD_CYCLES_VALU", "SQ_LDS_BANK_CONFLICT",
    "TA_TOTAL_WAVEFRONTS",
    "TCC_REQ", "TCC_READ", "TCC_WRITE", "TCC_ATOMIC", "TCC_EA_WRREQ", "TCC_EA_WRREQ_64B", "TCC_EA_ATOMIC",
    "TCC_EA_RDREQ", "TCC_EA_RDREQ_32B",
    "TCP_TOTAL_ACCESSES", "TCP_TOTAL_READ", "TCP_TOTAL_WRITE", "TCP_TOTAL_CACHE_ACCESSES", "TCP_TCC_READ_REQ",
    "TCP_TCC_WRITE_REQ",
    "TD_LOAD_WAVEFRONT", "TD_ATOMIC_WAVEFRONT", "TD_STORE_WAVEFRONT",
];

const fn own(name: &'static str, event: u32, unit: &'static str, description: &'static str) -> Counter {
    Counter { name, block: "SOFT", event, unit, description }
}

/// Its own counters, which no hardware has.
pub(super) const OWN: &[Counter] = &[
    own("SOFT_GLOBAL_READ_BYTES", 0, "B", "bytes that active lanes read from global memory"),
    own("SOFT_GLOBAL_WRITE_BYTES", 1, "B", "bytes that active lanes write to global memory"),
    own("SOFT_GLOBAL_ATOMIC_BYTES", 2, "B", "bytes that active lanes' global atomics touch"),
    own("SOFT_LDS_READ_BYTES", 3, "B", "bytes that active lanes read from LDS"),
    own("SOFT_LDS_WRITE_BYTES", 4, "B", "bytes that active lanes write to LDS"),
    own("SOFT_INSTS_ATOMIC", 5, "instructions", "vector memory atomics, with and without return"),
    own("SOFT_BARRIERS", 6, "barriers", "barriers that waves reach"),
];

/// Whether a metric says anything there. Its clock runs as if one SIMD executed all waves one after the other, so
/// shares of the device's time say nothing.
pub(super) fn meaningful(metric: &Metric) -> bool {
    !metric.expression.names().contains(&"GRBM_GUI_ACTIVE")
}
