//! The planner against a real libcupti. It runs without a GPU with CUPTI 13.0 and 13.1; `KREPLAY_CUPTI` says where one is
//! (for instance the unpacked wheel `nvidia-cuda-cupti==13.0.*`, which `cargo ci` fetches).

use super::host::{Host, Names, supported_chips};
use super::names::resolve;
use super::plan::plan_request;
use super::planner::Planner;
use super::price::Price;
use crate::counters::sharing::reach::Reach;
use crate::tables::{Cupti, Environment, find_cupti};
use kreplay_engine::{PlanError, Request, Way};
use std::sync::Arc;

pub(in crate::counters) const CHIP: &str = "GH100";

pub(in crate::counters) fn cupti() -> Option<Cupti> {
    if std::env::var_os("KREPLAY_CUPTI").is_none() {
        assert!(
            std::env::var_os("KREPLAY_NO_SKIP").is_none(),
            "must not be skipped here: KREPLAY_CUPTI names no CUPTI"
        );
        println!("skipped: KREPLAY_CUPTI names no CUPTI");
        return None;
    }
    let found = find_cupti(&Environment::of_process()).expect("KREPLAY_CUPTI names a CUPTI");
    Some(Cupti::load(&found).expect("it has every function"))
}

fn metrics(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

#[test]
fn the_chip_and_its_metrics_are_listed() {
    let Some(cupti) = cupti() else { return };
    assert!(cupti.version().expect("a version") >= 130_000);
    assert!(supported_chips(&cupti).expect("chips").iter().any(|chip| &**chip == CHIP));
    let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
    let bases = host.base_metrics().expect("metrics");
    assert!(bases.len() > 3000, "{} metrics", bases.len());
    let properties = host.properties("dram__bytes_read.sum").expect("a metric");
    assert_eq!(&*properties.block, "dram");
    assert!(properties.description.contains("DRAM"), "{}", properties.description);
    assert!(Host::new(&cupti, "GH999", &[]).is_err());
}

/// The helpers take long to load, and a program's start does not wait for them. In a process of its own, where no other test
/// has loaded them.
#[test]
fn the_first_question_loads_what_counting_needs() {
    const CHILD: &str = "KREPLAY_TEST_CHILD";
    let Some(cupti) = cupti() else { return };
    if std::env::var_os(CHILD).is_none() {
        let mut child = std::process::Command::new(std::env::current_exe().expect("its path"));
        let module = module_path!().split_once("::").expect("below the crate").1;
        let test = format!("{module}::the_first_question_loads_what_counting_needs");
        child.args(["--exact", &test]).env(CHILD, "1");
        let output = child.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }
    let mapped = || std::fs::read_to_string("/proc/self/maps").expect("it is there").contains("libnvperf_host.so");
    assert!(cupti.version().is_ok() && !mapped());
    assert!(Host::new(&cupti, CHIP, &[]).is_ok() && mapped());
}

#[test]
fn pass_counts_are_those_that_were_measured() {
    let Some(cupti) = cupti() else { return };
    let passes = |names: &[&str]| {
        let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
        host.config(&Names::new(names)).expect("they can be counted").passes
    };
    assert_eq!(passes(&["dram__bytes_read.sum", "dram__bytes_write.sum"]), 1);
    assert_eq!(passes(&["sm__throughput.avg.pct_of_peak_sustained_elapsed"]), 8);
    assert_eq!(passes(&["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"]), 4);
}

#[test]
fn unknown_names_come_with_near_ones() {
    let Some(cupti) = cupti() else { return };
    let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
    let near = |name: &str| match resolve(&host, &[name.to_owned()]) {
        Err(PlanError::Unknown { near, .. }) => near,
        other => panic!("{name} is unknown, not {other:?}"),
    };
    assert!(near("dram__byte_read.sum").contains(&"dram__bytes_read".to_owned()));
    assert!(near("dram__bytes_read.sun").contains(&"dram__bytes_read.sum".to_owned()));
    assert!(near("dram__bytes_read").iter().all(|name| name.starts_with("dram__bytes_read.")));
    assert!(near("basics").contains(&"basic".to_owned()));
}

/// The passes of a set: sampled, by ranges, timed.
fn passes(cupti: &Cupti, set: &str, dispatches: u32) -> (usize, usize, usize) {
    let request = Request { names: vec![set.to_owned()], repeat: 1, dispatches };
    let plan = plan_request(cupti, CHIP, &request, true, &Arc::default()).expect("it can be planned");
    let count = |way: Way| plan.passes.iter().filter(|pass| pass.way == way).count();
    for pass in &plan.passes {
        let names: Vec<&str> = pass.counters.iter().map(|counter| &*counter.name).collect();
        println!("{set} x{dispatches}: pass {} {:?} {:?} {}", pass.index, pass.way, pass.price, names.join(" "));
    }
    (count(Way::Sampling), count(Way::Ranges), count(Way::Timing))
}

#[test]
fn sets_are_sampled_in_long_windows() {
    let Some(cupti) = cupti() else { return };
    let (sampled, ranges, timed) = passes(&cupti, "basic", 1000);
    assert!((1..=3).contains(&sampled) && (ranges, timed) == (0, 1), "{sampled} sampled, {ranges} by ranges");
    assert_eq!(passes(&cupti, "memory", 1000), (1, 0, 1));
    assert_eq!(passes(&cupti, "occupancy", 1000), (1, 0, 1));
    assert_eq!(passes(&cupti, "compute", 2000).1, 0);
    let stalls = passes(&cupti, "stalls", 1000);
    assert!(stalls.0 == 0 && stalls.1 > 1, "stall reasons need ranges: {stalls:?}");
    assert!(passes(&cupti, "roofline", 2000).1 >= 1, "operations need ranges");
}

#[test]
fn one_group_needs_one_pass_and_several_are_weighed() {
    let Some(cupti) = cupti() else { return };
    let plan = |names: &[&str], dispatches| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        plan_request(&cupti, CHIP, &Request { names, repeat: 1, dispatches }, true, &Arc::default())
            .expect("it can be planned")
    };
    for dispatches in [1, 1000] {
        let one = plan(&["sm__inst_executed.sum", "lts__t_sectors.sum", "dram__bytes_read.sum"], dispatches);
        assert_eq!((one.passes.len(), one.passes[0].way), (1, Way::Sampling), "{dispatches} dispatches");
    }
    // Three groups would have to be switched for every kernel.
    assert!(passes(&cupti, "basic", 1).0 <= 1);
    let price = |dispatches| plan(&["sm__inst_executed.sum"], dispatches).passes[0].price;
    assert!(price(1) > price(1000) * 10, "a window's costs are shared by its dispatches");
}

