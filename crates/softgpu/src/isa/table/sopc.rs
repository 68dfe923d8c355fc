//! SOPC: scalar comparisons.

use super::rows;

rows! {
    S_CMP_EQ_I32 = 0x0: 0, [1, 1, 0];
    S_CMP_LG_I32 = 0x1: 0, [1, 1, 0];
    S_CMP_GT_I32 = 0x2: 0, [1, 1, 0];
    S_CMP_GE_I32 = 0x3: 0, [1, 1, 0];
    S_CMP_LT_I32 = 0x4: 0, [1, 1, 0];
    S_CMP_LE_I32 = 0x5: 0, [1, 1, 0];
    S_CMP_EQ_U32 = 0x6: 0, [1, 1, 0];
    S_CMP_LG_U32 = 0x7: 0, [1, 1, 0];
    S_CMP_GT_U32 = 0x8: 0, [1, 1, 0];
    S_CMP_GE_U32 = 0x9: 0, [1, 1, 0];
    S_CMP_LT_U32 = 0xa: 0, [1, 1, 0];
    S_CMP_LE_U32 = 0xb: 0, [1, 1, 0];
    S_BITCMP0_B32 = 0xc: 0, [1, 1, 0];
    S_BITCMP1_B32 = 0xd: 0, [1, 1, 0];
    S_BITCMP0_B64 = 0xe: 0, [2, 1, 0];
    S_BITCMP1_B64 = 0xf: 0, [2, 1, 0];
    S_SETVSKIP = 0x10: 0, [1, 1, 0];
    S_SET_GPR_IDX_ON = 0x11: 0, [1, 0, 0];
    S_CMP_EQ_U64 = 0x12: 0, [2, 2, 0];
    S_CMP_LG_U64 = 0x13: 0, [2, 2, 0];
}
