//! Hardware registers that `s_getreg` and `s_setreg` reach.

use crate::exec::step::Stop;
use crate::exec::wave::Wave;

/// First flat address of LDS.
pub(in crate::exec) const SHARED_BASE: u64 = 1 << 48;
/// First flat address of scratch.
pub(in crate::exec) const PRIVATE_BASE: u64 = 2 << 48;

const MODE: u32 = 1;
const STATUS: u32 = 2;
const TRAPSTS: u32 = 3;
const HW_ID: u32 = 4;
const GPR_ALLOC: u32 = 5;
const LDS_ALLOC: u32 = 6;
const IB_STS: u32 = 7;
const SH_MEM_BASES: u32 = 15;

/// Register, first bit and number of bits in an immediate.
fn fields(imm: i32) -> (u32, u32, u32) {
    let imm = imm as u32;
    (imm & 0x3f, imm >> 6 & 0x1f, (imm >> 11 & 0x1f) + 1)
}

fn mask(count: u32) -> u32 {
    if count == 32 { u32::MAX } else { (1 << count) - 1 }
}

/// `s_getreg_b32`.
pub(super) fn get(wave: &Wave, imm: i32) -> Result<u32, Stop> {
    let (register, first, count) = fields(imm);
    let value = match register {
        MODE => wave.mode,
        STATUS => {
            let zero = |value: u64, at: u32| u32::from(value == 0) << at;
            u32::from(wave.scc) | zero(wave.exec, 9) | zero(wave.vcc(), 10) | 1 << 16
        }
        TRAPSTS | GPR_ALLOC | LDS_ALLOC | IB_STS => 0,
        HW_ID => wave.index & 0xf,
        SH_MEM_BASES => (PRIVATE_BASE >> 48 | (SHARED_BASE >> 48) << 16) as u32,
        _ => return Err(Stop::Unsupported("this hardware register")),
    };
    Ok(value >> first & mask(count))
}

/// `s_setreg_b32` and `s_setreg_imm32_b32`.
pub(super) fn set(wave: &mut Wave, imm: i32, value: u32) -> Result<(), Stop> {
    let (register, first, count) = fields(imm);
    let mask = mask(count).wrapping_shl(first);
    match register {
        MODE => wave.set_mode(wave.mode & !mask | value << first & mask),
        // No traps are raised, so nothing reads what is written here.
        TRAPSTS => {}
        _ => return Err(Stop::Unsupported("this hardware register")),
    }
    Ok(())
}
