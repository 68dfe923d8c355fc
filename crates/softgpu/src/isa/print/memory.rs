//! SMEM, DS, FLAT, MUBUF.

use super::Line;
use super::operand::name;
use crate::isa::table::{flat as flats, smem};
use crate::isa::{Inst, Operand, Segment};

/// A scalar memory instruction.
pub(super) fn scalar(i: &Inst) -> String {
    let mut line = Line::new(i.mnemonic());
    if matches!(i.op, smem::S_ATC_PROBE | smem::S_ATC_PROBE_BUFFER) {
        line.operand(i.words[0] >> 6 & 0x7f);
    } else if i.row.dst != 0 {
        line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
    }
    if i.row.src[0] == 0 {
        return line.text;
    }
    line.operand(name(i, i.src[0], i.row.src[0]));
    if i.src[2].is_none() {
        line.operand(hex(i.imm));
    } else {
        line.operand(name(i, i.src[2], 1));
        line.modifier(i.words[0] >> 17 & 1 != 0 && i.words[0] >> 14 & 1 != 0, format!("offset:{}", hex(i.imm)));
    }
    line.modifier(i.glc, "glc");
    line.text
}

fn hex(number: i32) -> String {
    if number < 0 { format!("-{:#x}", number.unsigned_abs()) } else { format!("{number:#x}") }
}

/// An LDS instruction.
pub(super) fn lds(i: &Inst) -> String {
    let mut line = Line::new(i.mnemonic());
    if i.row.dst != 0 {
        line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
    }
    for (operand, width) in i.src.into_iter().zip(i.row.src).filter(|(_, width)| *width != 0) {
        line.operand(name(i, operand, width));
    }
    let mnemonic = i.row.name;
    let two = ["READ2", "WRITE2", "WRXCHG2"].iter().any(|part| mnemonic.contains(part));
    if two {
        line.modifier(i.imm & 0xff != 0, format!("offset0:{}", i.imm & 0xff));
        line.modifier(i.imm >> 8 != 0, format!("offset1:{}", i.imm >> 8));
    } else {
        line.modifier(i.imm != 0, format!("offset:{}", i.imm));
    }
    line.modifier(i.lds_or_gds, "gds");
    line.text
}

/// A flat, global or scratch instruction.
pub(super) fn flat(i: &Inst) -> String {
    let mut line = Line::new(i.mnemonic());
    if !i.dst.is_none() {
        let width = match i.op {
            flats::ATOMIC_CMPSWAP | flats::ATOMIC_CMPSWAP_X2 => i.row.src[1] / 2,
            0x40.. => i.row.src[1],
            _ => i.row.dst.unsigned_abs(),
        };
        line.operand(name(i, i.dst, width));
    }
    let has_scalar = !i.src[2].is_none();
    let address_width = match i.segment {
        Segment::Flat => 2,
        Segment::Global if !has_scalar => 2,
        _ => 1,
    };
    line.operand(name(i, i.src[0], address_width));
    if i.row.src[1] != 0 {
        line.operand(name(i, i.src[1], i.row.src[1]));
    }
    if i.segment != Segment::Flat {
        line.operand(name(i, i.src[2], if i.segment == Segment::Global { 2 } else { 1 }));
    }
    vector_modifiers(&mut line, i);
    line.text
}

/// A buffer instruction.
pub(super) fn buffer(i: &Inst) -> String {
    let mut line = Line::new(i.mnemonic());
    if i.row.dst == 0 {
        return line.text;
    }
    if !i.lds_or_gds {
        line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
    }
    let width = if i.offen && i.idxen { 2 } else { 1 };
    line.operand(if i.src[0].is_none() { name(i, Operand::NONE, 1) } else { name(i, i.src[0], width) });
    line.operand(name(i, i.src[1], 4));
    line.operand(name(i, i.src[2], 1));
    line.modifier(i.idxen, "idxen");
    line.modifier(i.offen, "offen");
    vector_modifiers(&mut line, i);
    line.text
}

/// What FLAT and MUBUF end with.
fn vector_modifiers(line: &mut Line, i: &Inst) {
    line.modifier(i.imm != 0, format!("offset:{}", i.imm));
    line.modifier(i.glc, "glc");
    line.modifier(i.slc, "slc");
    line.modifier(i.lds_or_gds, "lds");
    line.modifier(i.scc, "scc");
}