#[test]
fn every_metric_of_a_set_is_in_the_plan() {
    let Some(cupti) = cupti() else { return };
    for set in super::sets::SETS {
        let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
        let mut asked = resolve(&host, &[set.name.to_owned()]).expect("the chip has the set");
        for dispatches in [1, 1000] {
            let request = Request { names: vec![set.name.to_owned()], repeat: 1, dispatches };
            let plan = plan_request(&cupti, CHIP, &request, true, &Arc::default()).expect("it can be planned");
            let counters = plan.passes.iter().flat_map(|pass| &pass.counters);
            let mut planned: Vec<Arc<str>> = counters.map(|counter| Arc::clone(&counter.name)).collect();
            planned.sort();
            planned.dedup();
            asked.sort();
            assert_eq!(planned, asked, "{} in windows of {dispatches}", set.name);
        }
    }
}

#[test]
fn a_cheap_metric_does_not_make_a_group_dearer() {
    let Some(cupti) = cupti() else { return };
    let planner = Planner::new(&cupti, CHIP, &[], Some(&[]));
    let groups = planner.pack(&metrics(&["sm__inst_executed.sum", "dram__bytes_read.sum"]), 1).expect("packed");
    for group in &groups {
        let expected = group.metrics.iter().map(|metric| Price::of(metric)).max();
        assert_eq!(Some(group.price), expected);
    }
}

/// Where somebody else may be on the GPU ranges are dearer, and sampling is worth it earlier.
#[test]
fn ranges_are_planned_by_what_they_will_count() {
    let Some(cupti) = cupti() else { return };
    let planned = |reach: Reach| {
        let mut planner = Planner::new(&cupti, CHIP, &[], Some(&[]));
        planner.reach = reach;
        let request = Request { names: vec!["occupancy".into()], repeat: 1, dispatches: 1 };
        let plan = super::plan::plan(&planner, &request).expect("it can be planned").plan;
        let group = &planner.pack(&metrics(&["sm__inst_executed.sum"]), 1).expect("packed")[0];
        (plan.passes.iter().any(|pass| pass.way == Way::Sampling), group.each(1))
    };
    let ((sampled, cheap), (sampled_there, dear)) = (planned(Reach::Device), planned(Reach::Context));
    assert!(!sampled && sampled_there);
    assert!(dear > cheap * 3 / 2, "{dear:?} {cheap:?}");
}

#[test]
fn ranges_stand_in_where_one_pass_holds_what_was_sampled() {
    let Some(cupti) = cupti() else { return };
    let planner = Planner::new(&cupti, CHIP, &[], Some(&[]));
    let request = Request { names: vec!["basic".into()], repeat: 1, dispatches: 1000 };
    let planned = super::plan::plan(&planner, &request).expect("it can be planned");
    assert!(!planned.sampled.is_empty());
    let instead = planned.without_sampling(&planner);
    assert_eq!(instead.plan, planned.plan, "the engine's plan stays");
    assert!(instead.sampled.is_empty() && !instead.instances.is_empty());
    for instance in &instead.instances {
        assert_eq!(
            instead.place(instance.first),
            Some((instead.instances.iter().position(|other| other.first == instance.first).expect("it is there"), 0))
        );
        assert_eq!(planned.plan.passes[instance.first as usize].counters[..], instance.counters[..]);
    }
}

#[test]
fn without_a_fence_there_is_one_pass_or_none() {
    let Some(cupti) = cupti() else { return };
    let planner = Planner::new(&cupti, CHIP, &[], Some(&[]));
    let plan = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        super::plan::plan_unfenced(&planner, &Request { names, repeat: 1, dispatches: 1000 })
    };
    let memory = plan(&["memory"]).expect("it fits");
    assert_eq!((memory.plan.passes.len(), memory.plan.passes[0].way), (1, Way::Sampling));
    assert!(memory.plan.passes[0].counters.iter().any(|counter| &*counter.name == "gpu_time"));
    let refused = plan(&["basic"]).expect_err("it takes several groups").to_string();
    assert!(refused.contains("--fence off") && refused.contains("sm__"), "{refused}");
    assert!(plan(&["stalls"]).is_err());
}
