//! Long vector encodings: VOP3 and VOP3P.

use super::{DecodeError, bit, bits, blank, extend, source};
use crate::isa::table::{vop2, vop3, vop3p};
use crate::isa::{Family, Form, Inst, Operand};

pub(super) fn vop3(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
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

/// The family of a number in VOP3's opcode space.
fn vop3_family(op: u32) -> Family {
    match op {
        0..0x100 => Family::Vopc,
        0x100..0x140 => Family::Vop2,
        0x140..0x1c0 => Family::Vop1,
        _ => Family::Vop3,
    }
}

pub(super) fn vop3p(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
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
