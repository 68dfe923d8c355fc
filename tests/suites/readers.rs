//! Readers of foreign bytes against seeded damage. What the fuzz targets try for hours is tried here for seconds, the
//! same in every run.
#![forbid(unsafe_code)]

use kreplay_tests::readers;

/// SplitMix64: small, seeded, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// `seed` with one kind of damage: bits flipped, bytes overwritten, cut, doubled, or grown.
    fn damaged(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                2 => bytes.truncate(at),
                3 => {
                    let end = at + self.below(64).min(bytes.len() - at);
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                4 => {
                    let count = self.below(16);
                    let more = self.bytes(count);
                    bytes.splice(at..at, more);
                }
                _ if bytes.len() > 4 => {
                    let at = at.min(bytes.len() - 4);
                    let word = [0u32, 1, u32::MAX, 0x7fff_ffff, 4 << 20][self.below(5)];
                    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
                }
                _ => {}
            }
        }
        bytes
    }
}

#[test]
fn the_protocol_takes_any_bytes() {
    let mut random = Random(1);
    let seeds = readers::protocol_seeds();
    assert!(seeds.iter().all(|seed| readers::protocol(seed) > 0), "every seed is valid");
    for round in 0..20_000 {
        let count = random.below(200);
        let bytes = if round % 4 == 0 { random.bytes(count) } else { random.damaged(&seeds[round % seeds.len()]) };
        readers::protocol(&bytes);
    }
}

#[test]
fn the_store_takes_any_bytes() {
    let mut random = Random(2);
    let seed = readers::store_seed();
    assert!(readers::store(&seed), "the seed is valid");
    for round in 0..400 {
        let count = random.below(5000);
        let bytes = if round % 8 == 0 { random.bytes(count) } else { random.damaged(&seed) };
        readers::store(&bytes);
    }
}

#[test]
fn the_instruction_decoder_takes_any_bytes() {
    let mut random = Random(3);
    // The demo's machine code, with all that lies around it.
    let seed = include_bytes!("../../demo/kernels/demo-gfx90a.co");
    assert!(readers::instructions(seed) > 200, "the seed holds instructions");
    for round in 0..2_000 {
        let count = random.below(4000);
        let bytes = if round % 2 == 0 { random.bytes(count) } else { random.damaged(seed) };
        readers::instructions(&bytes);
    }
}
