//! Plans of many requests, as they were before the planner learnt to ask CUPTI less: how fast it finds a plan must not change
//! which one. The file was written by `KREPLAY_WRITE_PLANS=1`, with `nvidia-cuda-cupti==13.0.*`; after a change that means to
//! plan otherwise, write it again and read the difference.

use super::answers::Known;
use super::host::Host;
use super::names::EVENT_TIME;
use super::names::resolve;
use super::plan::{Planned, plan, plan_request, plan_unfenced};
use super::plan_tests::{CHIP, cupti};
use super::planner::Planner;
use kreplay_engine::Request;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// One metric of eight passes among others of one.
pub(in crate::counters) const NINE_PASSES: &[&str] = &[
    "gpu__time_duration.sum",
    "sm__cycles_active.sum",
    "sm__inst_executed.sum",
    "sm__inst_issued.sum",
    "sm__inst_executed_pipe_alu.sum",
    "sm__inst_executed_pipe_fma.sum",
    "sm__inst_executed_pipe_fp64.sum",
    "sm__inst_executed_pipe_lsu.sum",
    "sm__inst_executed_pipe_tensor.sum",
    "sm__inst_executed_pipe_xu.sum",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
];
const MEMORY: &[&str] =
    &["dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors.sum", "gpu__time_duration.sum"];
/// The same with ratios that only ranges give, and a metric of several passes that is not of the multiprocessors.
const RATIOS: &[&str] = &[
    "lts__t_sector_hit_rate.pct",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
];
/// Those of several passes among others, where only with them first a pass is saved.
const SEVERAL: &[&str] = &[
    "lts__t_sectors.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__t_bytes.sum",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
];
const PATCHED: &[&str] = &[
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "sm__inst_executed.max",
    "sm__cycles_active.max",
    "dram__bytes_read.sum",
    "gpu__time_duration.sum",
];

fn requests() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut requests: Vec<_> = super::sets::SETS.iter().map(|set| (set.name, vec![set.name])).collect();
    requests.extend([
        ("nine passes", NINE_PASSES.to_vec()),
        ("nine passes backwards", NINE_PASSES.iter().rev().copied().collect()),
        ("memory metrics", MEMORY.to_vec()),
        ("one", vec!["dram__bytes_read.sum"]),
        ("time", vec!["gpu__time_duration.sum"]),
        ("cycles", vec!["gpc__cycles_elapsed.max"]),
        ("instructions and time", vec!["sm__inst_executed.sum", "gpu__time_duration.sum"]),
        ("roofline and time", vec!["roofline", "gpu__time_duration.sum"]),
        ("one throughput", vec!["sm__throughput.avg.pct_of_peak_sustained_elapsed"]),
        ("nine passes and memory", [NINE_PASSES, MEMORY].concat()),
        ("memory and nine passes", [MEMORY, NINE_PASSES].concat()),
        ("ratios", RATIOS.to_vec()),
        ("ratios and memory", [RATIOS, MEMORY].concat()),
        ("several", SEVERAL.to_vec()),
        ("patched", PATCHED.to_vec()),
        ("basic and nine passes", [&["basic"], NINE_PASSES].concat()),
        ("memory, compute, occupancy", vec!["memory", "compute", "occupancy"]),
        ("basic and stalls", vec!["basic", "stalls"]),
        ("roofline and ratios", [&["roofline"], RATIOS].concat()),
    ]);
    requests
}

/// What is programmed, in the order of its passes. The length of an image stands for what it holds.
fn told(text: &mut String, planned: &Planned) {
    for sampled in &planned.sampled {
        let group = &sampled.group;
        let (pass, bytes) = (sampled.pass, group.config.bytes.len());
        let _ =
            writeln!(text, "  {pass} sampled {}: {} ({bytes} bytes)", group.metrics.join(" "), group.terms.join(" "));
    }
    for instance in &planned.instances {
        let group = &instance.group;
        let (first, passes, bytes) = (instance.first, group.config.passes, group.config.bytes.len());
        let _ = writeln!(text, "  {first}+{passes} {:?} {} ({bytes} bytes)", group.price, group.metrics.join(" "));
    }
    let prices: Vec<String> =
        planned.plan.passes.iter().map(|pass| format!("{:?} {:?}", pass.way, pass.price)).collect();
    let _ = writeln!(text, "  {}", prices.join(", "));
}

#[test]
fn plans_are_those_that_were_found_slowly() {
    compare(0);
}

/// Four threads, whatever this machine has.
#[test]
fn plans_are_the_same_when_cupti_is_asked_side_by_side() {
    compare(4);
}

