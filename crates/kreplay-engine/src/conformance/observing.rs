//! The agent alone: what it finds out on the device, by comparing and hashing.

use super::agent::{filled, pattern, soon};
use super::{Kernel, Rig, observes_or_skips};
use crate::{Agent, Answer, Backing, Chunk, ChunkMap, Move, Pair, Range, Ticket, Tier, Towards};

/// Sizes around chunk borders, as regions come.
const SIZES: [u64; 9] = [1, 3, 255, 256, 257, 1024, 4097, 65_536, 66_001];

struct Compared {
    pairs: Vec<Pair>,
    backing: Vec<Backing>,
    expected: Vec<ChunkMap>,
    chunk: Chunk,
}

/// Memory and its copies, then single bytes changed here and there.
fn compared<R: Rig>(rig: &R) -> Compared {
    let agent = rig.agent();
    let chunk = Chunk::new(256).expect("a power of two");
    let mut compared = Compared { pairs: Vec::new(), backing: Vec::new(), expected: Vec::new(), chunk };
    for (index, bytes) in SIZES.into_iter().enumerate() {
        let memory = filled(rig, bytes, 17);
        let backing = agent.allocate(Tier::Device, bytes).expect("room");
        agent.copy(&[Move { to: backing.range.base, from: memory, bytes }]).expect("copied");
        compared.pairs.push(Pair { memory, shadow: backing.range.base, bytes });
        compared.backing.push(backing);
        let mut map = ChunkMap::new(chunk.count(bytes));
        agent.settle(soon()).expect("settled");
        for at in [0, bytes / 3, bytes - 1].into_iter().filter(|_| index % 3 != 1) {
            rig.write(memory + at, &[!pattern(bytes, 17)[at as usize]]);
            map.mark(at / chunk.bytes());
        }
        compared.expected.push(map);
    }
    compared
}

impl Compared {
    fn release<R: Rig>(self, rig: &R) {
        let agent = rig.agent();
        self.backing.into_iter().for_each(|backing| agent.free(backing));
        self.pairs.iter().for_each(|pair| rig.free(pair.memory));
    }
}

fn chunks<R: Rig>(rig: &R, ticket: Ticket) -> Vec<ChunkMap> {
    match rig.agent().answer(ticket, soon()).expect("answered") {
        Answer::Chunks(maps) => maps,
        Answer::Hashes(_) => panic!("hashes for a compare"),
    }
}

/// One changed byte marks its chunk and no other, odd tails included; an empty request has an empty answer.
pub fn compare_marks_exactly_the_chunks_that_differ<R: Rig>(rig: &R) {
    if !observes_or_skips(rig) {
        return;
    }
    let compared = compared(rig);
    let ticket = rig.agent().compare(&compared.pairs, compared.chunk).expect("asked");
    assert_eq!(chunks(rig, ticket), compared.expected);
    let coarse = Chunk::new(1 << 20).expect("a power of two");
    let ticket = rig.agent().compare(&compared.pairs, coarse).expect("asked");
    let any: Vec<bool> = chunks(rig, ticket).iter().map(|map| map.marked(0)).collect();
    assert_eq!(any, compared.expected.iter().map(|map| !map.is_clear()).collect::<Vec<_>>());
    let none = rig.agent().compare(&[], compared.chunk).expect("asked");
    assert_eq!(chunks(rig, none), []);
    compared.release(rig);
}

/// Comparing twice gives the same answer, and memory is as it was.
pub fn compare_leaves_both_sides_alone<R: Rig>(rig: &R) {
    if !observes_or_skips(rig) {
        return;
    }
    let compared = compared(rig);
    let before: Vec<_> = compared.pairs.iter().map(|pair| rig.read(Range::new(pair.memory, pair.bytes))).collect();
    for _ in 0..2 {
        let ticket = rig.agent().compare(&compared.pairs, compared.chunk).expect("asked");
        assert_eq!(chunks(rig, ticket), compared.expected);
    }
    let after: Vec<_> = compared.pairs.iter().map(|pair| rig.read(Range::new(pair.memory, pair.bytes))).collect();
    assert!(before == after);
    compared.release(rig);
}

