//! Reduction of large angles: pieces of 2/π.

/// The first 1216 bits of 2/π behind the binary point.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// Bits `first..first + 53` of 2/π; behind bit 1200 the hardware has zeros.
fn bits(first: u32) -> u64 {
    let word = |n: u32| TWO_OVER_PI.get(n as usize).copied().unwrap_or(0);
    let (n, shift) = (first / 64, first % 64);
    let window = (u128::from(word(n)) << 64 | u128::from(word(n + 1))) << shift;
    let taken = (window >> (128 - 53)) as u64;
    let beyond = (first + 53).saturating_sub(1201).min(53);
    taken >> beyond << beyond
}

/// `v_trig_preop_f64`: the part of 2/π that matters for the angle `x`, piece `segment`.
pub(in crate::exec::vector) fn trig_preop(x: f64, segment: u32) -> f64 {
    let exponent = (x.to_bits() >> 52 & 0x7ff) as u32;
    let shift = (segment & 0x1f) * 53 + exponent.saturating_sub(1077);
    let mut scale = -53 - shift as i32;
    if exponent >= 1968 {
        scale += 128;
    }
    super::ldexp64(bits(shift) as f64, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_add_up_to_two_over_pi() {
        assert_eq!(trig_preop(1.0, 0) + trig_preop(1.0, 1), std::f64::consts::FRAC_2_PI);
        assert!(trig_preop(1.0, 0) < 1.0 && trig_preop(1.0, 1) < 2f64.powi(-53));
    }

    #[test]
    fn large_angles_skip_what_gives_whole_turns() {
        // The first 64 - 53 + 1077 bits of 2/π times x are multiples of four for x = 2^1023.
        assert!(trig_preop(2f64.powi(1023), 0).abs() < 1.0);
    }
}