fn compare(helpers: usize) {
    let Some(cupti) = cupti() else { return };
    let planner_of = |sampling| {
        let mut planner = Planner::new(&cupti, CHIP, &[], sampling);
        planner.helpers = helpers;
        planner
    };
    let version = cupti.version().expect("a version");
    if version / 100 != 1300 {
        assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "must not be skipped here: CUPTI {version} is not 13.0");
        return println!("skipped: the plans are those of CUPTI 13.0, not {version}");
    }
    let mut text = String::new();
    for (title, names) in requests() {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        for dispatches in [1, 50, 1000, 2000] {
            let planner = planner_of(Some(&[]));
            let request = Request { names: names.clone(), repeat: 1, dispatches };
            let _ = writeln!(text, "{title} x{dispatches}");
            let planned = plan(&planner, &request).expect("it can be planned");
            told(&mut text, &planned);
            let instead = planned.without_sampling(&planner);
            if !planned.sampled.is_empty() {
                let _ = writeln!(text, "  without sampling:");
                told(&mut text, &instead);
            }
        }
        let planner = planner_of(Some(&[]));
        let _ = writeln!(text, "{title} without fences");
        match plan_unfenced(&planner, &Request { names: names.clone(), repeat: 1, dispatches: 1000 }) {
            Ok(planned) => told(&mut text, &planned),
            Err(refused) => {
                let _ = writeln!(text, "  {refused}");
            }
        }
        let planner = planner_of(None);
        let _ = writeln!(text, "{title} where nothing can be sampled");
        told(&mut text, &plan(&planner, &Request { names, repeat: 1, dispatches: 1000 }).expect("it can be planned"));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/counters/planning/pinned_plans.txt");
    if std::env::var_os("KREPLAY_WRITE_PLANS").is_some() {
        std::fs::write(&file, &text).expect("the tree can be written");
    }
    let pinned = std::fs::read_to_string(&file).expect("it is in the tree");
    let differs = pinned.lines().zip(text.lines()).enumerate().find(|(_, (before, now))| before != now);
    assert!(differs.is_none(), "{differs:?}");
    assert_eq!(pinned.lines().count(), text.lines().count());
}

/// A question takes CUPTI 2 to 70 ms, inside the program's first launch.
#[test]
fn little_is_asked_where_ranges_must_be_cheapest() {
    let Some(cupti) = cupti() else { return };
    let asked = |names: &[&str], dispatches| {
        let mut planner = Planner::new(&cupti, CHIP, &[], Some(&[]));
        planner.helpers = 0;
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        plan(&planner, &Request { names, repeat: 1, dispatches }).expect("it can be planned");
        planner.asked()
    };
    for (names, dispatches, (ranges, sampling)) in [
        (NINE_PASSES, 1, (7, 1)),
        (NINE_PASSES, 1000, (9, 11)),
        (MEMORY, 1000, (2, 1)),
        (&["basic"], 1, (1, 2)),
        (&["memory"], 1000, (1, 1)),
        (&["stalls"], 1000, (22, 0)),
    ] {
        let asked = asked(names, dispatches);
        assert!(asked.0 <= ranges && asked.1 <= sampling, "{asked:?} for {names:?} x{dispatches}");
    }
}

/// A question in line is one that a program waits for.
#[test]
fn packing_all_metrics_asks_what_was_asked_ahead() {
    let Some(cupti) = cupti() else { return };
    for (title, names) in requests() {
        let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let mut metrics = resolve(&host, &names).expect("the chip has them");
        metrics.retain(|metric| &**metric != EVENT_TIME);
        let mut planner = Planner::new(&cupti, CHIP, &[], Some(&[]));
        planner.helpers = 1;
        planner.ask_ahead(&metrics);
        let asked = planner.asked();
        planner.pack(&metrics, 1).expect("it can be packed");
        assert_eq!(planner.asked(), asked, "{title}");
    }
}

#[test]
fn a_second_plan_asks_only_what_the_first_did_not() {
    let Some(cupti) = cupti() else { return };
    let names: Vec<String> = NINE_PASSES.iter().map(|name| (*name).to_owned()).collect();
    let known = Arc::<Known>::default();
    let planned = |dispatches| {
        let request = Request { names: names.clone(), repeat: 1, dispatches };
        plan_request(&cupti, CHIP, &request, true, &known).expect("it can be planned")
    };
    let first = planned(1000);
    let asked = (known.ranges.asked(), known.samples.asked());
    assert_eq!(planned(1000), first);
    assert_eq!((known.ranges.asked(), known.samples.asked()), asked);
}
