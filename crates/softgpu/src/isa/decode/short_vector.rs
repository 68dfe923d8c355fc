//! Short vector encodings: VOP1, VOP2 and VOPC, with a literal, SDWA or DPP behind them.

use super::{DecodeError, bit, bits, blank, extend, literal, source};
use crate::isa::table::{Row, vop1, vop2};
use crate::isa::{Family, Form, Inst, Operand};

pub(super) fn vop1(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
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

pub(super) fn vop2(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
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

pub(super) fn vopc(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
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
            if !has_sdwa(inst.row) {
                return Err(DecodeError::Unknown {
                    encoding: "SDWA of an instruction without it,",
                    op: inst.op.into(),
                });
            }
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
            if inst.family == Family::Vopc || !has_dpp(inst.row, bits(word, 8, 9)) {
                return Err(DecodeError::Unknown { encoding: "DPP of an instruction without it,", op: inst.op.into() });
            }
            inst.form = Form::Dpp;
            inst.src[0] = Operand::vector(bits(word, 0, 8));
            inst.neg = (bits(word, 20, 1) | bits(word, 22, 1) << 1) as u8;
            inst.abs = (bits(word, 21, 1) | bits(word, 23, 1) << 1) as u8;
        }
        _ => literal(inst, second)?,
    }
    Ok(())
}

/// Whether an instruction has operands of two dwords. A third source is a mask of lanes.
fn is_double(row: &Row) -> bool {
    row.dst == 2 || row.src[..2].contains(&2)
}

/// Whether an instruction of VOP1, VOP2 or VOPC has an SDWA form.
fn has_sdwa(row: &Row) -> bool {
    let without = matches!(
        row.code,
        vop1::V_NOP | vop1::V_READFIRSTLANE_B32 | vop1::V_CLREXCP | vop1::V_SWAP_B32 | vop1::V_ACCVGPR_MOV_B32
    ) || matches!(row.code, vop2::V_MAC_F32 | vop2::V_MAC_F16 | vop2::V_FMAC_F32 | vop2::V_PK_FMAC_F16)
        || matches!(row.code, vop2::V_DOT2C_F32_F16..=vop2::V_DOT8C_I32_I4);
    !without && !is_double(row)
}

/// Whether an instruction of VOP1 or VOP2 has a DPP form with this control.
fn has_dpp(row: &Row, control: u32) -> bool {
    /// Broadcasts of a lane of each row: all that there is for two dwords.
    const BROADCASTS: std::ops::RangeInclusive<u32> = 0x150..=0x15f;
    let without = matches!(
        row.code,
        vop1::V_NOP | vop1::V_READFIRSTLANE_B32 | vop1::V_CLREXCP | vop1::V_SWAP_B32 | vop1::V_ACCVGPR_MOV_B32
    ) || row.code == vop2::V_PK_FMAC_F16;
    !without && (!is_double(row) || BROADCASTS.contains(&control))
}
