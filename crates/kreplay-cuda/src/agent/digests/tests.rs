//! Looks by hashes against what comparing would find, on the fake driver everywhere and on a GPU where there is one.

use super::super::tests::{Buffer, expected_map, fake_agent, gpu_agent, maps, soon};
use super::*;
use kreplay_engine::{Agent, Backing, Chunk, Tier, Towards};

#[test]
fn what_is_copied_into_a_snapshot_touches_whole_tiles() {
    let mut digests = Digests::default();
    digests.0.insert(0x10_0000, Digest { bytes: 10_000, table: 0x9000 });
    let touched = |base, bytes| digests.touched(Range::new(base, bytes));
    assert_eq!(touched(0x10_0000, 1), Some((Range::new(0x10_0000, 4096), 0x9000)));
    assert_eq!(touched(0x10_0000 + 4095, 2), Some((Range::new(0x10_0000, 8192), 0x9000)));
    assert_eq!(touched(0x10_0000 + 9000, 5000), Some((Range::new(0x10_0000 + 8192, 1808), 0x9010)));
    assert_eq!(touched(0x0f_ff00, 0x101), Some((Range::new(0x10_0000, 4096), 0x9000)));
    assert_eq!((touched(0x0f_ff00, 0x100), touched(0x10_0000 + 10_000, 8)), (None, None));
}

/// Memory and its shadow, and what both hold.
struct Sides<'a> {
    memory: Buffer<'a>,
    shadow: Buffer<'a>,
    held: [Vec<u8>; 2],
}

impl Sides<'_> {
    fn pair(&self) -> Pair {
        let bytes = self.held[0].len() as u64;
        Pair { memory: self.memory.base, shadow: self.shadow.base, bytes }
    }
}

fn check(agent: &CudaAgent) {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % below
    };
    let sizes = [4096, 4097, 10_000, 65_536, 70_001, 300_000, 5];
    let mut sides: Vec<Sides<'_>> = sizes
        .iter()
        .map(|size| {
            let content: Vec<u8> = (0..*size).map(|at| (at * 7 + at / 251) as u8).collect();
            let memory = Buffer::new(agent, Tier::Device, &content);
            let shadow = Buffer::new(agent, Tier::Device, &vec![0xEE; *size]);
            Sides { memory, shadow, held: [content, vec![0xEE; *size]] }
        })
        .collect();
    let chunks = [256, 4096, 16_384].map(|bytes| Chunk::new(bytes).expect("a power of two"));
    for round in 0..120 {
        // Somebody writes memory; now and then a part of it is copied to a shadow, or the other way.
        for _ in 0..random(4) {
            let side = random(sides.len());
            let Sides { memory, shadow, held } = &mut sides[side];
            let start = random(held[0].len());
            let bytes = 1 + random((held[0].len() - start).min(9000));
            match random(3) {
                0 => {
                    held[0][start..start + bytes].iter_mut().for_each(|byte| *byte ^= 0x40);
                    memory.write(&held[0]);
                }
                way => {
                    let (from, to) = if way == 1 { (0, 1) } else { (1, 0) };
                    let bases = [memory.base + start as u64, shadow.base + start as u64];
                    agent.copy(&[Move { to: bases[to], from: bases[from], bytes: bytes as u64 }]).expect("copied");
                    let part = held[from][start..start + bytes].to_vec();
                    held[to][start..start + bytes].copy_from_slice(&part);
                }
            }
        }
        let chunk = chunks[random(chunks.len())];
        let asked: Vec<usize> = (0..sides.len()).filter(|_| random(3) > 0).collect();
        let pairs: Vec<Pair> = asked.iter().map(|side| sides[*side].pair()).collect();
        let towards = [None, Some(Towards::Shadow), Some(Towards::Memory)][random(3)];
        let ticket = match towards {
            None => agent.compare(&pairs, chunk),
            Some(towards) => agent.synchronise(&pairs, chunk, towards),
        };
        let found = maps(agent.answer(ticket.expect("asked"), soon()).expect("answered"));
        for (side, map) in asked.iter().zip(found) {
            let side = &mut sides[*side];
            assert_eq!(
                map,
                expected_map(&side.held[0], &side.held[1], chunk),
                "round {round}, {towards:?}, {} bytes",
                side.held[0].len()
            );
            match towards {
                None => {}
                Some(Towards::Shadow) => side.held[1] = side.held[0].clone(),
                Some(Towards::Memory) => side.held[0] = side.held[1].clone(),
            }
            assert!(
                side.memory.read() == side.held[0] && side.shadow.read() == side.held[1],
                "round {round}, {towards:?}"
            );
        }
    }
    let pairs: Vec<Pair> = sides.iter().map(Sides::pair).collect();
    let ticket = agent.synchronise(&pairs, Chunk::DEFAULT, Towards::Shadow).expect("asked");
    agent.answer(ticket, soon()).expect("answered");
    let hashed = locked(&agent.0.digests).0.len();
    assert_eq!(hashed, sizes.len() - 1, "all but the smallest");
    for pair in pairs {
        agent.free(Backing { range: Range::new(pair.shadow, pair.bytes), tier: Tier::Device, token: 0 });
    }
    assert!(locked(&agent.0.digests).0.is_empty(), "they go with their snapshots");
}

