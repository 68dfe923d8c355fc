//! SMEM, DS, FLAT, MUBUF.

use super::{DecodeError, bit, bits, blank, extend, source};
use crate::isa::{Family, Inst, Operand, Segment};

pub(super) fn smem(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Smem, "SMEM", bits(w, 18, 8), w)?;
    let word = extend(&mut inst, second)?;
    inst.glc = bit(w, 16);
    if inst.row.dst != 0 {
        inst.dst = Operand::scalar(bits(w, 6, 7));
    }
    if inst.row.src[0] == 0 {
        return Ok(inst);
    }
    inst.src[0] = Operand::scalar(bits(w, 0, 6) << 1);
    let offset = (word << 11) as i32 >> 11;
    match (bit(w, 17), bit(w, 14)) {
        (true, false) => inst.imm = offset,
        (false, false) => inst.src[2] = Operand::scalar(bits(word, 0, 7)),
        (true, true) => {
            inst.imm = offset;
            inst.src[2] = Operand::scalar(bits(word, 25, 7));
        }
        (false, true) => inst.src[2] = Operand::scalar(bits(word, 25, 7)),
    }
    Ok(inst)
}

pub(super) fn ds(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Ds, "DS", bits(w, 17, 8), w)?;
    let word = extend(&mut inst, second)?;
    let acc = bit(w, 25);
    inst.lds_or_gds = bit(w, 16);
    inst.imm = bits(w, 0, 16) as i32;
    if inst.row.dst != 0 {
        inst.dst = Operand::vector_or_acc(bits(word, 24, 8), acc);
    }
    if inst.row.src[0] != 0 {
        inst.src[0] = Operand::vector(bits(word, 0, 8));
    }
    if inst.row.src[1] != 0 {
        inst.src[1] = Operand::vector_or_acc(bits(word, 8, 8), acc);
    }
    if inst.row.src[2] != 0 {
        inst.src[2] = Operand::vector_or_acc(bits(word, 16, 8), acc);
    }
    Ok(inst)
}

pub(super) fn flat(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Flat, "FLAT", bits(w, 18, 7), w)?;
    let word = extend(&mut inst, second)?;
    let acc = bit(word, 23);
    inst.segment = match bits(w, 14, 2) {
        0 => Segment::Flat,
        1 => Segment::Scratch,
        2 => Segment::Global,
        _ => return Err(DecodeError::Unknown { encoding: "FLAT segment 3", op: inst.op.into() }),
    };
    // Flat addresses have no negative offsets and ignore the sign bit.
    inst.imm = match inst.segment {
        Segment::Flat => bits(w, 0, 12) as i32,
        _ => (w << 19) as i32 >> 19,
    };
    inst.lds_or_gds = bit(w, 13);
    inst.glc = bit(w, 16);
    inst.slc = bit(w, 17);
    inst.scc = bit(w, 25);
    inst.src[0] = Operand::vector(bits(word, 0, 8));
    if inst.row.src[1] != 0 {
        inst.src[1] = Operand::vector_or_acc(bits(word, 8, 8), acc);
    }
    let saddr = bits(word, 16, 7);
    if inst.segment != Segment::Flat && saddr != 0x7f {
        inst.src[2] = Operand::scalar(saddr);
        if inst.segment == Segment::Scratch {
            inst.src[0] = Operand::NONE;
        }
    }
    if inst.row.dst != 0 && (inst.op < 0x40 || inst.glc) {
        inst.dst = Operand::vector_or_acc(bits(word, 24, 8), acc);
    }
    Ok(inst)
}

pub(super) fn mubuf(w: u32, second: Option<u32>) -> Result<Inst, DecodeError> {
    let mut inst = blank(Family::Mubuf, "MUBUF", bits(w, 18, 7), w)?;
    let word = extend(&mut inst, second)?;
    if inst.row.dst == 0 {
        return Ok(inst);
    }
    inst.imm = bits(w, 0, 12) as i32;
    inst.offen = bit(w, 12);
    inst.idxen = bit(w, 13);
    inst.glc = bit(w, 14);
    inst.scc = bit(w, 15);
    inst.lds_or_gds = bit(w, 16);
    inst.slc = bit(w, 17);
    inst.dst = Operand::vector_or_acc(bits(word, 8, 8), bit(word, 23));
    if inst.offen || inst.idxen {
        inst.src[0] = Operand::vector(bits(word, 0, 8));
    }
    inst.src[1] = Operand::scalar(bits(word, 16, 5) << 2);
    inst.src[2] = source(bits(word, 24, 8));
    if inst.src[2] == Operand::LITERAL {
        return Err(DecodeError::Unknown { encoding: "MUBUF with a literal", op: inst.op.into() });
    }
    Ok(inst)
}
