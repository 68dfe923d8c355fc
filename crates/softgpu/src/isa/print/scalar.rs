//! SOP1, SOP2, SOPK, SOPC, SOPP.

use super::Line;
use super::operand::name;
use crate::isa::table::{sopc, sopk, sopp};
use crate::isa::{Family, Inst};

/// A scalar ALU or control instruction.
pub(super) fn text(i: &Inst) -> String {
    let mut line = Line::new(i.mnemonic());
    let immediate = i.imm as u16;
    match i.family {
        Family::Sopp => match i.op {
            sopp::S_BARRIER
            | sopp::S_WAKEUP
            | sopp::S_ICACHE_INV
            | sopp::S_TTRACEDATA
            | sopp::S_SET_GPR_IDX_OFF
            | sopp::S_ENDPGM_SAVED
            | sopp::S_ENDPGM_ORDERED_PS_DONE => {}
            sopp::S_ENDPGM if immediate == 0 => {}
            _ => line.operand(immediate),
        },
        Family::Sopk => match i.op {
            sopk::S_SETREG_B32 => {
                line.operand(immediate);
                line.operand(name(i, i.dst, 1));
            }
            sopk::S_SETREG_IMM32_B32 => {
                line.operand(immediate);
                line.operand(format!("{:#x}", i.literal));
            }
            _ => {
                line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
                line.operand(immediate);
            }
        },
        _ => {
            if !i.dst.is_none() && i.row.dst != 0 {
                line.operand(name(i, i.dst, i.row.dst.unsigned_abs()));
            }
            for (operand, width) in i.src.into_iter().zip(i.row.src).filter(|(operand, _)| !operand.is_none()) {
                line.operand(name(i, operand, width));
            }
            if i.family == Family::Sopc && i.op == sopc::S_SET_GPR_IDX_ON {
                line.operand(immediate);
            }
        }
    }
    line.text
}
