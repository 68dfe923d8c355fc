//! Packs events into passes.
//!
//! Blocks count independently of each other, so with `n_b` events of block `b` and `s_b` slots, a pass can hold at most
//! `s_b` of them, and `max over b of ⌈n_b / s_b⌉` passes are both needed and enough: each block deals its events out
//! `s_b` at a time, and pass `k` is what every block has for it. Within a block events keep the request's order, so
//! that the counters of one metric mostly meet in one pass.

/// For each event, given by its block's number, the pass it is counted in, from 0; and how many passes that makes.
/// `slots` answers for a block's slots, at least 1.
pub fn pack(blocks: &[u32], slots: impl Fn(u32) -> u32) -> (Vec<u32>, u32) {
    let mut dealt = std::collections::BTreeMap::<u32, u32>::new();
    let places: Vec<u32> = blocks
        .iter()
        .map(|&block| {
            let before = dealt.entry(block).or_default();
            let pass = *before / slots(block).max(1);
            *before += 1;
            pass
        })
        .collect();
    let passes = places.iter().map(|pass| pass + 1).max().unwrap_or(0);
    (places, passes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fewest passes, by trying every way to put each event into any pass so far or a new one.
    fn fewest(blocks: &[u32], slots: &[u32], passes: &mut Vec<Vec<u32>>, best: &mut u32) {
        let Some((&block, rest)) = blocks.split_first() else {
            *best = (*best).min(passes.len() as u32);
            return;
        };
        for at in 0..passes.len() {
            if passes[at][block as usize] < slots[block as usize] {
                passes[at][block as usize] += 1;
                fewest(rest, slots, passes, best);
                passes[at][block as usize] -= 1;
            }
        }
        if (passes.len() as u32) < *best {
            let mut fresh = vec![0; slots.len()];
            fresh[block as usize] = 1;
            passes.push(fresh);
            fewest(rest, slots, passes, best);
            passes.pop();
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn no_packing_has_fewer_passes(
            blocks in proptest::collection::vec(0_u32..3, 0..8),
            slots in proptest::collection::vec(1_u32..4, 3),
        ) {
            let (places, passes) = pack(&blocks, |block| slots[block as usize]);
            let mut best = blocks.len() as u32 + 1;
            fewest(&blocks, &slots, &mut Vec::new(), &mut best);
            proptest::prop_assert_eq!(passes, best);
            proptest::prop_assert_eq!(places.len(), blocks.len());
        }

        #[test]
        fn every_pass_fits_the_slots_and_none_is_empty(
            blocks in proptest::collection::vec(0_u32..6, 0..200),
            slots in proptest::collection::vec(1_u32..9, 6),
        ) {
            let (places, passes) = pack(&blocks, |block| slots[block as usize]);
            for pass in 0..passes {
                let held: Vec<u32> =
                    places.iter().zip(&blocks).filter(|(at, _)| **at == pass).map(|(_, block)| *block).collect();
                proptest::prop_assert!(!held.is_empty());
                for block in 0..6 {
                    let count = held.iter().filter(|held| **held == block).count();
                    proptest::prop_assert!(count <= slots[block as usize] as usize);
                }
            }
        }
    }

    #[test]
    fn the_limits_of_a_gfx90a() {
        let slots = |block| [8, 4, 2][block as usize];
        let events = |sq, tcc, grbm| [vec![0; sq], vec![1; tcc], vec![2; grbm]].concat();
        assert_eq!(pack(&events(8, 4, 2), slots).1, 1);
        assert_eq!(pack(&events(9, 4, 2), slots).1, 2);
        assert_eq!(pack(&events(16, 9, 0), slots).1, 3);
        assert_eq!(pack(&[], slots).1, 0);
    }
}
