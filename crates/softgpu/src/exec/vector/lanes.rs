//! Applying an operation to all lanes.

use super::float::{self, half_to_single};
use super::source::{Kind, Kind64, put16, put32, put64, src, src64};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};

type Done = Result<(), Stop>;

/// What `$f` makes of 32-bit sources of `$kind`, lane by lane. A macro, since a loop over an array of sources comes out
/// twice as slow.
macro_rules! map {
    ($w:ident, $s:ident, $kind:expr, |$($source:ident = $number:literal),+| $f:expr) => {{
        $(
            let mut buffer = Lanes::ZERO;
            let $source = src($w, $s, $number, $kind, &mut buffer);
        )+
        let mut out = Lanes::ZERO;
        for l in 0..LANES {
            $(let $source = $source.0[l];)+
            out.0[l] = $f;
        }
        out
    }};
}

/// What `f` makes of the first `N` doubles, lane by lane.
#[inline(always)]
fn map_doubles<const N: usize, T: Copy>(w: &Wave, s: &Slot, zero: T, f: impl Fn([f64; N]) -> T) -> [T; LANES] {
    let sources: [_; N] = std::array::from_fn(|k| src64(w, s, k, Kind64::Double));
    let mut out = [zero; LANES];
    for l in 0..LANES {
        out[l] = f(sources.each_ref().map(|source| f64::from_bits(source[l])));
    }
    out
}

/// The first `N` sources of `kind`.
#[inline(always)]
fn sources<const N: usize>(w: &Wave, s: &Slot, kind: Kind) -> [Lanes; N] {
    let mut sources = [Lanes::ZERO; N];
    for (k, source) in sources.iter_mut().enumerate() {
        let mut buffer = Lanes::ZERO;
        *source = *src(w, s, k, kind, &mut buffer);
    }
    sources
}

/// One source of `kind` (a single, a half, raw bits) to a raw 32-bit result.
#[inline(always)]
pub(super) fn convert(w: &mut Wave, s: &Slot, kind: Kind, f: impl Fn(u32) -> u32) -> Done {
    let out = map!(w, s, kind, |a = 0| f(a));
    put32(w, &s.inst, &out);
    Ok(())
}

/// One 32-bit source.
#[inline(always)]
pub(super) fn one(w: &mut Wave, s: &Slot, f: impl Fn(u32) -> u32) -> Done {
    convert(w, s, Kind::Bits, f)
}

/// Two 32-bit sources.
#[inline(always)]
pub(super) fn two(w: &mut Wave, s: &Slot, f: impl Fn(u32, u32) -> u32) -> Done {
    let out = map!(w, s, Kind::Bits, |a = 0, b = 1| f(a, b));
    put32(w, &s.inst, &out);
    Ok(())
}

/// Three 32-bit sources.
#[inline(always)]
pub(super) fn three(w: &mut Wave, s: &Slot, f: impl Fn(u32, u32, u32) -> u32) -> Done {
    let out = map!(w, s, Kind::Bits, |a = 0, b = 1, c = 2| f(a, b, c));
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
    let mut out = map!(w, s, Kind::Single, |a = 0| f(f32::from_bits(a)).to_bits());
    put_single(w, s, &mut out);
    Ok(())
}

/// Two singles.
#[inline(always)]
pub(super) fn single2(w: &mut Wave, s: &Slot, f: impl Fn(f32, f32) -> f32) -> Done {
    let f = |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits();
    let mut out = map!(w, s, Kind::Single, |a = 0, b = 1| f(a, b));
    put_single(w, s, &mut out);
    Ok(())
}

/// Three singles.
#[inline(always)]
pub(super) fn single3(w: &mut Wave, s: &Slot, f: impl Fn(f32, f32, f32) -> f32) -> Done {
    let f = |a, b, c| f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits();
    let mut out = map!(w, s, Kind::Single, |a = 0, b = 1, c = 2| f(a, b, c));
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
    let mut out = map_doubles(w, s, 0, |[a]| f(a).to_bits());
    put_double(w, s, &mut out);
    Ok(())
}

/// Two doubles.
#[inline(always)]
pub(super) fn double2(w: &mut Wave, s: &Slot, f: impl Fn(f64, f64) -> f64) -> Done {
    let mut out = map_doubles(w, s, 0, |[a, b]| f(a, b).to_bits());
    put_double(w, s, &mut out);
    Ok(())
}

/// A double to a 32-bit result.
#[inline(always)]
pub(super) fn double_to(w: &mut Wave, s: &Slot, f: impl Fn(f64) -> u32) -> Done {
    let out = Lanes(map_doubles(w, s, 0, |[a]| f(a)));
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
    let sources: [Lanes; N] = sources(w, s, Kind::Half);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(f(std::array::from_fn(|k| half_to_single(sources[k].0[l] as u16))));
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
    let sources: [Lanes; N] = sources(w, s, Kind::Bits16);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(f(std::array::from_fn(|k| sources[k].0[l] as u16)));
    }
    put16(w, &s.inst, &mut out, keeps);
    Ok(())
}
