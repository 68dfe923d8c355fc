//! From dwords to [`Inst`].
//!
//! Source of the bit layouts: AMD's "CDNA 2" instruction set manual, chapter "Microcode Formats".

mod memory;

use super::table::{self, Row, sop1, sopk, vop1, vop2, vop3, vop3p};
use super::{Family, Form, Inst, Operand, Segment};

/// Why words are not an instruction of this chip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The instruction needs a second dword and there is none.
    #[error("the instruction {0:#010x} is cut off: its second word is missing")]
    Truncated(u32),
    /// No instruction of the encoding has this opcode, or the encoding is not supported.
    #[error("{encoding} opcode {op:#x}")]
    Unknown {
        /// The encoding's name.
        encoding: &'static str,
        /// The opcode.
        op: u32,
    },
}

/// A bit field.
fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// A single bit.
fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 != 0
}

/// A source by its 9-bit number.
fn source(number: u32) -> Operand {
    Operand(number as u16 & 0x1ff)
}

/// Decodes the instruction at the start of `words`.
///
/// # Errors
/// [`DecodeError`] when `words` is cut off, or is no instruction of a gfx90a compute program.
pub fn decode(words: &[u32]) -> Result<Inst, DecodeError> {
    let Some(&w) = words.first() else { return Err(DecodeError::Truncated(0)) };
    let inst = by_encoding(w, words.get(1).copied())?;
    match inst.src.into_iter().find(|operand| !operand.is_none() && !operand.exists()) {
        Some(operand) => {
            Err(DecodeError::Unknown { encoding: "an instruction with reserved operand", op: operand.0.into() })
        }
        None => Ok(inst),
    }
}

fn by_encoding(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    match w >> 30 {
        0b10 => scalar(w, second),
        0b11 => wide(w, second),
        _ => match bits(w, 25, 6) {
            0x3f => vop1(w, second),
            0x3e => vopc(w, second),
            _ => vop2(w, second),
        },
    }
}

/// An instruction with nothing filled in but its opcode.
fn blank(family: Family, encoding: &'static str, op: u32, w: u32) -> Result<Inst, DecodeError> {
    let row: &'static Row = table::row(family, op as u16).ok_or(DecodeError::Unknown { encoding, op })?;
    Ok(Inst {
        family,
        form: Form::Plain,
        op: op as u16,
        bytes: 4,
        words: [w, 0],
        row,
        dst: Operand::NONE,
        sdst: Operand::NONE,
        src: [Operand::NONE; 3],
        literal: 0,
        imm: 0,
        neg: 0,
        abs: 0,
        opsel: 0,
        opsel_hi: 0,
        omod: 0,
        clamp: false,
        segment: Segment::Flat,
        glc: false,
        slc: false,
        scc: false,
        offen: false,
        idxen: false,
        lds_or_gds: false,
    })
}

/// Adds the second word.
fn extend(inst: &mut Inst, second: Option<u32>) -> Result<u32, DecodeError> {
    let word = second.ok_or(DecodeError::Truncated(inst.words[0]))?;
    inst.bytes = 8;
    inst.words[1] = word;
    Ok(word)
}

/// Takes the second word as a literal where a source asks for one.
fn literal(inst: &mut Inst, second: Option<u32>) -> Result<(), DecodeError> {
    if inst.src.contains(&Operand::LITERAL) {
        inst.literal = extend(inst, second)?;
    }
    Ok(())
}

fn scalar(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst;
    if bits(w, 28, 2) == 0b11 && bits(w, 23, 5) >= 0x1d {
        match bits(w, 23, 5) {
            0x1d => {
                inst = blank(Family::Sop1, "SOP1", bits(w, 8, 8), w)?;
                if inst.row.dst != 0 || inst.op == sop1::S_SET_GPR_IDX_IDX {
                    inst.dst = Operand::scalar(bits(w, 16, 7));
                }
                if inst.row.src[0] != 0 {
                    inst.src[0] = source(bits(w, 0, 8));
                }
            }
            0x1e => {
                inst = blank(Family::Sopc, "SOPC", bits(w, 16, 7), w)?;
                inst.src[0] = source(bits(w, 0, 8));
                inst.src[1] = source(bits(w, 8, 8));
                if inst.row.src[1] == 0 {
                    inst.imm = bits(w, 8, 8) as i32;
                    inst.src[1] = Operand::NONE;
                }
            }
            _ => {
                inst = blank(Family::Sopp, "SOPP", bits(w, 16, 7), w)?;
                inst.imm = i32::from(w as u16 as i16);
                return Ok(inst);
            }
        }
    } else if bits(w, 28, 2) == 0b11 {
        inst = blank(Family::Sopk, "SOPK", bits(w, 23, 5), w)?;
        inst.imm = i32::from(w as u16 as i16);
        inst.dst = Operand::scalar(bits(w, 16, 7));
        if inst.op == sopk::S_SETREG_IMM32_B32 {
            inst.dst = Operand::NONE;
            inst.literal = extend(&mut inst, second)?;
        }
        return Ok(inst);
    } else {
        inst = blank(Family::Sop2, "SOP2", bits(w, 23, 7), w)?;
        if inst.row.dst != 0 {
            inst.dst = Operand::scalar(bits(w, 16, 7));
        }
        inst.src[0] = source(bits(w, 0, 8));
        inst.src[1] = source(bits(w, 8, 8));
    }
    literal(&mut inst, second)?;
    Ok(inst)
}

