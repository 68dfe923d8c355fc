//! Whatever the words are, decoding and printing end well.

use proptest::prelude::*;
use softgpu::isa::decode;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn random_words_never_panic(words in prop::collection::vec(any::<u32>(), 0..4)) {
        if let Ok(inst) = decode(&words) {
            prop_assert!(matches!(inst.bytes, 4 | 8));
            prop_assert!(inst.bytes as usize / 4 <= words.len());
            prop_assert!(!inst.to_string().is_empty());
        }
    }

    #[test]
    fn words_of_a_known_encoding_never_panic(
        prefix in prop::sample::select(vec![0xbe80_0000u32, 0xbf80_0000, 0xc000_0000, 0xd000_0000, 0xd380_0000,
            0xd800_0000, 0xdc00_0000, 0xe000_0000, 0x7e00_0000, 0x7c00_0000]),
        rest: u32,
        second: u32,
    ) {
        let first = prefix | rest & 0x03ff_ffff;
        if let Ok(inst) = decode(&[first, second]) {
            prop_assert!(!inst.to_string().is_empty());
        }
    }
}
