//! Scalar encodings: SOP1, SOP2, SOPC, SOPK and SOPP.

use super::{DecodeError, bits, blank, extend, literal, source};
use crate::isa::table::{sop1, sopk};
use crate::isa::{Family, Inst, Operand};

pub(super) fn scalar(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
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
