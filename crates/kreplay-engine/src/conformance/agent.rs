//! The agent alone: what the seam's contract promises of memory and work.

use super::{Kernel, Rig, observes_or_skips};
use crate::{Agent, AgentError, Backing, Chunk, Move, Range, Tier};
use std::time::{Duration, Instant};

pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

pub(super) fn pattern(bytes: u64, seed: u8) -> Vec<u8> {
    (0..bytes).map(|at| (at as u8).wrapping_mul(37).wrapping_add(seed)).collect()
}

/// Program memory with this content.
pub(super) fn filled<R: Rig>(rig: &R, bytes: u64, seed: u8) -> u64 {
    let base = rig.allocate(bytes);
    rig.write(base, &pattern(bytes, seed));
    base
}

/// The description is constant, and free memory is not more than there is.
pub fn describes_itself_and_its_memory<R: Rig>(rig: &R) {
    let agent = rig.agent();
    let (first, second) = (agent.describe(), agent.describe());
    assert_eq!(first.id, second.id);
    assert!(!first.name.is_empty() && first.name == second.name);
    let memory = agent.memory().expect("it tells its memory");
    assert!(memory.free <= memory.total && memory.total > 0);
}

/// Backing is aligned, does not overlap, and can be freed.
pub fn allocates_both_tiers_aligned<R: Rig>(rig: &R) {
    let agent = rig.agent();
    for tier in [Tier::Device, Tier::Host] {
        let mut held: Vec<Backing> =
            [1, 100, 4096, 70_001].map(|bytes| agent.allocate(tier, bytes).expect("room")).into_iter().collect();
        for (backing, asked) in held.iter().zip([1, 100, 4096, 70_001]) {
            assert_eq!(backing.tier, tier);
            assert!(backing.range.bytes >= asked, "{tier:?}: {} bytes for {asked}", backing.range.bytes);
            assert_eq!(backing.range.base % 256, 0, "{tier:?}: base {:#x}", backing.range.base);
        }
        held.sort_by_key(|backing| backing.range);
        assert!(held.windows(2).all(|pair| !pair[0].range.overlaps(pair[1].range)));
        held.into_iter().for_each(|backing| agent.free(backing));
    }
}

/// Every alignment of source, destination and length; nothing beside the destination changes.
pub fn copies_at_any_alignment<R: Rig>(rig: &R) {
    let agent = rig.agent();
    let (from, to) = (filled(rig, 512, 1), filled(rig, 512, 99));
    for (source, target, bytes) in
        [(0, 0, 512), (1, 0, 17), (0, 3, 64), (5, 2, 129), (7, 7, 1), (13, 250, 200), (16, 32, 48), (2, 1, 255)]
    {
        rig.write(to, &pattern(512, 99));
        agent.copy(&[Move { to: to + target, from: from + source, bytes }]).expect("copied");
        agent.settle(soon()).expect("settled");
        let mut expected = pattern(512, 99);
        let (source, target, bytes) = (source as usize, target as usize, bytes as usize);
        expected[target..target + bytes].copy_from_slice(&pattern(512, 1)[source..source + bytes]);
        assert!(rig.read(Range::new(to, 512)) == expected, "copy of {bytes} bytes from +{source} to +{target}");
    }
    agent.copy(&[]).expect("no moves are legal");
    agent.settle(soon()).expect("settled");
    rig.free(from);
    rig.free(to);
}

/// Device → host tier → device tier → program, bytes kept.
pub fn copies_between_tiers<R: Rig>(rig: &R) {
    let agent = rig.agent();
    let bytes = 100_003;
    let (from, to) = (filled(rig, bytes, 5), filled(rig, bytes, 0));
    let host = agent.allocate(Tier::Host, bytes).expect("room");
    let device = agent.allocate(Tier::Device, bytes).expect("room");
    for (target, source) in [(host.range.base, from), (device.range.base, host.range.base), (to, device.range.base)] {
        agent.copy(&[Move { to: target, from: source, bytes }]).expect("copied");
    }
    agent.settle(soon()).expect("settled");
    assert!(rig.read(Range::new(to, bytes)) == pattern(bytes, 5));
    agent.free(host);
    agent.free(device);
    rig.free(from);
    rig.free(to);
}

