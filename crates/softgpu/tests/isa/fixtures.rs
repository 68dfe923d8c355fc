//! Assembled words and what they are, kept so that the decoder is tested without an assembler, too.

use softgpu::isa::{DecodeError, decode};

#[test]
fn assembled_words_decode_to_their_text() {
    let mut count = 0;
    for line in include_str!("fixtures.txt").lines() {
        let (words, text) = line.split_once(" | ").expect("words and text");
        let words: Vec<u32> =
            words.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a hexadecimal word")).collect();
        let inst = decode(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(inst.to_string(), text);
        assert_eq!(inst.bytes as usize, 4 * words.len(), "{line}");
        count += 1;
    }
    assert!(count > 300, "{count} fixtures");
}

#[test]
fn what_is_cut_off_or_unknown_is_an_error() {
    assert_eq!(decode(&[]), Err(DecodeError::Truncated(0)));
    // v_fma_f32 without its second word; s_mov_b32 without its literal.
    assert_eq!(decode(&[0xd1cb_0004]), Err(DecodeError::Truncated(0xd1cb_0004)));
    assert_eq!(decode(&[0xbe84_00ff]), Err(DecodeError::Truncated(0xbe84_00ff)));
    let name = |words: &[u32]| decode(words).expect_err("unknown").to_string();
    assert_eq!(name(&[0xf080_0f00, 0]), "MIMG (image) opcode 0x20");
    assert_eq!(name(&[0xc400_000f, 0]), "EXP (export) opcode 0x0");
    assert_eq!(name(&[0xbf81_0000 | 0x7f << 16]), "SOPP opcode 0x7f");
}
