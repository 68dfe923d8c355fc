//! Random programs leave the same memory with and without batch windows.

use crate::setup::batch;
use crate::support::limits;
use kreplay_engine::conformance::{Kernel, MemoryRig, World};
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{
    BatchLimits, ByPlan, Chunk, Filter, KernelInfo, Outcome, Range, Settings, ShadowMode, VerifyMode,
};
use proptest::prelude::*;
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Step {
    Launch(u64, u32),
    Plain(u64),
    Operate(u64),
    Once,
    Write(u64),
    Allocate,
    Free(usize),
    /// A part of the pool, as far as nothing lives there.
    Take(u64, u64),
    GiveBack(usize),
    Close,
    Check,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_leave_the_same_memory_in_batch_windows(
        steps in prop::collection::vec(prop_oneof![
            6 => (any::<u64>(), any::<u32>()).prop_map(|(at, value)| Step::Launch(at, value)),
            2 => any::<u64>().prop_map(Step::Plain),
            3 => any::<u64>().prop_map(Step::Operate),
            1 => Just(Step::Once),
            1 => any::<u64>().prop_map(Step::Write),
            1 => Just(Step::Allocate),
            1 => any::<usize>().prop_map(Step::Free),
            2 => (0u64..16, 1u64..9).prop_map(|(at, units)| Step::Take(at, units)),
            2 => any::<usize>().prop_map(Step::GiveBack),
            1 => Just(Step::Close),
            1 => Just(Step::Check),
        ], 1..50),
        passes in 2u32..5,
        verify in prop_oneof![Just(VerifyMode::Off), Just(VerifyMode::Outputs), Just(VerifyMode::All)],
        shadow in prop_oneof![Just(ShadowMode::Safe), Just(ShadowMode::Trusted)],
        dispatches in 1u32..9,
        device_reserve in prop_oneof![2 => Just(0u64), 1 => Just(u64::MAX), 1 => Just((1 << 40) - 5000)],
    ) {
        let rig = MemoryRig::of(MemoryAgent::builder(0).build());
        let chunk = Chunk::new(256).unwrap();
        let limits = BatchLimits { dispatches, ..limits() };
        let settings = Settings { verify, shadow, chunk, batch: limits, device_reserve, ..batch(passes) };
        let mut world = World::with(&rig, settings, Arc::new(NotCopies), Arc::new(ByPlan));
        let mut live = vec![world.allocate(2000), world.allocate(1000)];
        let pool = world.pool(16 * 400);
        let mut taken: Vec<Range> = Vec::new();
        for step in steps {
            let pick = |at: u64| {
                let all = live.len() + taken.len();
                let index = (at % all as u64) as usize;
                let range = *live.get(index).unwrap_or_else(|| &taken[index - live.len()]);
                let start = (at >> 8) % (range.bytes / 4);
                Range::new(range.base + start * 4, ((range.bytes / 4 - start).min(50)) * 4)
            };
            match step {
                Step::Launch(at, value) => drop(world.launch(&Kernel::Add { at: pick(at), value })),
                Step::Plain(at) if live.len() > 1 => {
                    let words = live[0].bytes.min(live[1].bytes).min(4 * (1 + at % 50));
                    world.launch(&Kernel::Copy { to: live[1].base, from: Range::new(live[0].base, words) });
                }
                Step::Plain(_) => {}
                Step::Operate(at) => world.operate(&Kernel::Fill { to: pick(at), value: at as u32 }),
                Step::Once => drop(world.engine.operation()),
                Step::Write(at) => {
                    let range = pick(at);
                    world.write(range, &vec![at as u8; range.bytes as usize]);
                }
                Step::Allocate => {
                    // What is in memory at its birth is not defined; the program fills it.
                    let range = world.allocate(1200);
                    world.operate(&Kernel::Fill { to: range, value: 5 });
                    live.push(range);
                }
                Step::Free(index) if live.len() > 1 => {
                    let range = live.swap_remove(index % live.len());
                    world.free(range);
                }
                Step::Free(_) => {}
                Step::Take(at, units) => {
                    let bytes = (units * 400).min(pool.bytes - at * 400);
                    let range = Range::new(pool.base + at * 400, bytes);
                    if taken.iter().all(|other| !other.overlaps(range)) {
                        world.allocate_within(range);
                        world.operate(&Kernel::Fill { to: range, value: 6 });
                        taken.push(range);
                    }
                }
                Step::GiveBack(index) if !taken.is_empty() => {
                    let range = taken.swap_remove(index % taken.len());
                    world.give_back(range, || ());
                }
                Step::GiveBack(_) => {}
                Step::Close => world.close_window(),
                Step::Check => world.check("with a window open"),
            }
        }
        world.close_window();
        world.check("at the end");
        for record in world.log.take_dispatches() {
            prop_assert_eq!(record.outcome, Outcome::Replayed);
            prop_assert_eq!(record.divergence, None);
        }
    }
}

/// Kernels by the name "copy" are not selected.
struct NotCopies;

impl Filter for NotCopies {
    fn select(&self, kernel: &KernelInfo) -> bool {
        &*kernel.name != "copy"
    }
}
