//! What CUPTI refuses, and what becomes of it: over a CUPTI and a driver of the test's.

use super::*;
use crate::agent::tests::fake_agent;
use crate::fake::{fake_cupti, script};
use crate::tables::Cupti;
use kreplay_engine::{Counters, PlanError, Request, Way};
use std::sync::Arc;
use std::time::Duration;

/// Warnings, in their order.
type Told = Arc<Mutex<Vec<(&'static str, String)>>>;

/// Counters of a device of which CUPTI is asked now, and what they warned of.
fn counters(fence: bool) -> (CudaCounters, Told) {
    let (agent, cupti): (_, Arc<Cupti>) = (fake_agent(), Arc::new(fake_cupti()));
    let deadline = Duration::from_secs(20);
    let found = availability(&cupti, (agent.device(), agent.uuid()), agent.context(), deadline);
    let conduct = Conduct { flush_cache: false, fence, pass_deadline: deadline, lock_deadline: deadline };
    let told = Told::default();
    let sink = Arc::clone(&told);
    let warn = Arc::new(move |key, text| sink.guarded().push((key, text)));
    (CudaCounters::new(cupti, agent, found, conduct, warn).expect("the lock can be had"), told)
}

fn request(name: &str) -> Request {
    Request { names: vec![name.into()], repeat: 1, dispatches: 10 }
}

#[test]
fn who_may_not_count_is_told_what_to_do_and_gets_times() {
    let remedies = [
        (35, "NVreg_RestrictProfilingToAdminUsers=0"),
        (43, "does not work on this MIG instance"),
        (26, "dcgmi profile --pause"),
    ];
    for (status, remedy) in remedies {
        for fence in [true, false] {
            script("cuptiProfilerGetCounterAvailability", &[status]);
            let (counters, told) = counters(fence);
            let refused = counters.refused().expect("nothing may be counted");
            assert!(refused.contains(remedy), "{status}: {refused}");
            let plan = counters.plan(&request("sm__inst_executed.sum")).expect("times can be had");
            let planned: Vec<_> =
                plan.passes.iter().map(|pass| (pass.way, pass.counters.iter().map(|c| &*c.name).collect())).collect();
            assert_eq!(planned, [(Way::Timing, vec!["gpu_time"])], "{status}");
            assert!(told.guarded().is_empty(), "the refusal says it all");
        }
    }
}

#[test]
fn where_only_sampling_is_refused_it_is_said_why_once() {
    for (status, why) in [(43, "does not work on this MIG instance"), (35, "CAP_SYS_ADMIN"), (27, "not on this device")]
    {
        script("cuptiPmSamplingGetCounterAvailability", &[status]);
        let (counters, told) = counters(true);
        assert_eq!(counters.refused(), None, "ranges may be counted");
        // This CUPTI cannot plan; whoever asks for times alone needs no samples.
        let _ = counters.plan(&request("gpu_time"));
        assert!(told.guarded().is_empty());
        let _ = counters.plan(&request("sm__inst_executed.sum"));
        let told = told.guarded();
        assert!(matches!(&told[..], [("sampling_unavailable", text)] if text.contains(why)), "{status}: {told:?}");
    }
}

#[test]
fn without_a_fence_it_is_said_why_nothing_is_sampled() {
    script("cuptiPmSamplingGetCounterAvailability", &[43]);
    let (counters, _) = counters(false);
    let error = counters.planner().one_group(&["sm__inst_executed.sum".into()]).expect_err("nothing is sampled");
    let PlanError::Unavailable(text) = error else { panic!("{error}") };
    assert!(text.contains("does not work on this MIG instance") && text.contains("--fence on"), "{text}");
    assert!(!text.contains("no room"), "{text}");
}
