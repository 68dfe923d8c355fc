//! VOP1, VOP2, VOPC, VOP3, VOP3P.

use super::Line;
use super::operand::name;
use crate::isa::table::{vop1, vop2, vop3p};
use crate::isa::{Family, Form, Inst};

/// A vector ALU instruction of one result a lane.
pub(super) fn text(i: &Inst) -> String {
    let bare = matches!(
        i.op,
        vop1::V_NOP
            | vop1::V_READFIRSTLANE_B32
            | vop1::V_SWAP_B32
            | vop1::V_ACCVGPR_MOV_B32
            | vop2::V_MADMK_F32
            | vop2::V_MADAK_F32
            | vop2::V_MADMK_F16
            | vop2::V_MADAK_F16
    );
    let suffix = match (i.family, i.form) {
        _ if bare => "",
        (Family::Vop3, _) => "",
        (_, Form::Plain) => "_e32",
        (_, Form::Vop3) => "_e64",
        (_, Form::Sdwa) => "_sdwa",
        (_, Form::Dpp) => "_dpp",
    };
    let mut line = Line::new(format!("{}{suffix}", i.mnemonic()));
    if !i.dst.is_none() {
        line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
    }
    if !i.sdst.is_none() {
        line.operand(name(i, i.sdst, 2));
    }
    for k in 0..3 {
        if !i.src[k].is_none() {
            let third = k == 2 && i.family == Family::Vop2 && i.row.src[2] == 2;
            line.operand(if third { name(i, i.src[2], 2) } else { source(i, k) });
        }
    }
    match i.form {
        Form::Plain => {}
        Form::Vop3 => vop3(i, &mut line),
        Form::Sdwa => sdwa(i, &mut line),
        Form::Dpp => dpp(i, &mut line),
    }
    line.text
}

/// A source with its modifiers.
fn source(i: &Inst, k: usize) -> String {
    let mut text = name(i, i.src[k], i.row.src[k]);
    if i.form == Form::Sdwa && k < 2 && i.sdwa().sext[k] {
        text = format!("sext({text})");
    }
    if i.abs >> k & 1 != 0 {
        text = format!("|{text}|");
    }
    if i.neg >> k & 1 != 0 {
        text = if i.src[k].is_vector() || i.src[k].0 < 128 || text.starts_with('|') {
            format!("-{text}")
        } else {
            format!("neg({text})")
        };
    }
    text
}

fn output(i: &Inst, line: &mut Line) {
    line.modifier(i.clamp, "clamp");
    line.modifier(i.omod == 1, "mul:2");
    line.modifier(i.omod == 2, "mul:4");
    line.modifier(i.omod == 3, "div:2");
}

fn vop3(i: &Inst, line: &mut Line) {
    if i.opsel != 0 {
        let mut parts: Vec<String> = (0..sources(i)).map(|k| (i.opsel >> k & 1).to_string()).collect();
        parts.push((i.opsel >> 3 & 1).to_string());
        line.modifier(true, format!("op_sel:[{}]", parts.join(",")));
    }
    output(i, line);
}

fn sources(i: &Inst) -> usize {
    i.src.iter().filter(|operand| !operand.is_none()).count()
}

fn sdwa(i: &Inst, line: &mut Line) {
    let part =
        |sel: u8| ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "DWORD"][sel as usize & 7];
    let sdwa = i.sdwa();
    output(i, line);
    if i.family != Family::Vopc {
        line.modifier(true, format!("dst_sel:{}", part(sdwa.dst_sel)));
        let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "UNUSED_PRESERVE"];
        line.modifier(true, format!("dst_unused:{}", unused[usize::from(sdwa.dst_unused & 3)]));
    }
    line.modifier(true, format!("src0_sel:{}", part(sdwa.src_sel[0])));
    line.modifier(!i.src[1].is_none(), format!("src1_sel:{}", part(sdwa.src_sel[1])));
}

fn dpp(i: &Inst, line: &mut Line) {
    let dpp = i.dpp();
    let ctrl = dpp.ctrl;
    let low = ctrl & 15;
    let control = match ctrl {
        0..=0xff => {
            format!("quad_perm:[{},{},{},{}]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6 & 3)
        }
        0x100..=0x10f => format!("row_shl:{low}"),
        0x110..=0x11f => format!("row_shr:{low}"),
        0x120..=0x12f => format!("row_ror:{low}"),
        0x130 => "wave_shl:1".into(),
        0x134 => "wave_rol:1".into(),
        0x138 => "wave_shr:1".into(),
        0x13c => "wave_ror:1".into(),
        0x140 => "row_mirror".into(),
        0x141 => "row_half_mirror".into(),
        0x142 => "row_bcast:15".into(),
        0x143 => "row_bcast:31".into(),
        0x150..=0x15f => format!("row_newbcast:{low}"),
        _ => format!("dpp_ctrl:{ctrl:#x}"),
    };
    line.modifier(true, control);
    line.modifier(true, format!("row_mask:{:#x}", dpp.row_mask));
    line.modifier(true, format!("bank_mask:{:#x}", dpp.bank_mask));
    line.modifier(dpp.bound_ctrl, "bound_ctrl:1");
}

/// A packed, mixed, dot-product or matrix instruction.
pub(super) fn packed(i: &Inst) -> String {
    let mut line = Line::new(i.mnemonic());
    line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
    let matrix = (0x40..0x80).contains(&i.op);
    let mix = matches!(i.op, vop3p::V_FMA_MIX_F32 | vop3p::V_FMA_MIXLO_F16 | vop3p::V_FMA_MIXHI_F16);
    for k in 0..sources(i) {
        line.operand(if mix { source(i, k) } else { name(i, i.src[k], i.row.src[k]) });
    }
    if matches!(i.op, vop3p::V_ACCVGPR_READ_B32 | vop3p::V_ACCVGPR_WRITE_B32) {
        return line.text;
    }
    if matrix {
        line.modifier(i.abs != 0, format!("cbsz:{}", i.abs));
        line.modifier(i.opsel != 0, format!("abid:{}", i.opsel));
        line.modifier(i.neg != 0, format!("blgp:{}", i.neg));
        return line.text;
    }
    let list = |bits: u8| {
        let parts: Vec<String> = (0..sources(i)).map(|k| (bits >> k & 1).to_string()).collect();
        format!("[{}]", parts.join(","))
    };
    let all = (1 << sources(i)) - 1;
    let dots_of_bytes = (vop3p::V_DOT4_I32_I8..=vop3p::V_DOT8_U32_U4).contains(&i.op);
    if !dots_of_bytes {
        line.modifier(i.opsel & all != 0, format!("op_sel:{}", list(i.opsel)));
        let usual = if mix { 0 } else { all };
        line.modifier(i.opsel_hi & all != usual, format!("op_sel_hi:{}", list(i.opsel_hi)));
    }
    if !mix {
        line.modifier(i.neg != 0, format!("neg_lo:{}", list(i.neg)));
        line.modifier(i.abs != 0, format!("neg_hi:{}", list(i.abs)));
    }
    line.modifier(i.clamp, "clamp");
    line.text
}
