//! What a program waits for before its first window, on a GPU: CUPTI's helpers, what is available, the plan. The times are
//! printed as JSON lines.

use super::planning::host::Host;
use super::planning::plan::plan;
use super::planning::planner::Planner;
use super::{Availability, availability};
use crate::agent::tests::gpu_agent;
use crate::tables::callback::domain;
use crate::tables::{Cupti, Environment, find_cupti};
use kreplay_engine::Request;
use std::ffi::c_void;
use std::time::{Duration, Instant};

unsafe extern "C" fn ignore(_user: *mut c_void, _domain: u32, _id: u32, _data: *const c_void) {}

fn timed<T>(step: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    println!("{{\"step\": \"{step}\", \"ms\": {:.1}}}", start.elapsed().as_secs_f64() * 1e3);
    done
}

/// As in a program: callbacks first, the helpers behind them, then questions from several threads.
#[test]
fn counting_is_available_when_the_helpers_come_after_the_callbacks() {
    let Some(agent) = gpu_agent() else { return };
    let found = timed("find", || find_cupti(&Environment::of_process())).expect("a machine with a GPU has CUPTI");
    let cupti = Cupti::load(&found).expect("it has every function");
    let subscriber = timed("subscribe", || cupti.subscribe(ignore)).expect("nobody else subscribes");
    timed("enable", || {
        for id in crate::interceptor::enabled_callbacks() {
            // A newer CUPTI may lack a number.
            let _ = cupti.enable(subscriber, domain::DRIVER, id);
        }
    });
    timed("helpers", || cupti.complete());
    let found: Availability = timed("availability", || {
        let _entered = agent.enter().expect("the context is there");
        availability(&cupti, (agent.device(), agent.uuid()), agent.context(), Duration::from_secs(20))
    });
    assert_eq!(found.refused, None);
    let sampling = found.sampling.as_deref().expect("it can be sampled");
    timed("first host", || Host::new(&cupti, &found.chip, &found.image).map(drop)).expect("the chip is known");
    for (names, dispatches) in [("nine", 1), ("nine", 500), ("basic", 1), ("basic", 500), ("compute", 500)] {
        let request = Request {
            names: match names {
                "nine" => super::planning::pinned_tests::NINE_PASSES.iter().map(|name| (*name).to_owned()).collect(),
                set => vec![set.to_owned()],
            },
            repeat: 1,
            dispatches,
        };
        let planned = [0, 7].map(|helpers| {
            let mut planner = Planner::new(&cupti, &found.chip, &found.image, Some(sampling));
            planner.helpers = helpers;
            let planned = timed(&format!("plan {names} x{dispatches}, {helpers} helpers"), || plan(&planner, &request));
            planned.expect("it can be planned").plan
        });
        assert_eq!(planned[0], planned[1], "{names} x{dispatches}");
    }
}
