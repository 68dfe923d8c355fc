//! What can be counted: AMD's event ids, and what the simulation counts under each.

use super::block::{Block, BlockId};
use crate::contract::ExecStats;

/// How an event's value spreads over the cells of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Each thing that is counted happens in one cell: the sum over all cells is the value.
    Shared,
    /// Every cell sees the same: each reads the value. (Clocks.)
    Each,
}

/// One event of the simulation.
#[derive(Clone, Copy)]
pub struct SimEvent {
    /// AMD's name; `SOFT_…` are the software GPU's own.
    pub name: &'static str,
    /// The block.
    pub block: BlockId,
    /// The event's number in the block.
    pub event: u32,
    /// How it spreads over instances.
    pub spread: Spread,
    /// What the simulation counts, in words.
    pub definition: &'static str,
    /// What one dispatch adds.
    pub of: fn(&ExecStats) -> u64,
}

impl SimEvent {
    /// What cell `cell` of the block reads when the value is `total`.
    pub(super) fn cell(&self, total: u64, cell: u32, block: &Block) -> u64 {
        match self.spread {
            Spread::Each => total,
            Spread::Shared => {
                let cells = u64::from(block.cells());
                total / cells + u64::from(u64::from(cell) < total % cells)
            }
        }
    }
}

impl std::fmt::Debug for SimEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimEvent").field("name", &self.name).field("event", &self.event).finish_non_exhaustive()
    }
}

/// The event with this number, as an index into [`EVENTS`].
pub fn find(block: BlockId, event: u32) -> Option<usize> {
    EVENTS.iter().position(|sim| sim.block == block && sim.event == event)
}

const fn shared(
    name: &'static str,
    block: BlockId,
    event: u32,
    of: fn(&ExecStats) -> u64,
    definition: &'static str,
) -> SimEvent {
    SimEvent { name, block, event, spread: Spread::Shared, definition, of }
}

const fn each(
    name: &'static str,
    block: BlockId,
    event: u32,
    of: fn(&ExecStats) -> u64,
    definition: &'static str,
) -> SimEvent {
    SimEvent { name, block, event, spread: Spread::Each, definition, of }
}

fn vmem(s: &ExecStats) -> u64 {
    s.insts_vmem_rd + s.insts_vmem_wr + s.insts_atomic
}

fn lines(s: &ExecStats) -> u64 {
    s.read_lines + s.write_lines + s.atomic_lines
}

use BlockId as B;

