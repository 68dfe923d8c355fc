//! Whose work ranges count, on a GPU.

use super::evaluate::evaluate;
use super::gpu_tests::counters_by;

use super::ranges::Ranges;
use super::reach::Reach;
use crate::agent::CudaAgent;
use crate::agent::tests::{gpu_agent, soon};
use kreplay_engine::{Agent, Counters, Move, Request, Tier, Value};
use std::collections::HashMap;

const NAMES: [&str; 3] = ["sm__inst_executed.sum", "sm__warps_launched.sum", "sm__inst_executed_pipe_lsu.sum"];
const LAUNCHES: u32 = 6;

/// Copies of most of 1 GiB, each by one launch of ours.
struct Copies<'a> {
    agent: &'a CudaAgent,
    moves: Vec<Move>,
}

impl<'a> Copies<'a> {
    fn of(agent: &'a CudaAgent) -> Self {
        // Larger parts are copied by the driver.
        const PART: u64 = 3 << 20;
        const PARTS: u64 = 340;
        let [to, from] = [(); 2].map(|()| agent.allocate(Tier::Device, PART * PARTS).expect("room").range.base);
        let moves = (0..PARTS).map(|at| Move { to: to + at * PART, from: from + at * PART, bytes: PART }).collect();
        Self { agent, moves }
    }

    fn submit(&self) {
        self.agent.copy(&self.moves).expect("submitted");
        self.agent.note_launch();
    }

    fn wait(&self) {
        self.agent.wait_every_stream(soon(), "the copies").expect("they end");
    }
}

/// The values of each launch, by name.
fn count(copies: &Copies<'_>, reach: Reach) -> Vec<Vec<Value>> {
    let counters = counters_by(copies.agent, false);
    let names = NAMES.map(String::from).to_vec();
    let plan = counters.plan(&Request { names, repeat: 1, dispatches: LAUNCHES }).expect("it can be planned");
    let mut window = Ranges::open(counters.planned(&plan).expect("it was planned"), LAUNCHES);
    for pass in &plan.passes {
        let begun = counters.ranges.begin(&mut window, pass.index, reach).expect("it begins");
        for index in 0..LAUNCHES {
            counters.ranges.before(&mut window, &begun, index);
            copies.submit();
        }
        copies.wait();
        counters.ranges.end(&mut window, &begun).expect("it ends");
    }
    assert_eq!(Ranges::is_wide(&window), reach == Reach::Device);
    let counted = counters.ranges.collect(window).expect("something was counted");
    let found = &counters.availability;
    let mut values = vec![Vec::new(); LAUNCHES as usize];
    for image in &counted.images {
        let mut readings = Vec::new();
        let ranges = (&*counted.order, counted.launches);
        evaluate(&counters.cupti, &found.chip, &found.image, &mut HashMap::new(), image, ranges, &mut readings)
            .expect("each launch is a range");
        readings.into_iter().for_each(|reading| values[reading.dispatch as usize].push(reading.value));
    }
    values
}

/// Where nothing else runs both count the same. What runs beside is let in by `company` of `tests/cuda/run.sh`.
#[test]
fn alone_the_whole_device_is_the_context() {
    let Some(agent) = gpu_agent() else { return };
    let copies = Copies::of(&agent);
    let own = count(&copies, Reach::Context);
    assert!(own.iter().all(|values| *values == own[0] && !values.is_empty()), "{own:?}");
    assert_eq!(count(&copies, Reach::Device), own);
}