fn vop1(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Vop1, "VOP1", 0x140 + bits(w, 9, 8), w)?;
    if inst.row.dst != 0 {
        inst.dst = if inst.row.dst < 0 { Operand::scalar(bits(w, 17, 8)) } else { Operand::vector(bits(w, 17, 8)) };
    }
    if inst.row.src[0] != 0 {
        inst.src[0] = source(bits(w, 0, 9));
        short_form(&mut inst, second)?;
    }
    if inst.op == vop1::V_ACCVGPR_MOV_B32 {
        inst.dst = Operand::accumulation(bits(w, 17, 8));
        inst.src[0] = Operand::accumulation(bits(w, 0, 8));
    }
    Ok(inst)
}

fn vop2(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Vop2, "VOP2", 0x100 + bits(w, 25, 6), w)?;
    inst.dst = Operand::vector(bits(w, 17, 8));
    inst.src[0] = source(bits(w, 0, 9));
    inst.src[1] = Operand::vector(bits(w, 9, 8));
    match inst.op {
        vop2::V_ADD_CO_U32 | vop2::V_SUB_CO_U32 | vop2::V_SUBREV_CO_U32 => inst.sdst = Operand::VCC,
        vop2::V_ADDC_CO_U32 | vop2::V_SUBB_CO_U32 | vop2::V_SUBBREV_CO_U32 => {
            inst.sdst = Operand::VCC;
            inst.src[2] = Operand::VCC;
        }
        vop2::V_CNDMASK_B32 => inst.src[2] = Operand::VCC,
        vop2::V_MADMK_F32 | vop2::V_MADMK_F16 => {
            inst.src[2] = inst.src[1];
            inst.src[1] = Operand::LITERAL;
            return literal(&mut inst, second).map(|()| inst);
        }
        vop2::V_MADAK_F32 | vop2::V_MADAK_F16 => {
            inst.src[2] = Operand::LITERAL;
            return literal(&mut inst, second).map(|()| inst);
        }
        _ => {}
    }
    short_form(&mut inst, second)?;
    Ok(inst)
}

fn vopc(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Vopc, "VOPC", bits(w, 17, 8), w)?;
    inst.sdst = Operand::VCC;
    inst.src[0] = source(bits(w, 0, 9));
    inst.src[1] = Operand::vector(bits(w, 9, 8));
    short_form(&mut inst, second)?;
    Ok(inst)
}

/// The second word of VOP1, VOP2 and VOPC: a literal, SDWA or DPP.
fn short_form(inst: &mut Inst, second: Option<u32>) -> Result<(), DecodeError> {
    match inst.src[0].0 {
        249 => {
            let word = extend(inst, second)?;
            inst.form = Form::Sdwa;
            inst.src[0] = if bit(word, 23) { source(bits(word, 0, 8)) } else { Operand::vector(bits(word, 0, 8)) };
            if bit(word, 31) && !inst.src[1].is_none() {
                inst.src[1] = source(u32::from(inst.src[1].0) & 0xff);
            }
            inst.neg = (bits(word, 20, 1) | bits(word, 28, 1) << 1) as u8;
            inst.abs = (bits(word, 21, 1) | bits(word, 29, 1) << 1) as u8;
            if inst.family == Family::Vopc {
                if bit(word, 15) {
                    inst.sdst = Operand::scalar(bits(word, 8, 7));
                }
            } else {
                inst.clamp = bit(word, 13);
                inst.omod = bits(word, 14, 2) as u8;
            }
            // Neither form has room for a literal.
            if inst.src[..2].contains(&Operand::LITERAL) {
                return Err(DecodeError::Unknown { encoding: "SDWA with a literal", op: inst.op.into() });
            }
        }
        250 => {
            let word = extend(inst, second)?;
            inst.form = Form::Dpp;
            inst.src[0] = Operand::vector(bits(word, 0, 8));
            inst.neg = (bits(word, 20, 1) | bits(word, 22, 1) << 1) as u8;
            inst.abs = (bits(word, 21, 1) | bits(word, 23, 1) << 1) as u8;
        }
        _ => literal(inst, second)?,
    }
    Ok(())
}

