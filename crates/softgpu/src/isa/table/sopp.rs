//! SOPP: program control.

use super::rows;

rows! {
    S_NOP = 0x0: 0, [0, 0, 0];
    S_ENDPGM = 0x1: 0, [0, 0, 0];
    S_BRANCH = 0x2: 0, [0, 0, 0];
    S_WAKEUP = 0x3: 0, [0, 0, 0];
    S_CBRANCH_SCC0 = 0x4: 0, [0, 0, 0];
    S_CBRANCH_SCC1 = 0x5: 0, [0, 0, 0];
    S_CBRANCH_VCCZ = 0x6: 0, [0, 0, 0];
    S_CBRANCH_VCCNZ = 0x7: 0, [0, 0, 0];
    S_CBRANCH_EXECZ = 0x8: 0, [0, 0, 0];
    S_CBRANCH_EXECNZ = 0x9: 0, [0, 0, 0];
    S_BARRIER = 0xa: 0, [0, 0, 0];
    S_SETKILL = 0xb: 0, [0, 0, 0];
    S_WAITCNT = 0xc: 0, [0, 0, 0];
    S_SETHALT = 0xd: 0, [0, 0, 0];
    S_SLEEP = 0xe: 0, [0, 0, 0];
    S_SETPRIO = 0xf: 0, [0, 0, 0];
    S_SENDMSG = 0x10: 0, [0, 0, 0];
    S_SENDMSGHALT = 0x11: 0, [0, 0, 0];
    S_TRAP = 0x12: 0, [0, 0, 0];
    S_ICACHE_INV = 0x13: 0, [0, 0, 0];
    S_INCPERFLEVEL = 0x14: 0, [0, 0, 0];
    S_DECPERFLEVEL = 0x15: 0, [0, 0, 0];
    S_TTRACEDATA = 0x16: 0, [0, 0, 0];
    S_CBRANCH_CDBGSYS = 0x17: 0, [0, 0, 0];
    S_CBRANCH_CDBGUSER = 0x18: 0, [0, 0, 0];
    S_CBRANCH_CDBGSYS_OR_USER = 0x19: 0, [0, 0, 0];
    S_CBRANCH_CDBGSYS_AND_USER = 0x1a: 0, [0, 0, 0];
    S_ENDPGM_SAVED = 0x1b: 0, [0, 0, 0];
    S_SET_GPR_IDX_OFF = 0x1c: 0, [0, 0, 0];
    S_SET_GPR_IDX_MODE = 0x1d: 0, [0, 0, 0];
    S_ENDPGM_ORDERED_PS_DONE = 0x1e: 0, [0, 0, 0];
}
