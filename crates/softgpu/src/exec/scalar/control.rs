//! SOPP: branches, barriers, the end of a program, messages.

use crate::exec::step::{Cx, Next, Stop};
use crate::exec::wave::{State, Wave};
use crate::isa::Inst;
use crate::isa::table::sopp::*;

/// Runs a SOPP instruction.
pub(in crate::exec) fn sopp(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<Next, Stop> {
    let taken = match i.op {
        S_BRANCH => true,
        S_CBRANCH_SCC0 => !w.scc,
        S_CBRANCH_SCC1 => w.scc,
        S_CBRANCH_VCCZ => w.vcc() == 0,
        S_CBRANCH_VCCNZ => w.vcc() != 0,
        S_CBRANCH_EXECZ => w.exec == 0,
        S_CBRANCH_EXECNZ => w.exec != 0,
        // Memory is in order and nothing is cached, so there is nothing to wait for or to write back.
        S_WAITCNT | S_NOP | S_SETPRIO | S_ICACHE_INV | S_INCPERFLEVEL | S_DECPERFLEVEL | S_TTRACEDATA | S_WAKEUP => {
            false
        }
        S_ENDPGM | S_ENDPGM_SAVED => {
            w.state = State::Ended;
            false
        }
        S_BARRIER => {
            cx.counts.sums.barriers += 1;
            w.state = State::AtBarrier;
            false
        }
        S_SLEEP => return Ok(Next::Yield),
        S_TRAP => return Err(Stop::Trap(i.imm as u16 & 0xff)),
        S_SET_GPR_IDX_OFF => {
            w.gpr_index = 0;
            false
        }
        S_SET_GPR_IDX_MODE => {
            w.gpr_index = i.imm as u8 & 0xf;
            w.set_s(124, w.m0() & !0xf000 | u32::from(w.gpr_index) << 12);
            false
        }
        // Messages go to the graphics pipeline or the host's interrupt handler. A compute program sends interrupts
        // (number 1) to wake a host that waits on a signal; our signals are polled.
        S_SENDMSG if i.imm & 0xf == 1 => false,
        _ => return Err(Stop::Unsupported("")),
    };
    if taken {
        w.pc = w.pc.wrapping_add_signed(i64::from(i.imm) * 4);
    }
    Ok(Next::Go)
}
