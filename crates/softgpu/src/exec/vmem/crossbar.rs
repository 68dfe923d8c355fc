//! DS: the lane permutations that go through the crossbar of the LDS, and not to its memory.

use super::lds::{addresses, lanes_of};
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Inst;

/// `ds_permute_b32` (push) and `ds_bpermute_b32` (pull).
pub(super) fn permute(w: &mut Wave, i: &Inst, pull: bool) -> Result<(), Stop> {
    let at = addresses(w, i, i.imm as u32);
    let data = *w.v(i.src[1], 0);
    let mut out = Lanes::ZERO;
    for lane in lanes_of(w.exec) {
        let other = at[lane] as usize / 4 % LANES;
        match pull {
            true if w.exec >> other & 1 != 0 => out.0[lane] = data.0[other],
            true => {}
            false => out.0[other] = data.0[lane],
        }
    }
    let mask = w.exec;
    w.put(i.dst, 0, &out, mask);
    Ok(())
}

/// `ds_swizzle_b32`.
pub(super) fn swizzle(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let code = i.imm as usize;
    if code >= 0xe000 {
        return Err(Stop::Unsupported("FFT swizzle"));
    }
    let from = *w.v(i.src[0], 0);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let (half, at) = (lane & 32, lane & 31);
        let other = match code {
            0xc000.. => {
                let (keep, by) = (code & 0x1f, code >> 5 & 0x1f);
                let turned = if code >> 10 & 1 != 0 { at + 32 - by } else { at + by };
                half + (at & keep | turned & !keep & 0x1f)
            }
            0x8000.. => (lane & !3) + (code >> (2 * (lane & 3)) & 3),
            _ => half + ((at & code & 0x1f | code >> 5 & 0x1f) ^ code >> 10 & 0x1f),
        };
        out.0[lane] = if w.exec >> other & 1 != 0 { from.0[other] } else { 0 };
    }
    let mask = w.exec;
    w.put(i.dst, 0, &out, mask);
    Ok(())
}
