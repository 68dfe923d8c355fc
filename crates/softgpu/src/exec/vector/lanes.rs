//! Applying an operation to all lanes.

use super::float::{self, half_to_single};
use super::source::{Kind, Kind64, put16, put32, put64, src, src64};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};

type Done = Result<(), Stop>;

/// One 32-bit source.
#[inline(always)]
pub(super) fn one(w: &mut Wave, s: &Slot, f: impl Fn(u32) -> u32) -> Done {
    let mut buffer = Lanes::ZERO;
    let a = src(w, s, 0, Kind::Bits, &mut buffer);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(a.0[l]);
    }
    put32(w, &s.inst, &out);
    Ok(())
}

/// Two 32-bit sources.
#[inline(always)]
pub(super) fn two(w: &mut Wave, s: &Slot, f: impl Fn(u32, u32) -> u32) -> Done {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = src(w, s, 0, Kind::Bits, &mut buffer_a);
    let b = src(w, s, 1, Kind::Bits, &mut buffer_b);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(a.0[l], b.0[l]);
    }
    put32(w, &s.inst, &out);
    Ok(())
}

/// Three 32-bit sources.
#[inline(always)]
pub(super) fn three(w: &mut Wave, s: &Slot, f: impl Fn(u32, u32, u32) -> u32) -> Done {
    let (mut buffer_a, mut buffer_b, mut buffer_c) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
    let a = src(w, s, 0, Kind::Bits, &mut buffer_a);
    let b = src(w, s, 1, Kind::Bits, &mut buffer_b);
    let c = src(w, s, 2, Kind::Bits, &mut buffer_c);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(a.0[l], b.0[l], c.0[l]);
    }
    put32(w, &s.inst, &out);
    Ok(())
}

/// One source of `kind` (a single, a half, raw bits) to a raw 32-bit result.
#[inline(always)]
pub(super) fn convert(w: &mut Wave, s: &Slot, kind: Kind, f: impl Fn(u32) -> u32) -> Done {
    let mut buffer = Lanes::ZERO;
    let a = src(w, s, 0, kind, &mut buffer);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(a.0[l]);
    }
    put32(w, &s.inst, &out);
    Ok(())
}

/// Writes singles: output modifiers, denormals.
#[inline(always)]
pub(super) fn put_single(w: &mut Wave, s: &Slot, out: &mut Lanes) {
    if s.inst.omod != 0 || s.inst.clamp || w.float.flush32.1 {
        float::finish_single(w, &s.inst, out);
    }
    put32(w, &s.inst, out);
}

/// One single.
#[inline(always)]
pub(super) fn single1(w: &mut Wave, s: &Slot, f: impl Fn(f32) -> f32) -> Done {
    let mut buffer = Lanes::ZERO;
    let a = src(w, s, 0, Kind::Single, &mut buffer);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(f32::from_bits(a.0[l])).to_bits();
    }
    put_single(w, s, &mut out);
    Ok(())
}

/// Two singles.
#[inline(always)]
pub(super) fn single2(w: &mut Wave, s: &Slot, f: impl Fn(f32, f32) -> f32) -> Done {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = src(w, s, 0, Kind::Single, &mut buffer_a);
    let b = src(w, s, 1, Kind::Single, &mut buffer_b);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(f32::from_bits(a.0[l]), f32::from_bits(b.0[l])).to_bits();
    }
    put_single(w, s, &mut out);
    Ok(())
}

/// Three singles.
#[inline(always)]
pub(super) fn single3(w: &mut Wave, s: &Slot, f: impl Fn(f32, f32, f32) -> f32) -> Done {
    let (mut buffer_a, mut buffer_b, mut buffer_c) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
    let a = src(w, s, 0, Kind::Single, &mut buffer_a);
    let b = src(w, s, 1, Kind::Single, &mut buffer_b);
    let c = src(w, s, 2, Kind::Single, &mut buffer_c);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(f32::from_bits(a.0[l]), f32::from_bits(b.0[l]), f32::from_bits(c.0[l])).to_bits();
    }
    put_single(w, s, &mut out);
    Ok(())
}

/// Writes doubles: output modifiers, denormals.
#[inline(always)]
pub(super) fn put_double(w: &mut Wave, s: &Slot, out: &mut [u64; LANES]) {
    if s.inst.omod != 0 || s.inst.clamp || w.float.flush64.1 {
        float::finish_double(w, &s.inst, out);
    }
    put64(w, &s.inst, out);
}

/// One double.
#[inline(always)]
pub(super) fn double1(w: &mut Wave, s: &Slot, f: impl Fn(f64) -> f64) -> Done {
    let a = src64(w, s, 0, Kind64::Double);
    let mut out = [0; LANES];
    for l in 0..LANES {
        out[l] = f(f64::from_bits(a[l])).to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}

/// Two doubles.
#[inline(always)]
pub(super) fn double2(w: &mut Wave, s: &Slot, f: impl Fn(f64, f64) -> f64) -> Done {
    let a = src64(w, s, 0, Kind64::Double);
    let b = src64(w, s, 1, Kind64::Double);
    let mut out = [0; LANES];
    for l in 0..LANES {
        out[l] = f(f64::from_bits(a[l]), f64::from_bits(b[l])).to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}

/// A double to a 32-bit result.
#[inline(always)]
pub(super) fn double_to(w: &mut Wave, s: &Slot, f: impl Fn(f64) -> u32) -> Done {
    let a = src64(w, s, 0, Kind64::Double);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(f64::from_bits(a[l]));
    }
    put32(w, &s.inst, &out);
    Ok(())
}

/// A 32-bit source of `kind` to a double.
#[inline(always)]
pub(super) fn to_double(w: &mut Wave, s: &Slot, kind: Kind, f: impl Fn(u32) -> f64) -> Done {
    let mut buffer = Lanes::ZERO;
    let a = src(w, s, 0, kind, &mut buffer);
    let mut out = [0; LANES];
    for l in 0..LANES {
        out[l] = f(a.0[l]).to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}

/// Halves as bits to a half as bits.
#[inline(always)]
pub(super) fn half<const N: usize>(w: &mut Wave, s: &Slot, keeps: bool, f: impl Fn([f32; N]) -> u16) -> Done {
    let mut buffers = [Lanes::ZERO; N];
    for (k, buffer) in buffers.iter_mut().enumerate() {
        let mut scratch = Lanes::ZERO;
        *buffer = *src(w, s, k, Kind::Half, &mut scratch);
    }
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(f(std::array::from_fn(|k| half_to_single(buffers[k].0[l] as u16))));
    }
    put_half(w, s, &mut out, keeps);
    Ok(())
}

/// Writes halves: output modifiers, denormals.
pub(super) fn put_half(w: &mut Wave, s: &Slot, out: &mut Lanes, keeps: bool) {
    if s.inst.omod != 0 || s.inst.clamp || w.float.flush64.1 {
        float::finish_half(w, &s.inst, out);
    }
    put16(w, &s.inst, out, keeps);
}

/// 16-bit integers to a 16-bit integer.
#[inline(always)]
pub(super) fn word<const N: usize>(w: &mut Wave, s: &Slot, keeps: bool, f: impl Fn([u16; N]) -> u16) -> Done {
    let mut buffers = [Lanes::ZERO; N];
    for (k, buffer) in buffers.iter_mut().enumerate() {
        let mut scratch = Lanes::ZERO;
        *buffer = *src(w, s, k, Kind::Bits16, &mut scratch);
    }
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(f(std::array::from_fn(|k| buffers[k].0[l] as u16)));
    }
    put16(w, &s.inst, &mut out, keeps);
    Ok(())
}
