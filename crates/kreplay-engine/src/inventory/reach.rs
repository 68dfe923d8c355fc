//! What a launch's argument bytes point into.

/// Every value in the bytes that could be a pointer: the 64-bit little-endian words at multiples of four. A packed
/// structure may put a pointer between multiples of eight; at odd addresses compilers put none.
pub fn pointers(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    (0..bytes.len().saturating_sub(7)).step_by(4).map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_at_multiples_of_four_are_found() {
        let mut bytes = vec![0; 22];
        bytes[4..12].copy_from_slice(&0x7f00_1234_5678_u64.to_le_bytes());
        bytes[12..20].copy_from_slice(&0x7f00_9abc_def0_u64.to_le_bytes());
        let found: Vec<u64> = pointers(&bytes).collect();
        assert_eq!(found.len(), 4);
        assert!(found.contains(&0x7f00_1234_5678) && found.contains(&0x7f00_9abc_def0));
        assert_eq!(pointers(&[1; 7]).count(), 0);
        assert_eq!(pointers(&[]).count(), 0);
    }
}