#[test]
fn looks_by_hashes_find_what_comparing_finds() {
    check(&fake_agent());
}

#[test]
fn looks_by_hashes_find_what_comparing_finds_on_a_gpu() {
    if let Some(agent) = gpu_agent() {
        check(&agent);
    }
}

#[test]
fn a_snapshot_whose_hashes_cannot_be_renewed_is_compared() {
    let agent = fake_agent();
    let (memory, shadow) =
        (Buffer::new(&agent, Tier::Device, &[1; 9000]), Buffer::new(&agent, Tier::Device, &[2; 9000]));
    let pair = Pair { memory: memory.base, shadow: shadow.base, bytes: 9000 };
    let ticket = agent.synchronise(&[pair], Chunk::DEFAULT, Towards::Shadow).expect("asked");
    agent.answer(ticket, soon()).expect("answered");
    assert_ne!(locked(&agent.0.digests).of(&pair), 0);
    // The copy is queued, and what should follow it fails.
    memory.write(&[3; 9000]);
    crate::fake::script("cuLaunchKernelEx", &[1]);
    agent.copy(&[Move { to: shadow.base, from: memory.base, bytes: 9000 }]).expect_err("its hashes are lost");
    assert_eq!(locked(&agent.0.digests).of(&pair), 0);
    let ticket = agent.compare(&[pair], Chunk::DEFAULT).expect("asked");
    assert!(maps(agent.answer(ticket, soon()).expect("answered"))[0].is_clear());
}

#[test]
fn a_snapshot_that_was_written_without_its_hashes_is_compared() {
    let agent = fake_agent();
    let (memory, shadow) =
        (Buffer::new(&agent, Tier::Device, &[1; 9000]), Buffer::new(&agent, Tier::Device, &[2; 9000]));
    let synchronise = |bytes| {
        let pair = Pair { memory: memory.base, shadow: shadow.base, bytes };
        let ticket = agent.synchronise(&[pair], Chunk::DEFAULT, Towards::Shadow).expect("asked");
        maps(agent.answer(ticket, soon()).expect("answered")).remove(0)
    };
    synchronise(9000);
    // Shorter regions have come to lie there, one large enough for hashes and one that is not, and memory becomes what it was.
    for (bytes, tiles) in [(5000, 2), (4000, 1)] {
        memory.write(&[3; 9000]);
        synchronise(bytes);
        memory.write(&[1; 9000]);
        assert_eq!(synchronise(9000).count(), tiles, "those of the shorter one of {bytes} bytes");
    }
    assert!(shadow.read() == [1; 9000]);
}
