//! Instructions that move data between lanes and scalar registers.

use super::source::{Kind, src};
use crate::exec::code::Slot;
use crate::exec::scalar;
use crate::exec::step::Stop;
use crate::exec::wave::{Lanes, Wave};

/// `v_readfirstlane_b32`: the first active lane, or lane 0 where none is.
pub(super) fn read_first_lane(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let lane = if w.exec == 0 { 0 } else { w.exec.trailing_zeros() as usize };
    read(w, s, lane);
    Ok(())
}

/// `v_readlane_b32`.
pub(super) fn read_lane(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let lane = scalar::src32(w, &s.inst, s.inst.src[1]) as usize & 63;
    read(w, s, lane);
    Ok(())
}

fn read(w: &mut Wave, s: &Slot, lane: usize) {
    let from = s.inst.src[0];
    let value = if from.is_vector() { w.v(from, 0).0[lane] } else { scalar::src32(w, &s.inst, from) };
    w.set_s(s.inst.dst.0, value);
}

/// `v_writelane_b32`, whatever EXEC says.
pub(super) fn write_lane(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let value = scalar::src32(w, &s.inst, s.inst.src[0]);
    let lane = scalar::src32(w, &s.inst, s.inst.src[1]) as usize & 63;
    w.v_mut(s.inst.dst, 0).0[lane] = value;
    Ok(())
}

/// `v_swap_b32`.
pub(super) fn swap(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    if !s.inst.src[0].is_vector() {
        return Err(Stop::Unsupported("a swap with a scalar"));
    }
    let (a, b) = (*w.v(s.inst.dst, 0), *w.v(s.inst.src[0], 0));
    w.put(s.inst.dst, 0, &b, w.write_mask);
    w.put(s.inst.src[0], 0, &a, w.write_mask);
    Ok(())
}

/// `v_mbcnt_lo_u32_b32` and `v_mbcnt_hi_u32_b32`: set bits below the lane, in one half of the wave, plus a number.
pub(super) fn count_below(w: &mut Wave, s: &Slot, high: bool) -> Result<(), Stop> {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let mut out = Lanes::ZERO;
    {
        let mask = src(w, s, 0, Kind::Bits, &mut buffer_a);
        let plus = src(w, s, 1, Kind::Bits, &mut buffer_b);
        for (lane, out) in out.0.iter_mut().enumerate() {
            let below: u32 = match (high, lane) {
                (false, 0..32) => (1 << lane) - 1,
                (false, _) => u32::MAX,
                (true, 0..32) => 0,
                (true, _) => (1 << (lane - 32)) - 1,
            };
            *out = (mask.0[lane] & below).count_ones().wrapping_add(plus.0[lane]);
        }
    }
    w.put(s.inst.dst, 0, &out, w.write_mask);
    Ok(())
}
