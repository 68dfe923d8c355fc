//! Metrics. Where AMD has a metric of the name, the formula and unit are AMD's.

use super::Metric;
use crate::counters::expression::Expression;

/// Names in expressions that are properties of the device: dies (XCC), shader engines, compute units and SIMDs of all
/// dies, lanes of a wave.
pub(super) const CONSTANTS: &[&str] = &["XCC_NUM", "SE_NUM", "CU_NUM", "SIMD_NUM", "WAVE_SIZE"];

struct Formula {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    /// By chip column, or empty.
    text: [&'static str; 3],
}

const fn formula(
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    text: [&'static str; 3],
) -> Formula {
    Formula { name, unit, description, text }
}

/// The same on gfx90a and gfx942.
const fn cdna(text: &'static str) -> [&'static str; 3] {
    [text, text, ""]
}

const FORMULAS: &[Formula] = &[
    formula("VALUInsts", "instructions/wave", "vector ALU instructions of a wave", ["SQ_INSTS_VALU / SQ_WAVES"; 3]),
    formula("SALUInsts", "instructions/wave", "scalar ALU instructions of a wave", ["SQ_INSTS_SALU / SQ_WAVES"; 3]),
    formula(
        "SFetchInsts",
        "instructions/wave",
        "scalar memory instructions of a wave",
        ["SQ_INSTS_SMEM / SQ_WAVES"; 3],
    ),
    formula("VFetchInsts", "instructions/wave", "vector memory reads of a wave", cdna("SQ_INSTS_VMEM_RD / SQ_WAVES")),
    formula("VWriteInsts", "instructions/wave", "vector memory writes of a wave", cdna("SQ_INSTS_VMEM_WR / SQ_WAVES")),
    formula("LDSInsts", "instructions/wave", "LDS instructions of a wave", ["SQ_INSTS_LDS / SQ_WAVES"; 3]),
    formula("WavesPerGroup", "waves", "waves of a work-group", cdna("SPI_CSN_WAVE / SPI_CSN_NUM_THREADGROUPS")),
    formula("ItemsPerWave", "work-items", "work-items of a wave", cdna("SQ_ITEMS / SQ_WAVES")),
    formula(
        "VALUUtilization",
        "%",
        "lanes that were active in vector ALU instructions",
        cdna("100 * SQ_THREAD_CYCLES_VALU / (SQ_ACTIVE_INST_VALU * WAVE_SIZE)"),
    ),
    formula(
        "VALUBusy",
        "%",
        "time in which a SIMD worked on a vector ALU instruction",
        cdna("100 * SQ_ACTIVE_INST_VALU * 4 / SIMD_NUM / (GRBM_GUI_ACTIVE / XCC_NUM)"),
    ),
    formula(
        "SALUBusy",
        "%",
        "time in which a scalar ALU worked",
        cdna("100 * SQ_INST_CYCLES_SALU * 4 / SIMD_NUM / (GRBM_GUI_ACTIVE / XCC_NUM)"),
    ),
    formula(
        "LDSBankConflict",
        "%",
        "time in which an LDS stood still for bank conflicts",
        [
            "100 * SQ_LDS_BANK_CONFLICT / (GRBM_GUI_ACTIVE / XCC_NUM) / CU_NUM",
            "100 * SQ_LDS_BANK_CONFLICT / (GRBM_GUI_ACTIVE / XCC_NUM) / CU_NUM",
            "",
        ],
    ),
    formula(
        "LDSConflictsPerInst",
        "cycles/instruction",
        "bank conflicts of an LDS instruction",
        cdna("SQ_LDS_BANK_CONFLICT / SQ_INSTS_LDS"),
    ),
    formula(
        "L1AccessesPerInst",
        "accesses/instruction",
        "L1 accesses of a vector memory instruction",
        cdna("TCP_TOTAL_ACCESSES / TA_TOTAL_WAVEFRONTS"),
    ),
    formula(
        "L2CacheHit",
        "%",
        "requests that hit in the L2",
        [
            "100 * TCC_HIT / (TCC_HIT + TCC_MISS)",
            "100 * TCC_HIT / (TCC_HIT + TCC_MISS)",
            "100 * GL2C_HIT / (GL2C_HIT + GL2C_MISS)",
        ],
    ),
    formula(
        "FETCH_SIZE",
        "KiB",
        "read from memory",
        [
            "(TCC_EA_RDREQ_32B * 32 + (TCC_EA_RDREQ - TCC_EA_RDREQ_32B) * 64) / 1024",
            "(TCC_EA0_RDREQ_32B * 32 + (TCC_EA0_RDREQ - TCC_EA0_RDREQ_32B - TCC_BUBBLE) * 64 + TCC_BUBBLE * 128) / 1024",
            "(GL2C_EA_RDREQ_32B * 32 + GL2C_EA_RDREQ_64B * 64 + GL2C_EA_RDREQ_96B * 96 + GL2C_EA_RDREQ_128B * 128) / 1024",
        ],
    ),
    formula(
        "WRITE_SIZE",
        "KiB",
        "written to memory",
        [
            "((TCC_EA_WRREQ - TCC_EA_WRREQ_64B) * 32 + TCC_EA_WRREQ_64B * 64) / 1024",
            "((TCC_EA0_WRREQ - TCC_EA0_WRREQ_64B) * 32 + TCC_EA0_WRREQ_64B * 64) / 1024",
            "((GL2C_MC_WRREQ - GL2C_EA_WRREQ_64B) * 32 + GL2C_EA_WRREQ_64B * 64) / 1024",
        ],
    ),
    formula(
        "ReadLineUse",
        "%",
        "bytes that loads used of the 64-byte lines they touched; only on the software GPU",
        ["100 * SOFT_GLOBAL_READ_BYTES / (TCP_TOTAL_READ * 64)", "", ""],
    ),
    formula(
        "WriteLineUse",
        "%",
        "bytes that stores used of the 64-byte lines they touched; only on the software GPU",
        ["100 * SOFT_GLOBAL_WRITE_BYTES / (TCP_TOTAL_WRITE * 64)", "", ""],
    ),
];

/// The metrics of a chip. Formulas are part of the program, and a test parses every one.
pub(super) fn of(column: usize) -> Vec<Metric> {
    FORMULAS
        .iter()
        .filter(|formula| !formula.text[column].is_empty())
        .filter_map(|formula| {
            let Formula { name, unit, description, text } = *formula;
            let expression = Expression::parse(text[column]).ok()?;
            Some(Metric { name, unit, description, formula: text[column], expression })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_formula_parses() {
        for formula in FORMULAS {
            for text in formula.text.iter().filter(|text| !text.is_empty()) {
                Expression::parse(text).unwrap_or_else(|error| panic!("{}: {error}", formula.name));
            }
        }
        for column in 0..3 {
            let written = FORMULAS.iter().filter(|formula| !formula.text[column].is_empty()).count();
            assert_eq!(of(column).len(), written);
        }
    }
}
