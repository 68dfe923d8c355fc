//! A decoded instruction.

use super::Operand;
use super::table::Row;

/// Which opcode space an instruction belongs to. An instruction of VOP1, VOP2 or VOPC stays in its family when it is
/// written in VOP3, SDWA or DPP form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names of the encodings
pub enum Family {
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    Ds,
    Flat,
    Mubuf,
}

impl Family {
    /// All of them, in the order of the declaration.
    pub const ALL: [Family; 14] = [
        Family::Sop1,
        Family::Sop2,
        Family::Sopk,
        Family::Sopc,
        Family::Sopp,
        Family::Smem,
        Family::Vop1,
        Family::Vop2,
        Family::Vopc,
        Family::Vop3,
        Family::Vop3p,
        Family::Ds,
        Family::Flat,
        Family::Mubuf,
    ];
}

/// How a vector ALU instruction is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The encoding's own form.
    Plain,
    /// VOP3.
    Vop3,
    /// Sub-dword addressing.
    Sdwa,
    /// Data-parallel primitives: the first source comes from other lanes.
    Dpp,
}

/// Which memory a FLAT instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// By address: global, LDS or scratch.
    Flat,
    /// The lane's private memory.
    Scratch,
    /// Global memory.
    Global,
}

/// Sub-dword selections of an SDWA instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdwa {
    /// Which part of the destination is written: 0–3 a byte, 4–5 a word, 6 the dword.
    pub dst_sel: u8,
    /// What happens to the rest: 0 zero, 1 sign extension, 2 kept.
    pub dst_unused: u8,
    /// Which part of each source is read.
    pub src_sel: [u8; 2],
    /// Whether each source is sign-extended.
    pub sext: [bool; 2],
}

/// Lane selection of a DPP instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dpp {
    /// The control code.
    pub ctrl: u16,
    /// Whether lanes without a source read zero (else they keep their old value).
    pub bound_ctrl: bool,
    /// Which banks of four lanes within a row are written.
    pub bank_mask: u8,
    /// Which rows of sixteen lanes are written.
    pub row_mask: u8,
}

/// A decoded instruction. Fields that its encoding does not have hold zero, false or [`Operand::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Opcode space.
    pub family: Family,
    /// How a vector instruction is written.
    pub form: Form,
    /// Opcode within the family.
    pub op: u16,
    /// Size in bytes: 4 or 8.
    pub bytes: u8,
    /// The instruction's words; the second is zero where there is none.
    pub words: [u32; 2],
    /// Name and widths.
    pub row: &'static Row,
    /// Destination.
    pub dst: Operand,
    /// Scalar destination of a vector instruction (carry, comparison).
    pub sdst: Operand,
    /// Sources. Memory instructions: address, data, second data or scalar offset.
    pub src: [Operand; 3],
    /// The literal, where a source or the instruction has one.
    pub literal: u32,
    /// Immediate: branch distance, offset, wait counts.
    pub imm: i32,
    /// Which sources are negated (VOP3P: the low halves).
    pub neg: u8,
    /// Which sources are taken absolute (VOP3P: negated high halves).
    pub abs: u8,
    /// VOP3's and VOP3P's op_sel; bit 3 is the destination.
    pub opsel: u8,
    /// VOP3P's op_sel_hi.
    pub opsel_hi: u8,
    /// Output multiplier: 0 none, 1 times 2, 2 times 4, 3 half.
    pub omod: u8,
    /// Whether the result is clamped.
    pub clamp: bool,
    /// FLAT's segment.
    pub segment: Segment,
    /// Memory: globally coherent (atomics: return the old value).
    pub glc: bool,
    /// Memory: system level coherent.
    pub slc: bool,
    /// Memory: system coherence on gfx90a.
    pub scc: bool,
    /// MUBUF: offset from a VGPR.
    pub offen: bool,
    /// MUBUF: index from a VGPR.
    pub idxen: bool,
    /// DS: global data share; FLAT and MUBUF: load to LDS.
    pub lds_or_gds: bool,
}

impl Inst {
    /// The mnemonic without an encoding suffix.
    pub fn mnemonic(&self) -> String {
        let name = self.row.name.to_ascii_lowercase();
        match (self.family, self.segment) {
            (Family::Flat, Segment::Flat) => format!("flat_{name}"),
            (Family::Flat, Segment::Global) => format!("global_{name}"),
            (Family::Flat, Segment::Scratch) => format!("scratch_{name}"),
            _ => name,
        }
    }

    /// The sub-dword selections of an SDWA instruction; meaningless for others.
    pub fn sdwa(&self) -> Sdwa {
        let word = self.words[1];
        let compare = self.family == Family::Vopc;
        Sdwa {
            dst_sel: if compare { 6 } else { (word >> 8 & 7) as u8 },
            dst_unused: if compare { 2 } else { (word >> 11 & 3) as u8 },
            src_sel: [(word >> 16 & 7) as u8, (word >> 24 & 7) as u8],
            sext: [word >> 19 & 1 != 0, word >> 27 & 1 != 0],
        }
    }

    /// The lane selection of a DPP instruction; meaningless for others.
    pub fn dpp(&self) -> Dpp {
        let word = self.words[1];
        Dpp {
            ctrl: (word >> 8 & 0x1ff) as u16,
            bound_ctrl: word >> 19 & 1 != 0,
            bank_mask: (word >> 24 & 15) as u8,
            row_mask: (word >> 28 & 15) as u8,
        }
    }
}