/// The encodings of two words.
fn wide(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    match bits(w, 26, 6) {
        0b110000 => memory::smem(w, second),
        0b110100 if bits(w, 23, 3) == 0b111 => vop3p(w, second),
        0b110100 => vop3(w, second),
        0b110110 => memory::ds(w, second),
        0b110111 => memory::flat(w, second),
        0b111000 => memory::mubuf(w, second),
        0b110001 => Err(DecodeError::Unknown { encoding: "EXP (export)", op: 0 }),
        0b110101 => Err(DecodeError::Unknown { encoding: "VINTRP (interpolation)", op: bits(w, 16, 2) }),
        0b111010 => Err(DecodeError::Unknown { encoding: "MTBUF (typed buffer)", op: bits(w, 15, 4) }),
        0b111100 => Err(DecodeError::Unknown { encoding: "MIMG (image)", op: bits(w, 18, 7) }),
        other => Err(DecodeError::Unknown { encoding: "encoding", op: other }),
    }
}

/// The family of a number in VOP3's opcode space.
fn vop3_family(op: u32) -> Family {
    match op {
        0..0x100 => Family::Vopc,
        0x100..0x140 => Family::Vop2,
        0x140..0x1c0 => Family::Vop1,
        _ => Family::Vop3,
    }
}

fn vop3(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let op = bits(w, 16, 10);
    let family = vop3_family(op);
    let mut inst = blank(family, "VOP3", op, w)?;
    let word = extend(&mut inst, second)?;
    inst.form = Form::Vop3;
    inst.clamp = bit(w, 15);
    inst.omod = bits(word, 27, 2) as u8;
    inst.neg = bits(word, 29, 3) as u8;
    let dst = bits(w, 0, 8);
    match inst.row.dst {
        0 => {}
        1.. => inst.dst = Operand::vector(dst),
        _ if family == Family::Vopc => inst.sdst = Operand::scalar(dst),
        _ => inst.dst = Operand::scalar(dst),
    }
    let carries = [vop2::V_ADD_CO_U32, vop2::V_SUB_CO_U32, vop2::V_SUBREV_CO_U32, vop2::V_ADDC_CO_U32]
        .into_iter()
        .chain([vop2::V_SUBB_CO_U32, vop2::V_SUBBREV_CO_U32, vop3::V_DIV_SCALE_F32, vop3::V_DIV_SCALE_F64])
        .chain([vop3::V_MAD_U64_U32, vop3::V_MAD_I64_I32]);
    if carries.into_iter().any(|with_carry| with_carry == inst.op) {
        inst.sdst = Operand::scalar(bits(w, 8, 7));
    } else {
        inst.abs = bits(w, 8, 3) as u8;
        inst.opsel = bits(w, 11, 4) as u8;
    }
    for (k, field) in [0, 9, 18].into_iter().enumerate() {
        if inst.row.src[k] != 0 {
            inst.src[k] = source(bits(word, field, 9));
        }
    }
    no_literal(inst, "VOP3")
}

fn vop3p(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Vop3p, "VOP3P", bits(w, 16, 7), w)?;
    let word = extend(&mut inst, second)?;
    inst.form = Form::Vop3;
    inst.clamp = bit(w, 15);
    inst.dst = Operand::vector(bits(w, 0, 8));
    for (k, field) in [0, 9, 18].into_iter().enumerate() {
        if inst.row.src[k] != 0 {
            inst.src[k] = source(bits(word, field, 9));
        }
    }
    match inst.op {
        vop3p::V_ACCVGPR_READ_B32 => inst.src[0] = Operand::accumulation(bits(word, 0, 8)),
        vop3p::V_ACCVGPR_WRITE_B32 => inst.dst = Operand::accumulation(bits(w, 0, 8)),
        // Matrix instructions: the fields hold broadcast controls, and each operand has a bit for accumulation registers.
        0x40.. => {
            inst.abs = bits(w, 8, 3) as u8;
            inst.neg = bits(word, 29, 3) as u8;
            inst.opsel = bits(w, 11, 4) as u8;
            inst.clamp = false;
            inst.dst = Operand::vector_or_acc(bits(w, 0, 8), bit(w, 15));
            for (k, acc) in [bit(word, 27), bit(word, 28), bit(w, 15)].into_iter().enumerate() {
                if inst.src[k].is_vector() && acc {
                    inst.src[k] = Operand::accumulation(u32::from(inst.src[k].0) & 0xff);
                }
            }
        }
        _ => {
            inst.abs = bits(w, 8, 3) as u8;
            inst.neg = bits(word, 29, 3) as u8;
            inst.opsel = bits(w, 11, 3) as u8;
            inst.opsel_hi = (bits(word, 27, 2) | bits(w, 14, 1) << 2) as u8;
        }
    }
    no_literal(inst, "VOP3P")
}

/// VOP3 has no room for a literal, SDWA or DPP.
fn no_literal(inst: Inst, encoding: &'static str) -> Result<Inst, DecodeError> {
    if inst.src.iter().any(|s| matches!(s.0, 249 | 250 | 255)) {
        return Err(DecodeError::Unknown { encoding, op: inst.op.into() });
    }
    Ok(inst)
}
