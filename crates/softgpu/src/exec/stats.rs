//! Counting what a dispatch does.

use super::vector::matrix::{Element, Shape};
use crate::contract::ExecStats;
use crate::isa::table::{sopk, sopp};
use crate::isa::{Family, Inst, Segment};

/// What an instruction counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Valu,
    /// A vector ALU instruction too.
    Matrix,
    Salu,
    Smem,
    VmemRead,
    VmemWrite,
    VmemAtomic,
    FlatRead,
    FlatWrite,
    FlatAtomic,
    Lds,
    Branch,
    Message,
    Other,
}

/// Number of classes.
const CLASSES: usize = Class::Other as usize + 1;

impl Class {
    /// The class of an instruction.
    pub(super) fn of(inst: &Inst) -> Class {
        match inst.family {
            Family::Sop1 | Family::Sop2 | Family::Sopc => Class::Salu,
            Family::Sopk => match inst.op {
                sopk::S_CALL_B64 | sopk::S_CBRANCH_I_FORK => Class::Branch,
                _ => Class::Salu,
            },
            Family::Sopp => match inst.op {
                sopp::S_BRANCH
                | sopp::S_CBRANCH_SCC0
                | sopp::S_CBRANCH_SCC1
                | sopp::S_CBRANCH_VCCZ
                | sopp::S_CBRANCH_VCCNZ
                | sopp::S_CBRANCH_EXECZ
                | sopp::S_CBRANCH_EXECNZ => Class::Branch,
                sopp::S_SENDMSG | sopp::S_SENDMSGHALT => Class::Message,
                _ => Class::Other,
            },
            Family::Smem => Class::Smem,
            Family::Vop3p if Shape::of(inst).is_some() => Class::Matrix,
            Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p => Class::Valu,
            Family::Ds => Class::Lds,
            Family::Flat => match (inst.segment == Segment::Flat, inst.op, inst.row.dst) {
                (false, 0x40.., _) => Class::VmemAtomic,
                (true, 0x40.., _) => Class::FlatAtomic,
                (false, _, 0) => Class::VmemWrite,
                (true, _, 0) => Class::FlatWrite,
                (false, _, _) => Class::VmemRead,
                (true, _, _) => Class::FlatRead,
            },
            Family::Mubuf => match inst.op {
                _ if inst.row.dst == 0 => Class::Other,
                0x40.. => Class::VmemAtomic,
                0x04..=0x07 | 0x0c..=0x0f | 0x18..=0x1f | 0x27 => Class::VmemWrite,
                _ => Class::VmemRead,
            },
        }
    }
}

/// The counters of one worker.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) classes: [u64; CLASSES],
    /// All but the numbers of instructions, which [`Counts::total`] fills in.
    pub(super) sums: ExecStats,
}

impl Counts {
    /// One more matrix instruction.
    pub(super) fn matrix(&mut self, shape: &Shape) {
        let matrix = &mut self.sums.matrix;
        let count = match shape.element {
            Element::Byte => &mut matrix.i8,
            Element::Half => &mut matrix.f16,
            Element::Brain => &mut matrix.bf16,
            Element::Single => &mut matrix.f32,
            Element::Double => &mut matrix.f64,
        };
        count.insts += 1;
        count.operations += shape.operations();
    }

    /// The sums with the numbers of instructions filled in.
    pub(super) fn total(&self) -> ExecStats {
        let n = |class: Class| self.classes[class as usize];
        let insts = self.classes.iter().sum();
        ExecStats {
            insts,
            insts_valu: n(Class::Valu) + n(Class::Matrix),
            insts_salu: n(Class::Salu),
            insts_smem: n(Class::Smem),
            insts_vmem_rd: n(Class::VmemRead) + n(Class::FlatRead),
            insts_vmem_wr: n(Class::VmemWrite) + n(Class::FlatWrite),
            insts_flat: n(Class::FlatRead) + n(Class::FlatWrite) + n(Class::FlatAtomic),
            insts_lds: n(Class::Lds),
            insts_atomic: n(Class::VmemAtomic) + n(Class::FlatAtomic),
            insts_branch: n(Class::Branch),
            insts_sendmsg: n(Class::Message),
            cycles: insts,
            ..self.sums
        }
    }
}

/// Adds what another worker counted.
pub(super) fn add(to: &mut ExecStats, from: &ExecStats) {
    macro_rules! fields {
        ($($field:ident)*) => {{
            let ExecStats { matrix, $($field),* } = *from;
            $(to.$field += $field;)*
            to.matrix.add(&matrix);
        }};
    }
    fields!(workgroups waves workitems insts insts_valu insts_salu insts_smem insts_vmem_rd insts_vmem_wr insts_flat
        insts_lds insts_atomic insts_branch insts_sendmsg barriers valu_lanes global_read_bytes global_write_bytes
        global_atomic_bytes read_lines write_lines atomic_lines lds_read_bytes lds_write_bytes lds_bank_conflicts cycles);
}