/// One call with many moves of odd sizes.
pub fn copies_many_small_moves<R: Rig>(rig: &R) {
    let agent = rig.agent();
    let bytes = 40_000;
    let (from, to) = (filled(rig, bytes, 9), filled(rig, bytes, 200));
    let mut expected = pattern(bytes, 200);
    let source = pattern(bytes, 9);
    let mut moves = Vec::new();
    for index in 0..600u64 {
        let (start, length) = (index * 66 + index % 5, 1 + index * 7 % 60);
        moves.push(Move { to: to + start, from: from + start, bytes: length });
        let (start, end) = (start as usize, (start + length) as usize);
        expected[start..end].copy_from_slice(&source[start..end]);
    }
    agent.copy(&moves).expect("copied");
    agent.settle(soon()).expect("settled");
    assert!(rig.read(Range::new(to, bytes)) == expected);
    rig.free(from);
    rig.free(to);
}

/// Copies, kernels and compares take effect in the order of the calls; work can be submitted again and again.
pub fn work_is_ordered_and_can_be_repeated<R: Rig>(rig: &R) {
    let agent = rig.agent();
    let bytes = 4096;
    let at = Range::new(rig.allocate(bytes), bytes);
    rig.write(at.base, &[0; 4096]);
    let kept = agent.allocate(Tier::Device, bytes).expect("room");
    let work = rig.work(&Kernel::Add { at, value: 1 });
    for _ in 0..3 {
        agent.submit(&work).expect("submitted");
    }
    agent.copy(&[Move { to: kept.range.base, from: at.base, bytes }]).expect("copied");
    for _ in 0..4 {
        agent.submit(&work).expect("submitted");
    }
    agent.settle(soon()).expect("settled");
    assert!(rig.read(at) == [7, 0, 0, 0].repeat(1024));
    agent.copy(&[Move { to: at.base, from: kept.range.base, bytes }]).expect("copied");
    agent.submit(&work).expect("submitted");
    agent.drain(soon()).expect("drained");
    assert!(rig.read(at) == [4, 0, 0, 0].repeat(1024));
    agent.free(kept);
    rig.free(at.base);
}

/// Marks count what is over, and begin anew when everything was waited for.
pub fn marks_tell_how_far_the_queue_has_come<R: Rig>(rig: &R) {
    let agent = rig.agent();
    if agent.reached().is_none() {
        assert!(matches!(agent.mark(), Err(AgentError::Unsupported(_))));
        println!("skipped: this agent does not mark its queue");
        return;
    }
    if !observes_or_skips(rig) {
        return;
    }
    let at = Range::new(rig.allocate(4096), 4096);
    let work = rig.work(&Kernel::Add { at, value: 1 });
    for waits in [Agent::settle, Agent::drain] {
        for marks in [1, 3, 70] {
            assert_eq!(agent.reached(), Some(0));
            for _ in 0..marks {
                agent.submit(&work).expect("submitted");
                agent.mark().expect("marked");
            }
            // The answer comes behind all of them.
            let ticket = agent.hash(&[at], Chunk::DEFAULT).expect("hashed");
            agent.answer(ticket, soon()).expect("answered");
            assert_eq!(agent.reached(), Some(marks));
            waits(&*agent, soon()).expect("over");
        }
    }
    rig.free(at.base);
}

/// What no device has is denied, and nothing else is.
pub fn too_large_an_allocation_is_exhausted<R: Rig>(rig: &R) {
    let agent = rig.agent();
    let total = agent.memory().expect("it tells its memory").total;
    match agent.allocate(Tier::Device, total.saturating_mul(2).max(1 << 50)) {
        Err(AgentError::Exhausted { .. }) => {}
        Err(other) => panic!("not enough memory was reported as: {other}"),
        Ok(backing) => panic!("{} bytes of a device that has {total}", backing.range.bytes),
    }
    let small = agent.allocate(Tier::Device, 4096).expect("there is room for little");
    agent.free(small);
}
