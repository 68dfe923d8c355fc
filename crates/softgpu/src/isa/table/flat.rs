//! FLAT: one opcode space for flat, global and scratch. The second source is the data operand.

use super::rows;

rows! {
    LOAD_UBYTE = 0x10: 1, [0, 0, 0];
    LOAD_SBYTE = 0x11: 1, [0, 0, 0];
    LOAD_USHORT = 0x12: 1, [0, 0, 0];
    LOAD_SSHORT = 0x13: 1, [0, 0, 0];
    LOAD_DWORD = 0x14: 1, [0, 0, 0];
    LOAD_DWORDX2 = 0x15: 2, [0, 0, 0];
    LOAD_DWORDX3 = 0x16: 3, [0, 0, 0];
    LOAD_DWORDX4 = 0x17: 4, [0, 0, 0];
    STORE_BYTE = 0x18: 0, [0, 1, 0];
    STORE_BYTE_D16_HI = 0x19: 0, [0, 1, 0];
    STORE_SHORT = 0x1a: 0, [0, 1, 0];
    STORE_SHORT_D16_HI = 0x1b: 0, [0, 1, 0];
    STORE_DWORD = 0x1c: 0, [0, 1, 0];
    STORE_DWORDX2 = 0x1d: 0, [0, 2, 0];
    STORE_DWORDX3 = 0x1e: 0, [0, 3, 0];
    STORE_DWORDX4 = 0x1f: 0, [0, 4, 0];
    LOAD_UBYTE_D16 = 0x20: 1, [0, 0, 0];
    LOAD_UBYTE_D16_HI = 0x21: 1, [0, 0, 0];
    LOAD_SBYTE_D16 = 0x22: 1, [0, 0, 0];
    LOAD_SBYTE_D16_HI = 0x23: 1, [0, 0, 0];
    LOAD_SHORT_D16 = 0x24: 1, [0, 0, 0];
    LOAD_SHORT_D16_HI = 0x25: 1, [0, 0, 0];
    ATOMIC_SWAP = 0x40: 1, [0, 1, 0];
    ATOMIC_CMPSWAP = 0x41: 1, [0, 2, 0];
    ATOMIC_ADD = 0x42: 1, [0, 1, 0];
    ATOMIC_SUB = 0x43: 1, [0, 1, 0];
    ATOMIC_SMIN = 0x44: 1, [0, 1, 0];
    ATOMIC_UMIN = 0x45: 1, [0, 1, 0];
    ATOMIC_SMAX = 0x46: 1, [0, 1, 0];
    ATOMIC_UMAX = 0x47: 1, [0, 1, 0];
    ATOMIC_AND = 0x48: 1, [0, 1, 0];
    ATOMIC_OR = 0x49: 1, [0, 1, 0];
    ATOMIC_XOR = 0x4a: 1, [0, 1, 0];
    ATOMIC_INC = 0x4b: 1, [0, 1, 0];
    ATOMIC_DEC = 0x4c: 1, [0, 1, 0];
    ATOMIC_ADD_F32 = 0x4d: 1, [0, 1, 0];
    ATOMIC_PK_ADD_F16 = 0x4e: 1, [0, 1, 0];
    ATOMIC_ADD_F64 = 0x4f: 2, [0, 2, 0];
    ATOMIC_MIN_F64 = 0x50: 2, [0, 2, 0];
    ATOMIC_MAX_F64 = 0x51: 2, [0, 2, 0];
    ATOMIC_SWAP_X2 = 0x60: 2, [0, 2, 0];
    ATOMIC_CMPSWAP_X2 = 0x61: 2, [0, 4, 0];
    ATOMIC_ADD_X2 = 0x62: 2, [0, 2, 0];
    ATOMIC_SUB_X2 = 0x63: 2, [0, 2, 0];
    ATOMIC_SMIN_X2 = 0x64: 2, [0, 2, 0];
    ATOMIC_UMIN_X2 = 0x65: 2, [0, 2, 0];
    ATOMIC_SMAX_X2 = 0x66: 2, [0, 2, 0];
    ATOMIC_UMAX_X2 = 0x67: 2, [0, 2, 0];
    ATOMIC_AND_X2 = 0x68: 2, [0, 2, 0];
    ATOMIC_OR_X2 = 0x69: 2, [0, 2, 0];
    ATOMIC_XOR_X2 = 0x6a: 2, [0, 2, 0];
    ATOMIC_INC_X2 = 0x6b: 2, [0, 2, 0];
    ATOMIC_DEC_X2 = 0x6c: 2, [0, 2, 0];
}