/// What differed is told, both sides are alike then, and the right side won.
pub fn synchronise_goes_either_way<R: Rig>(rig: &R) {
    if !observes_or_skips(rig) {
        return;
    }
    for towards in [Towards::Shadow, Towards::Memory] {
        let compared = compared(rig);
        let mut before = Vec::new();
        for pair in &compared.pairs {
            before.push(rig.read(Range::new(pair.memory, pair.bytes)));
        }
        let agent = rig.agent();
        let ticket = agent.synchronise(&compared.pairs, compared.chunk, towards).expect("asked");
        assert_eq!(chunks(rig, ticket), compared.expected, "{towards:?} tells what differed before");
        let ticket = agent.compare(&compared.pairs, compared.chunk).expect("asked");
        assert!(chunks(rig, ticket).iter().all(ChunkMap::is_clear), "{towards:?} leaves both alike");
        for (pair, before) in compared.pairs.iter().zip(before) {
            let after = rig.read(Range::new(pair.memory, pair.bytes));
            let expected = if towards == Towards::Shadow { before } else { pattern(pair.bytes, 17) };
            assert!(after == expected, "{towards:?}, {} bytes", pair.bytes);
        }
        compared.release(rig);
    }
}

fn hashes<R: Rig>(rig: &R, ranges: &[Range], chunk: Chunk) -> Vec<u64> {
    let agent = rig.agent();
    match agent.answer(agent.hash(ranges, chunk).expect("asked"), soon()).expect("answered") {
        Answer::Hashes(hashes) => hashes,
        Answer::Chunks(_) => panic!("chunks for a hash"),
    }
}

/// One hash a chunk; equal bytes agree wherever they lie, one changed bit does not.
pub fn equal_bytes_have_equal_hashes_and_others_do_not<R: Rig>(rig: &R) {
    if !observes_or_skips(rig) {
        return;
    }
    let chunk = Chunk::new(1024).expect("a power of two");
    for bytes in [1, 4, 63, 1023, 1024, 1025, 10_000] {
        let (one, two) = (filled(rig, bytes, 3), filled(rig, bytes, 3));
        let ranges = [Range::new(one, bytes), Range::new(two, bytes)];
        let count = chunk.count(bytes) as usize;
        let same = hashes(rig, &ranges, chunk);
        assert_eq!(same.len(), 2 * count, "{bytes} bytes");
        assert_eq!(same[..count], same[count..], "{bytes} bytes");
        for at in [0, bytes / 2, bytes - 1] {
            let byte = pattern(bytes, 3)[at as usize];
            rig.write(two + at, &[byte ^ 0x10]);
            let other = hashes(rig, &ranges, chunk);
            let differing: Vec<usize> = (0..count).filter(|i| other[*i] != other[count + i]).collect();
            assert_eq!(differing, [(at / chunk.bytes()) as usize], "byte {at} of {bytes}");
            rig.write(two + at, &[byte]);
        }
        rig.free(one);
        rig.free(two);
    }
    // Zeroes of other lengths are other bytes, and chunks that change places are not the same.
    let zeroes = rig.allocate(512);
    rig.write(zeroes, &[0; 512]);
    let short = hashes(rig, &[Range::new(zeroes, 100), Range::new(zeroes, 101)], chunk);
    assert_ne!(short[0], short[1]);
    rig.free(zeroes);
}

/// Several answers may be open at a time, and each is of the moment at which it was asked for.
pub fn tickets_may_be_answered_late_and_in_any_order<R: Rig>(rig: &R) {
    if !observes_or_skips(rig) {
        return;
    }
    let agent = rig.agent();
    let at = Range::new(filled(rig, 2048, 0), 2048);
    let chunk = Chunk::new(1024).expect("a power of two");
    let work = rig.work(&Kernel::Add { at, value: 1 });
    let mut tickets = Vec::new();
    for _ in 0..3 {
        tickets.push(agent.hash(&[at], chunk).expect("asked"));
        agent.submit(&work).expect("submitted");
    }
    let mut answers: Vec<_> = tickets.into_iter().rev().map(|ticket| agent.answer(ticket, soon())).collect();
    answers.reverse();
    let answers: Vec<Answer> = answers.into_iter().map(|answer| answer.expect("answered")).collect();
    assert!(answers[0] != answers[1] && answers[1] != answers[2] && answers[0] != answers[2]);
    // Nobody has waited for the last kernel yet.
    agent.settle(soon()).expect("settled");
    rig.write(at.base, &pattern(2048, 0));
    assert_eq!(answers[0], Answer::Hashes(hashes(rig, &[at], chunk)), "asked before the first kernel");
    rig.free(at.base);
}