/// Everything that is simulated, in the order of blocks and event numbers. Numbers: AMD's counter definitions for
/// gfx90a.
pub const EVENTS: &[SimEvent] = &[
    each(
        "GRBM_COUNT",
        B::GRBM,
        0,
        |s| s.cycles,
        "simulated cycles: one a wave instruction, one after the other; the clock stands still between dispatches",
    ),
    each("GRBM_GUI_ACTIVE", B::GRBM, 2, |s| s.cycles, "simulated cycles: one a wave instruction, one after the other"),
    shared("SPI_CSN_NUM_THREADGROUPS", B::SPI, 49, |s| s.workgroups, "work-groups started"),
    shared("SPI_CSN_WAVE", B::SPI, 52, |s| s.waves, "waves started"),
    each("SQ_CYCLES", B::SQ, 2, |s| s.cycles, "simulated cycles (see GRBM_COUNT), in each shader engine"),
    each(
        "SQ_BUSY_CYCLES",
        B::SQ,
        3,
        |s| s.cycles,
        "simulated cycles (see GRBM_COUNT), in each shader engine: all are busy while a dispatch runs",
    ),
    shared("SQ_WAVES", B::SQ, 4, |s| s.waves, "waves started"),
    shared("SQ_ITEMS", B::SQ, 14, |s| s.workitems, "work-items started"),
    shared("SQ_INSTS", B::SQ, 25, |s| s.insts, "wave instructions of every class"),
    shared("SQ_INSTS_VALU", B::SQ, 26, |s| s.insts_valu, "vector ALU wave instructions"),
    shared("SQ_INSTS_VALU_MFMA_I8", B::SQ, 42, |s| s.matrix.i8.insts, "matrix instructions on 8-bit integers"),
    shared("SQ_INSTS_VALU_MFMA_F16", B::SQ, 43, |s| s.matrix.f16.insts, "matrix instructions on 16-bit floats"),
    shared("SQ_INSTS_VALU_MFMA_BF16", B::SQ, 44, |s| s.matrix.bf16.insts, "matrix instructions on bfloat16"),
    shared("SQ_INSTS_VALU_MFMA_F32", B::SQ, 45, |s| s.matrix.f32.insts, "matrix instructions on 32-bit floats"),
    shared("SQ_INSTS_VALU_MFMA_F64", B::SQ, 46, |s| s.matrix.f64.insts, "matrix instructions on 64-bit floats"),
    shared(
        "SQ_INSTS_VALU_MFMA_MOPS_I8",
        B::SQ,
        47,
        |s| s.matrix.i8.operations / 512,
        "additions and multiplications of matrix instructions on 8-bit integers, in units of 512",
    ),
    shared(
        "SQ_INSTS_VALU_MFMA_MOPS_F16",
        B::SQ,
        48,
        |s| s.matrix.f16.operations / 512,
        "additions and multiplications of matrix instructions on 16-bit floats, in units of 512",
    ),
    shared(
        "SQ_INSTS_VALU_MFMA_MOPS_BF16",
        B::SQ,
        49,
        |s| s.matrix.bf16.operations / 512,
        "additions and multiplications of matrix instructions on bfloat16, in units of 512",
    ),
    shared(
        "SQ_INSTS_VALU_MFMA_MOPS_F32",
        B::SQ,
        50,
        |s| s.matrix.f32.operations / 512,
        "additions and multiplications of matrix instructions on 32-bit floats, in units of 512",
    ),
    shared(
        "SQ_INSTS_VALU_MFMA_MOPS_F64",
        B::SQ,
        51,
        |s| s.matrix.f64.operations / 512,
        "additions and multiplications of matrix instructions on 64-bit floats, in units of 512",
    ),
    shared("SQ_INSTS_MFMA", B::SQ, 52, |s| s.matrix.insts(), "matrix instructions"),
    shared(
        "SQ_INSTS_VMEM_WR",
        B::SQ,
        53,
        |s| s.insts_vmem_wr,
        "vector memory stores, flat ones too; atomics count in SQ_INSTS_VMEM only",
    ),
    shared(
        "SQ_INSTS_VMEM_RD",
        B::SQ,
        54,
        |s| s.insts_vmem_rd,
        "vector memory loads, flat ones too; atomics count in SQ_INSTS_VMEM only",
    ),
    shared("SQ_INSTS_VMEM", B::SQ, 55, vmem, "vector memory loads, stores and atomics"),
    shared("SQ_INSTS_SALU", B::SQ, 56, |s| s.insts_salu, "scalar ALU wave instructions"),
    shared("SQ_INSTS_SMEM", B::SQ, 57, |s| s.insts_smem, "scalar memory wave instructions"),
    shared("SQ_INSTS_FLAT", B::SQ, 58, |s| s.insts_flat, "flat wave instructions, whichever segment they reach"),
    shared("SQ_INSTS_LDS", B::SQ, 60, |s| s.insts_lds, "LDS wave instructions"),
    shared("SQ_INSTS_BRANCH", B::SQ, 64, |s| s.insts_branch, "branch instructions, taken or not"),
    shared("SQ_INSTS_SENDMSG", B::SQ, 65, |s| s.insts_sendmsg, "message instructions"),
    shared("SQ_WAVE_CYCLES", B::SQ, 74, |s| s.insts, "quad-cycles of waves: one a wave instruction; waves never wait"),
    shared("SQ_ACTIVE_INST_ANY", B::SQ, 96, |s| s.insts, "quad-cycles of issue: one a wave instruction"),
    shared("SQ_ACTIVE_INST_VMEM", B::SQ, 97, vmem, "quad-cycles of issue: one a vector memory instruction"),
    shared("SQ_ACTIVE_INST_LDS", B::SQ, 98, |s| s.insts_lds, "quad-cycles of issue: one an LDS instruction"),
    shared("SQ_ACTIVE_INST_VALU", B::SQ, 99, |s| s.insts_valu, "quad-cycles of issue: one a vector ALU instruction"),
    shared(
        "SQ_ACTIVE_INST_SCA",
        B::SQ,
        100,
        |s| s.insts_salu + s.insts_smem,
        "quad-cycles of issue: one a scalar ALU or scalar memory instruction",
    ),
    shared(
        "SQ_ACTIVE_INST_MISC",
        B::SQ,
        102,
        |s| s.insts_branch + s.insts_sendmsg,
        "quad-cycles of issue: one a branch or message",
    ),
    shared("SQ_ACTIVE_INST_FLAT", B::SQ, 103, |s| s.insts_flat, "quad-cycles of issue: one a flat instruction"),
    shared("SQ_THREAD_CYCLES_VALU", B::SQ, 113, |s| s.valu_lanes, "active lanes, summed over vector ALU instructions"),
    shared(
        "SQ_LDS_BANK_CONFLICT",
        B::SQ,
        121,
        |s| s.lds_bank_conflicts,
        "cycles beyond the first that LDS instructions need, for 32 banks of 4 bytes",
    ),
    shared("TA_TOTAL_WAVEFRONTS", B::TA, 32, vmem, "vector memory wave instructions"),
    shared("TCC_REQ", B::TCC, 3, lines, "64-byte lines that vector memory instructions touch, once an instruction"),
    shared("TCC_READ", B::TCC, 12, |s| s.read_lines, "64-byte lines that loads touch, once an instruction"),
    shared("TCC_WRITE", B::TCC, 13, |s| s.write_lines, "64-byte lines that stores touch, once an instruction"),
    shared("TCC_ATOMIC", B::TCC, 14, |s| s.atomic_lines, "64-byte lines that atomics touch, once an instruction"),
    shared(
        "TCC_EA_WRREQ",
        B::TCC,
        26,
        |s| s.write_lines + s.atomic_lines,
        "64-byte lines that stores and atomics touch, once an instruction: caches keep nothing",
    ),
    shared(
        "TCC_EA_WRREQ_64B",
        B::TCC,
        27,
        |s| s.write_lines + s.atomic_lines,
        "as TCC_EA_WRREQ: every request is one of 64 bytes",
    ),
    shared("TCC_EA_ATOMIC", B::TCC, 36, |s| s.atomic_lines, "64-byte lines that atomics touch, once an instruction"),
    shared(
        "TCC_EA_RDREQ",
        B::TCC,
        38,
        |s| s.read_lines,
        "64-byte lines that loads touch, once an instruction: caches keep nothing",
    ),
    shared("TCC_EA_RDREQ_32B", B::TCC, 39, |_| 0, "always 0: every request is one of 64 bytes"),
    shared(
        "TCP_TOTAL_ACCESSES",
        B::TCP,
        29,
        lines,
        "64-byte lines that vector memory instructions touch, once an instruction",
    ),
    shared("TCP_TOTAL_READ", B::TCP, 30, |s| s.read_lines, "64-byte lines that loads touch, once an instruction"),
    shared("TCP_TOTAL_WRITE", B::TCP, 32, |s| s.write_lines, "64-byte lines that stores touch, once an instruction"),
    shared("TCP_TOTAL_CACHE_ACCESSES", B::TCP, 60, lines, "as TCP_TOTAL_ACCESSES: one tag access a line"),
    shared("TCP_TCC_READ_REQ", B::TCP, 69, |s| s.read_lines, "as TCP_TOTAL_READ: caches keep nothing"),
    shared("TCP_TCC_WRITE_REQ", B::TCP, 70, |s| s.write_lines, "as TCP_TOTAL_WRITE: every store goes to the L2"),
    shared(
        "TD_LOAD_WAVEFRONT",
        B::TD,
        25,
        vmem,
        "vector memory wave instructions: loads, stores and atomics, as AMD defines it",
    ),
    shared("TD_ATOMIC_WAVEFRONT", B::TD, 26, |s| s.insts_atomic, "vector memory atomics"),
    shared("TD_STORE_WAVEFRONT", B::TD, 27, |s| s.insts_vmem_wr, "vector memory stores"),
    shared(
        "SOFT_GLOBAL_READ_BYTES",
        B::SOFT,
        0,
        |s| s.global_read_bytes,
        "bytes that active lanes read from global memory",
    ),
    shared(
        "SOFT_GLOBAL_WRITE_BYTES",
        B::SOFT,
        1,
        |s| s.global_write_bytes,
        "bytes that active lanes write to global memory",
    ),
    shared(
        "SOFT_GLOBAL_ATOMIC_BYTES",
        B::SOFT,
        2,
        |s| s.global_atomic_bytes,
        "bytes that active lanes' global atomics touch",
    ),
    shared("SOFT_LDS_READ_BYTES", B::SOFT, 3, |s| s.lds_read_bytes, "bytes that active lanes read from LDS"),
    shared("SOFT_LDS_WRITE_BYTES", B::SOFT, 4, |s| s.lds_write_bytes, "bytes that active lanes write to LDS"),
    shared("SOFT_INSTS_ATOMIC", B::SOFT, 5, |s| s.insts_atomic, "vector memory atomics, with and without return"),
    shared("SOFT_BARRIERS", B::SOFT, 6, |s| s.barriers, "barriers that waves reach"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique_and_blocks_exist() {
        for (at, event) in EVENTS.iter().enumerate() {
            assert!(Block::find(event.block).is_some(), "{event:?}");
            assert_eq!(find(event.block, event.event), Some(at), "{event:?}");
            assert!(!EVENTS[..at].iter().any(|other| other.name == event.name), "{event:?}");
            assert!(!event.definition.is_empty());
            assert!(event.name.starts_with(Block::find(event.block).expect("block").name), "{event:?}");
        }
    }

    #[test]
    fn cells_sum_to_the_value() {
        for event in EVENTS.iter().filter(|event| event.spread == Spread::Shared) {
            let block = Block::find(event.block).expect("block");
            for total in [0, 1, 7, 103, 104, 105, 1 << 40, (1 << 40) + 77] {
                let sum: u64 = (0..block.cells()).map(|cell| event.cell(total, cell, block)).sum();
                assert_eq!(sum, total, "{event:?}");
            }
        }
    }

    #[test]
    fn cells_never_go_back() {
        let event = &EVENTS[find(BlockId::TCC, 3).expect("TCC_REQ")];
        let block = Block::find(event.block).expect("block");
        for cell in 0..block.cells() {
            let values: Vec<u64> = (0..200).map(|total| event.cell(total, cell, block)).collect();
            assert!(values.is_sorted());
        }
    }
}
