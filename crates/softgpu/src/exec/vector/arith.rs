//! Addition, multiplication and fused multiply-add: on the host where it rounds as the mode says, else in software.

use super::float::{Format, fma};
use super::lanes::{put_double, put_half, put_single, single2, single3};
use super::source::{Kind, Kind64, src, src64};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Rounding, Wave};

type Done = Result<(), Stop>;

const ONE32: u64 = 0x3f80_0000;
const ONE64: u64 = 0x3ff0_0000_0000_0000;
const SIGN32: u64 = 0x8000_0000;

/// What is worked out. The names with `Rev` take their operands the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arith {
    Add,
    Sub,
    SubRev,
    Mul,
}

/// One operation in a format, with any rounding.
fn by_software(op: Arith, a: u64, b: u64, format: Format, rounding: Rounding, one: u64, sign: u64) -> u64 {
    match op {
        Arith::Add => fma(a, one, b, format, rounding),
        Arith::Sub => fma(a, one, b ^ sign, format, rounding),
        Arith::SubRev => fma(b, one, a ^ sign, format, rounding),
        // A zero addend would turn −0 into +0, but for one of the product's sign.
        Arith::Mul => fma(a, b, (a ^ b) & sign, format, rounding),
    }
}

/// A single from one operation, rounded as the mode says.
pub(super) fn rounded32(op: Arith, a: u32, b: u32, rounding: Rounding) -> u32 {
    by_software(op, a.into(), b.into(), Format::SINGLE, rounding, ONE32, SIGN32) as u32
}

/// A single-precision operation of two sources.
#[inline(always)]
pub(super) fn arith32(w: &mut Wave, s: &Slot, op: Arith) -> Done {
    let rounding = w.float.round32;
    if rounding != Rounding::NearestEven {
        return single2(w, s, |a, b| f32::from_bits(rounded32(op, a.to_bits(), b.to_bits(), rounding)));
    }
    match op {
        Arith::Add => single2(w, s, |a, b| a + b),
        Arith::Sub => single2(w, s, |a, b| a - b),
        Arith::SubRev => single2(w, s, |a, b| b - a),
        Arith::Mul => single2(w, s, |a, b| a * b),
    }
}

/// `a · b + c` with two roundings, which also flushes denormals whatever the mode says.
pub(super) fn mad32(w: &mut Wave, s: &Slot, third: Option<Lanes>) -> Done {
    use super::source::flush32;
    let rounding = w.float.round32;
    let f = move |a: u32, b: u32, c: u32| {
        let (a, b, c) = (flush32(a), flush32(b), flush32(c));
        let product = flush32(rounded32(Arith::Mul, a, b, rounding));
        f32::from_bits(flush32(rounded32(Arith::Add, product, c, rounding)))
    };
    match third {
        None => single3(w, s, |a, b, c| f(a.to_bits(), b.to_bits(), c.to_bits())),
        Some(c) => {
            let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
            let a = *src(w, s, 0, Kind::Single, &mut buffer_a);
            let b = *src(w, s, 1, Kind::Single, &mut buffer_b);
            let mut out = Lanes::ZERO;
            for l in 0..LANES {
                out.0[l] = f(a.0[l], b.0[l], c.0[l]).to_bits();
            }
            put_single(w, s, &mut out);
            Ok(())
        }
    }
}

/// Fused multiply-add of singles over all lanes, on a host whose baseline may lack the instruction.
pub(super) fn fma_lanes(a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn fast(a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) {
            for l in 0..LANES {
                let (a, b, c) = (f32::from_bits(a.0[l]), f32::from_bits(b.0[l]), f32::from_bits(c.0[l]));
                out.0[l] = a.mul_add(b, c).to_bits();
            }
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the host has both features, as has just been asked.
            return unsafe { fast(a, b, c, out) };
        }
    }
    for l in 0..LANES {
        let (a, b, c) = (f32::from_bits(a.0[l]), f32::from_bits(b.0[l]), f32::from_bits(c.0[l]));
        out.0[l] = a.mul_add(b, c).to_bits();
    }
}

/// Fused multiply-add of doubles over all lanes.
pub(super) fn fma_lanes64(a: &[u64; LANES], b: &[u64; LANES], c: &[u64; LANES], out: &mut [u64; LANES]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn fast(a: &[u64; LANES], b: &[u64; LANES], c: &[u64; LANES], out: &mut [u64; LANES]) {
            for l in 0..LANES {
                out[l] = f64::from_bits(a[l]).mul_add(f64::from_bits(b[l]), f64::from_bits(c[l])).to_bits();
            }
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the host has both features, as has just been asked.
            return unsafe { fast(a, b, c, out) };
        }
    }
    for l in 0..LANES {
        out[l] = f64::from_bits(a[l]).mul_add(f64::from_bits(b[l]), f64::from_bits(c[l])).to_bits();
    }
}

