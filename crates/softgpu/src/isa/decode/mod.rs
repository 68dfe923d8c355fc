//! From dwords to [`Inst`].
//!
//! Source of the bit layouts: AMD's "CDNA 2" instruction set manual, chapter "Microcode Formats".

mod memory;
mod scalar;
mod short_vector;
mod vop3;

use super::table::{self, Row};
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
        0b10 => scalar::scalar(w, second),
        0b11 => wide(w, second),
        _ => match bits(w, 25, 6) {
            0x3f => short_vector::vop1(w, second),
            0x3e => short_vector::vopc(w, second),
            _ => short_vector::vop2(w, second),
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

/// The encodings of two words.
fn wide(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    match bits(w, 26, 6) {
        0b110000 => memory::smem(w, second),
        0b110100 if bits(w, 23, 3) == 0b111 => vop3::vop3p(w, second),
        0b110100 => vop3::vop3(w, second),
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
