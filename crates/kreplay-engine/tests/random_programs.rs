//! Random programs leave the same memory with and without the engine, bit for bit, whatever the settings.

use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{
    Chunk, Outcome, Range, Reach, RegionKind, RestoreMode, Settings, ShadowMode, VerifyMode, Writers,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Allocate {
        words: u64,
        others: bool,
    },
    Free(usize),
    Fill {
        at: usize,
        part: (u64, u64),
        value: u32,
    },
    Add {
        at: usize,
        part: (u64, u64),
        value: u32,
    },
    Accumulate {
        from: usize,
        to: usize,
        word: u64,
    },
    Copy {
        from: usize,
        to: usize,
        words: u64,
    },
    Write {
        at: usize,
        part: (u64, u64),
        byte: u8,
    },
    /// By somebody who is not seen.
    Foreign {
        at: usize,
        part: (u64, u64),
        byte: u8,
    },
    ReleaseIdle,
    Check,
}

fn step() -> impl Strategy<Value = Step> {
    let part = (any::<u64>(), 1u64..200);
    prop_oneof![
        2 => (1u64..700, any::<bool>()).prop_map(|(words, others)| Step::Allocate { words, others }),
        1 => any::<usize>().prop_map(Step::Free),
        3 => (any::<usize>(), part.clone(), any::<u32>()).prop_map(|(at, part, value)| Step::Fill { at, part, value }),
        5 => (any::<usize>(), part.clone(), any::<u32>()).prop_map(|(at, part, value)| Step::Add { at, part, value }),
        3 => (any::<usize>(), any::<usize>(), any::<u64>())
            .prop_map(|(from, to, word)| Step::Accumulate { from, to, word }),
        3 => (any::<usize>(), any::<usize>(), 1u64..700).prop_map(|(from, to, words)| Step::Copy { from, to, words }),
        2 => (any::<usize>(), part.clone(), any::<u8>()).prop_map(|(at, part, byte)| Step::Write { at, part, byte }),
        1 => (any::<usize>(), part, any::<u8>()).prop_map(|(at, part, byte)| Step::Foreign { at, part, byte }),
        1 => Just(Step::ReleaseIdle),
        1 => Just(Step::Check),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let restore = prop_oneof![3 => Just(RestoreMode::Observed), 1 => Just(RestoreMode::Full)];
    let verify = prop_oneof![Just(VerifyMode::Off), Just(VerifyMode::Outputs), Just(VerifyMode::All)];
    let shadow = prop_oneof![Just(ShadowMode::Safe), Just(ShadowMode::Trusted)];
    let reach = prop_oneof![Just(Reach::All), Just(Reach::Arguments)];
    let reserve = prop_oneof![2 => Just(0), 1 => Just(u64::MAX), 1 => Just((1 << 40) - 3000)];
    (restore, verify, shadow, reach, 1u32..5, prop_oneof![Just(64u64), Just(256), Just(4096)], reserve).prop_map(
        |(restore, verify, shadow, reach, uncounted_passes, chunk, device_reserve)| {
            let chunk = Chunk::new(chunk).unwrap();
            let base = Settings { restore, verify, shadow, reach, uncounted_passes, chunk, ..Settings::default() };
            Settings { device_reserve, ..base }
        },
    )
}

/// A part of a range in whole words.
fn part(range: Range, (start, words): (u64, u64)) -> Range {
    let first = start % (range.bytes / 4);
    Range::new(range.base + first * 4, words.min(range.bytes / 4 - first) * 4)
}

fn run(settings: Settings, steps: Vec<Step>) {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    // A writer that is not seen may write what the shadow is trusted for only where it is declared.
    let trusted = settings.shadow == ShadowMode::Trusted && settings.restore == RestoreMode::Observed;
    let passes = settings.uncounted_passes;
    let mut world = World::new(&rig, settings);
    let mut live: Vec<(Range, Writers)> = Vec::new();
    let mut last = String::new();
    for step in steps {
        last = format!("{step:?}");
        if let Step::Allocate { words, others } = step {
            let writers = if others { Writers::Others } else { Writers::Seen };
            live.push((world.allocate_as(words * 4, RegionKind::Device, writers), writers));
            continue;
        }
        if live.is_empty() {
            continue;
        }
        let pick = |index: usize| live[index % live.len()].0;
        match step {
            Step::Allocate { .. } => {}
            Step::Free(index) => {
                let (range, _) = live.swap_remove(index % live.len());
                world.free(range);
            }
            Step::Fill { at, part: p, value } => {
                world.launch(&Kernel::Fill { to: part(pick(at), p), value });
            }
            Step::Add { at, part: p, value } => {
                world.launch(&Kernel::Add { at: part(pick(at), p), value });
            }
            Step::Accumulate { from, to, word } => {
                let to = part(pick(to), (word, 1));
                world.launch(&Kernel::Accumulate { from: pick(from), to: to.base });
            }
            Step::Copy { from, to, words } => {
                let (from, to) = (pick(from), pick(to));
                if from.base != to.base {
                    let bytes = (words * 4).min(from.bytes).min(to.bytes);
                    world.launch(&Kernel::Copy { to: to.base, from: Range::new(from.base, bytes) });
                }
            }
            Step::Write { at, part: p, byte } => {
                let range = part(pick(at), p);
                world.write(range, &vec![byte; range.bytes as usize]);
            }
            Step::Foreign { at, part: p, byte } => {
                let (range, writers) = live[at % live.len()];
                if !trusted || writers == Writers::Others {
                    let range = part(range, p);
                    world.write_unseen(range.base, &vec![byte; range.bytes as usize]);
                }
            }
            Step::ReleaseIdle => {
                world.engine.release_idle();
                assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
            }
            Step::Check => world.check(&last),
        }
    }
    world.check(&last);
    for record in world.log.take_dispatches() {
        let expected = if passes == 1 { Outcome::Counted } else { Outcome::Replayed };
        assert_eq!(record.outcome, expected);
        assert_eq!(record.divergence, None, "these kernels do the same in every pass");
        assert_eq!(record.passes_done, passes);
    }
    drop(world);
    assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn memory_is_the_same_with_and_without_the_engine(
        settings in settings(),
        steps in prop::collection::vec(step(), 1..50),
    ) {
        run(settings, steps);
    }
}

/// Long enough for trust to get past its first audits.
#[test]
fn a_long_trusted_run_stays_right() {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for reach in [Reach::All, Reach::Arguments] {
            let shadow = ShadowMode::Trusted;
            let settings = Settings { verify, shadow, reach, uncounted_passes: 3, ..Settings::default() };
            let mut steps =
                vec![Step::Allocate { words: 600, others: false }, Step::Allocate { words: 600, others: true }];
            for round in 0..80usize {
                steps.push(Step::Add { at: round, part: (round as u64 * 7, 40), value: 3 });
                steps.push(Step::Accumulate { from: round, to: round + 1, word: round as u64 });
                match round % 5 {
                    0 => steps.push(Step::Write { at: 0, part: (round as u64 * 11, 30), byte: round as u8 }),
                    1 => steps.push(Step::Foreign { at: 1, part: (round as u64 * 5, 30), byte: round as u8 }),
                    2 => steps.push(Step::Allocate { words: 100, others: false }),
                    3 => steps.push(Step::Free(2)),
                    _ => steps.push(Step::Check),
                }
            }
            run(settings, steps);
        }
    }
}