/// Fused multiply-add of singles in the mode's rounding.
pub(super) fn fma_all32(w: &Wave, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) {
    let rounding = w.float.round32;
    if rounding == Rounding::NearestEven {
        return fma_lanes(a, b, c, out);
    }
    for l in 0..LANES {
        out.0[l] = fma(a.0[l].into(), b.0[l].into(), c.0[l].into(), Format::SINGLE, rounding) as u32;
    }
}

/// `v_fma_f32`, or `v_fmac_f32` with the destination as third source.
#[inline(always)]
pub(super) fn fma32(w: &mut Wave, s: &Slot, accumulate: bool) -> Done {
    let mut out = Lanes::ZERO;
    {
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
        let a = src(w, s, 0, Kind::Single, &mut buffer_a);
        let b = src(w, s, 1, Kind::Single, &mut buffer_b);
        let c = if accumulate { w.v(s.inst.dst, 0) } else { src(w, s, 2, Kind::Single, &mut buffer_c) };
        fma_all32(w, a, b, c, &mut out);
    }
    put_single(w, s, &mut out);
    Ok(())
}

/// `v_fma_f64`, or `v_fmac_f64` with the destination as third source.
pub(super) fn fma64(w: &mut Wave, s: &Slot, accumulate: bool) -> Done {
    let a = src64(w, s, 0, Kind64::Double);
    let b = src64(w, s, 1, Kind64::Double);
    let mut c = [0; LANES];
    if accumulate {
        let (low, high) = (w.v(s.inst.dst, 0), w.v(s.inst.dst, 1));
        for l in 0..LANES {
            c[l] = u64::from(low.0[l]) | u64::from(high.0[l]) << 32;
        }
    } else {
        c = src64(w, s, 2, Kind64::Double);
    }
    let mut out = [0; LANES];
    let rounding = w.float.round64;
    if rounding == Rounding::NearestEven {
        fma_lanes64(&a, &b, &c, &mut out);
    } else {
        for l in 0..LANES {
            out[l] = fma(a[l], b[l], c[l], Format::DOUBLE, rounding);
        }
    }
    put_double(w, s, &mut out);
    Ok(())
}

/// A double-precision operation of two sources.
pub(super) fn arith64(w: &mut Wave, s: &Slot, op: Arith) -> Done {
    let rounding = w.float.round64;
    let a = src64(w, s, 0, Kind64::Double);
    let b = src64(w, s, 1, Kind64::Double);
    let mut out = [0; LANES];
    let native = rounding == Rounding::NearestEven;
    for l in 0..LANES {
        let (x, y) = (f64::from_bits(a[l]), f64::from_bits(b[l]));
        out[l] = match op {
            Arith::Add if native => (x + y).to_bits(),
            Arith::Mul if native => (x * y).to_bits(),
            _ => by_software(op, a[l], b[l], Format::DOUBLE, rounding, ONE64, 1 << 63),
        };
    }
    put_double(w, s, &mut out);
    Ok(())
}

/// A half-precision fused multiply-add, as bits.
pub(super) fn fma_half(a: u16, b: u16, c: u16, rounding: Rounding) -> u16 {
    fma(a.into(), b.into(), c.into(), Format::HALF, rounding) as u16
}

/// `a · b + c` of halves. The unfused kind rounds the product first.
pub(super) fn fma16(w: &mut Wave, s: &Slot, fused: bool, accumulate: bool, keeps: bool) -> Done {
    let mut values = [Lanes::ZERO; 3];
    for (k, value) in values.iter_mut().enumerate() {
        let mut buffer = Lanes::ZERO;
        *value = if k == 2 && accumulate { *w.v(s.inst.dst, 0) } else { *src(w, s, k, Kind::Half, &mut buffer) };
    }
    let rounding = w.float.round64;
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let [a, b, c] = values.each_ref().map(|value| value.0[l] as u16);
        out.0[l] = u32::from(if fused {
            fma_half(a, b, c, rounding)
        } else {
            let product = fma_half(a, b, (a ^ b) & 0x8000, rounding);
            fma_half(product, 0x3c00, c, rounding)
        });
    }
    put_half(w, s, &mut out, keeps);
    Ok(())
}
