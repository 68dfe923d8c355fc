//! SOPK: scalar instructions with a 16-bit immediate.

use super::rows;

rows! {
    S_MOVK_I32 = 0x0: 1, [0, 0, 0];
    S_CMOVK_I32 = 0x1: 1, [0, 0, 0];
    S_CMPK_EQ_I32 = 0x2: 1, [0, 0, 0];
    S_CMPK_LG_I32 = 0x3: 1, [0, 0, 0];
    S_CMPK_GT_I32 = 0x4: 1, [0, 0, 0];
    S_CMPK_GE_I32 = 0x5: 1, [0, 0, 0];
    S_CMPK_LT_I32 = 0x6: 1, [0, 0, 0];
    S_CMPK_LE_I32 = 0x7: 1, [0, 0, 0];
    S_CMPK_EQ_U32 = 0x8: 1, [0, 0, 0];
    S_CMPK_LG_U32 = 0x9: 1, [0, 0, 0];
    S_CMPK_GT_U32 = 0xa: 1, [0, 0, 0];
    S_CMPK_GE_U32 = 0xb: 1, [0, 0, 0];
    S_CMPK_LT_U32 = 0xc: 1, [0, 0, 0];
    S_CMPK_LE_U32 = 0xd: 1, [0, 0, 0];
    S_ADDK_I32 = 0xe: 1, [0, 0, 0];
    S_MULK_I32 = 0xf: 1, [0, 0, 0];
    S_CBRANCH_I_FORK = 0x10: 2, [0, 0, 0];
    S_GETREG_B32 = 0x11: 1, [0, 0, 0];
    S_SETREG_B32 = 0x12: 1, [0, 0, 0];
    S_SETREG_IMM32_B32 = 0x14: 0, [0, 0, 0];
    S_CALL_B64 = 0x15: 2, [0, 0, 0];
}
