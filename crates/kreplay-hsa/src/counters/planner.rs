//! Packs events into passes.
//!
//! Blocks count independently of each other, so with `n_b` events of block `b` and `s_b` slots, a pass can hold at most
//! `s_b` of them, and `max over b of ⌈n_b / s_b⌉` passes are both needed and enough: each block deals its events out
//! `s_b` at a time, and pass `k` is what every block has for it.
//!
//! Among the packings with that few passes, one is taken that keeps events together that are read together (those of one
//! metric): a ratio is worth most when both of its sides are of the same pass. A block that cannot keep them together
//! without another pass deals its events out in the order of the request.

use std::collections::BTreeMap;

/// For each event, given by its block's number, the pass it is counted in, from 0; and how many passes that makes.
/// `slots` answers for a block's slots, at least 1. Each of `together` names events, by their places in `blocks`, that
/// are wanted in one pass; the first come first.
pub fn pack(blocks: &[u32], slots: impl Fn(u32) -> u32, together: &[Vec<usize>]) -> (Vec<u32>, u32) {
    let mut of_block = BTreeMap::<u32, Vec<usize>>::new();
    for (event, block) in blocks.iter().enumerate() {
        of_block.entry(*block).or_default().push(event);
    }
    let mut places = vec![0; blocks.len()];
    for (block, events) in &of_block {
        let slots = slots(*block).max(1) as usize;
        let fewest = events.len().div_ceil(slots);
        let clustered = Some(fill(clusters(events, slots, together), slots)).filter(|bins| bins.len() == fewest);
        let bins = clustered.unwrap_or_else(|| events.chunks(slots).map(<[usize]>::to_vec).collect());
        for (pass, bin) in bins.iter().enumerate() {
            bin.iter().for_each(|event| places[*event] = pass as u32);
        }
    }
    let passes = places.iter().map(|pass| pass + 1).max().unwrap_or(0);
    (places, passes)
}

/// A block's events in clusters, each in one cluster: those of `together` that fit the slots and do not share an event
/// with an earlier one, largest first; then single events, in order.
fn clusters(events: &[usize], slots: usize, together: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for wanted in together {
        let here: Vec<usize> = events.iter().copied().filter(|event| wanted.contains(event)).collect();
        let taken = clusters.iter().flatten().any(|event| here.contains(event));
        if (2..=slots).contains(&here.len()) && !taken {
            clusters.push(here);
        }
    }
    clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.len()));
    let single: Vec<usize> =
        events.iter().copied().filter(|event| !clusters.iter().flatten().any(|taken| taken == event)).collect();
    clusters.extend(single.into_iter().map(|event| vec![event]));
    clusters
}

/// Puts each cluster into the first bin that has room for all of it.
fn fill(clusters: Vec<Vec<usize>>, slots: usize) -> Vec<Vec<usize>> {
    let mut bins: Vec<Vec<usize>> = Vec::new();
    for cluster in clusters {
        match bins.iter_mut().find(|bin| bin.len() + cluster.len() <= slots) {
            Some(bin) => bin.extend(cluster),
            None => bins.push(cluster),
        }
    }
    bins
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
            together in proptest::collection::vec(proptest::collection::vec(0_usize..8, 0..4), 0..4),
        ) {
            let (places, passes) = pack(&blocks, |block| slots[block as usize], &together);
            let mut best = blocks.len() as u32 + 1;
            fewest(&blocks, &slots, &mut Vec::new(), &mut best);
            proptest::prop_assert_eq!(passes, best);
            proptest::prop_assert_eq!(places.len(), blocks.len());
        }

        #[test]
        fn every_pass_fits_the_slots_and_none_is_empty(
            blocks in proptest::collection::vec(0_u32..6, 0..200),
            slots in proptest::collection::vec(1_u32..9, 6),
            together in proptest::collection::vec(proptest::collection::vec(0_usize..200, 0..6), 0..20),
        ) {
            let (places, passes) = pack(&blocks, |block| slots[block as usize], &together);
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
        let passes = |events: Vec<u32>| pack(&events, slots, &[]).1;
        assert_eq!(passes(events(8, 4, 2)), 1);
        assert_eq!(passes(events(9, 4, 2)), 2);
        assert_eq!(passes(events(16, 9, 0)), 3);
        assert_eq!(passes(vec![]), 0);
    }

    #[test]
    fn events_of_a_metric_stay_together_where_that_costs_nothing() {
        let places = |events: usize, together: &[Vec<usize>]| pack(&vec![0; events], |_| 4, together).0;
        // In order they would fall apart: 3 | 4.
        assert_eq!(places(6, &[vec![3, 4]]), [0, 0, 1, 0, 0, 1]);
        // Two of three and one of two fill one pass and a half; everything else goes where there is room.
        assert_eq!(places(8, &[vec![1, 6, 7], vec![0, 4]]), [1, 0, 0, 1, 1, 1, 0, 0]);
        // Three threes need three passes, which is one too many: in order.
        let apart = [vec![0, 3, 6], vec![1, 4, 7], vec![2, 5]];
        assert_eq!(places(8, &apart), [0, 0, 0, 0, 1, 1, 1, 1]);
        // More than the slots hold cannot stay together.
        assert_eq!(places(6, &[(0..6).collect()]), [0, 0, 0, 0, 1, 1]);
    }
}
