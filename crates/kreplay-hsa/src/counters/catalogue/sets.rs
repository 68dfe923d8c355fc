//! Sets: names for what is usually asked together. A member that a chip does not have is left out.

use super::{Counter, Metric, Set};

const SETS: &[(&str, &str, &[&str])] = &[
    (
        "basic",
        "waves, instructions by class, time and L2 requests, in one pass",
        &[
            "SQ_WAVES",
            "SQ_BUSY_CYCLES",
            "SQ_INSTS_VALU",
            "SQ_INSTS_SALU",
            "SQ_INSTS_SMEM",
            "SQ_INSTS_LDS",
            "SQ_INSTS_VMEM_RD",
            "SQ_INSTS_VMEM_WR",
            "GRBM_COUNT",
            "GRBM_GUI_ACTIVE",
            "TCC_REQ",
            "TCC_READ",
            "TCC_WRITE",
            "TCC_ATOMIC",
            "GL2C_HIT",
            "GL2C_MISS",
        ],
    ),
    (
        "compute",
        "what the SIMDs did, and how well their lanes were used",
        &[
            "SQ_WAVES",
            "SQ_ITEMS",
            "SQ_INSTS",
            "SQ_INSTS_VALU",
            "SQ_INSTS_SALU",
            "SQ_INSTS_SMEM",
            "SQ_INSTS_BRANCH",
            "SQ_INSTS_MFMA",
            "SQ_WAVE_CYCLES",
            "SQ_ACTIVE_INST_ANY",
            "SQ_ACTIVE_INST_VALU",
            "SQ_ACTIVE_INST_SCA",
            "SQ_ACTIVE_INST_MISC",
            "SQ_THREAD_CYCLES_VALU",
            "SQ_WAIT_ANY",
            "SQ_WAIT_INST_ANY",
            "VALUInsts",
            "SALUInsts",
            "VALUUtilization",
            "VALUBusy",
            "SALUBusy",
        ],
    ),
    (
        "memory",
        "vector memory from the instruction through L1 and L2 to memory",
        &[
            "SQ_INSTS_VMEM_RD",
            "SQ_INSTS_VMEM_WR",
            "SQ_INSTS_VMEM",
            "SQ_INSTS_FLAT",
            "TA_TOTAL_WAVEFRONTS",
            "TD_LOAD_WAVEFRONT",
            "TD_STORE_WAVEFRONT",
            "TD_ATOMIC_WAVEFRONT",
            "TCP_TOTAL_ACCESSES",
            "TCP_TOTAL_READ",
            "TCP_TOTAL_WRITE",
            "TCP_TCC_READ_REQ",
            "TCP_TCC_WRITE_REQ",
            "TCP_PENDING_STALL_CYCLES",
            "TCC_REQ",
            "TCC_READ",
            "TCC_WRITE",
            "TCC_ATOMIC",
            "L1AccessesPerInst",
            "L2CacheHit",
            "FETCH_SIZE",
            "WRITE_SIZE",
        ],
    ),
    (
        "traffic",
        "bytes between L2 and memory; on the software GPU also the bytes that lanes asked for",
        &[
            "FETCH_SIZE",
            "WRITE_SIZE",
            "SOFT_GLOBAL_READ_BYTES",
            "SOFT_GLOBAL_WRITE_BYTES",
            "SOFT_GLOBAL_ATOMIC_BYTES",
            "ReadLineUse",
            "WriteLineUse",
        ],
    ),
    (
        "lds",
        "the local data share",
        &[
            "SQ_INSTS_LDS",
            "SQ_ACTIVE_INST_LDS",
            "SQ_WAIT_INST_LDS",
            "SQ_LDS_BANK_CONFLICT",
            "SQ_LDS_ADDR_CONFLICT",
            "SQ_LDS_UNALIGNED_STALL",
            "SQ_LDS_IDX_ACTIVE",
            "SQC_LDS_BANK_CONFLICT",
            "SQC_LDS_IDX_ACTIVE",
            "SOFT_LDS_READ_BYTES",
            "SOFT_LDS_WRITE_BYTES",
            "SOFT_BARRIERS",
            "LDSInsts",
            "LDSConflictsPerInst",
            "LDSBankConflict",
        ],
    ),
    (
        "launch",
        "work-groups, waves and work-items, and what kept waves from starting",
        &[
            "SPI_CSN_NUM_THREADGROUPS",
            "SPI_CSN_WAVE",
            "SPI_CSN_BUSY",
            "SQ_WAVES",
            "SQ_ITEMS",
            "SPI_RA_REQ_NO_ALLOC_CSN",
            "SPI_RA_WAVE_SIMD_FULL_CSN",
            "SPI_RA_VGPR_SIMD_FULL_CSN",
            "SPI_RA_LDS_CU_FULL_CSN",
            "SPI_RA_TMP_STALL_CSN",
            "WavesPerGroup",
            "ItemsPerWave",
        ],
    ),
    (
        "flops",
        "floating point operations by width and kind",
        &[
            "SQ_INSTS_VALU_ADD_F16",
            "SQ_INSTS_VALU_MUL_F16",
            "SQ_INSTS_VALU_FMA_F16",
            "SQ_INSTS_VALU_TRANS_F16",
            "SQ_INSTS_VALU_ADD_F32",
            "SQ_INSTS_VALU_MUL_F32",
            "SQ_INSTS_VALU_FMA_F32",
            "SQ_INSTS_VALU_TRANS_F32",
            "SQ_INSTS_VALU_ADD_F64",
            "SQ_INSTS_VALU_MUL_F64",
            "SQ_INSTS_VALU_FMA_F64",
            "SQ_INSTS_VALU_TRANS_F64",
            "SQ_INSTS_VALU_MFMA_MOPS_I8",
            "SQ_INSTS_VALU_MFMA_MOPS_F16",
            "SQ_INSTS_VALU_MFMA_MOPS_BF16",
            "SQ_INSTS_VALU_MFMA_MOPS_F32",
            "SQ_INSTS_VALU_MFMA_MOPS_F64",
        ],
    ),
];

/// The sets with the members that are there; empty ones are left out. `all` holds everything.
pub(super) fn of(counters: &[Counter], metrics: &[Metric]) -> Vec<Set> {
    let all: Vec<&'static str> =
        counters.iter().map(|counter| counter.name).chain(metrics.iter().map(|metric| metric.name)).collect();
    let named = SETS.iter().map(|&(name, description, members)| Set {
        name,
        description,
        members: members.iter().copied().filter(|member| all.contains(member)).collect(),
    });
    let mut sets: Vec<Set> = named.collect();
    sets.push(Set { name: "all", description: "every counter and metric there is", members: all.clone() });
    sets.retain(|set| !set.members.is_empty());
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Catalogue;

    /// A member that no chip has is a typing error.
    #[test]
    fn every_member_exists_somewhere() {
        let catalogues: Vec<Catalogue> = Catalogue::chips()
            .flat_map(|chip| [false, true].into_iter().filter_map(|simulated| Catalogue::of(chip, simulated)))
            .collect();
        for (set, _, members) in SETS {
            for member in *members {
                let known = catalogues.iter().any(|c| c.counter(member).is_some() || c.metric(member).is_some());
                assert!(known, "{set}: {member}");
            }
        }
    }
}
