//! Counters of kernels whose numbers are known from their source, over as many passes as the slots need.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::Command;

use kreplay_tests::{Profile, Profiled, binary, build, missing, program, run, skipped};
use serde_json::Value;

/// The value of each counter of a kernel's one dispatch, and the pass that it comes from.
type Counters = BTreeMap<String, (f64, u64)>;

/// Profiles a program and gives the counters of its kernels.
fn counted(name: &str, counters: &str) -> (Profiled, BTreeMap<String, Counters>) {
    let profiled = Profile::new().options(["-c", counters]).run(&build(&program(name), "-O2"), []);
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let file = profiled.file.to_str().expect("a path in UTF-8");
    let report = run(Command::new(binary("kreplay")).args(["report", file, "--format", "json"]));
    assert_eq!(report.code(), 0, "{report:#?}");
    let report: Value = serde_json::from_str(&report.stdout).expect("the report is JSON");
    let mut kernels = BTreeMap::new();
    for dispatch in report["dispatches"].as_array().expect("dispatches") {
        let mut of_kernel = Counters::new();
        for counter in dispatch["counters"].as_array().expect("counters") {
            assert_eq!(counter["simulated"], true, "{counter}");
            let text = |key: &str| counter[key].as_str().expect("text").to_owned();
            assert!(!text("unit").is_empty(), "{counter}");
            let value = counter["value"].as_f64().expect("a number");
            let before = of_kernel.insert(text("name"), (value, counter["pass"].as_u64().expect("a pass")));
            assert!(before.is_none(), "{counter} twice");
        }
        let kernel = dispatch["kernel"].as_str().expect("a name").to_owned();
        kernels.insert(kernel, of_kernel);
    }
    (profiled, kernels)
}

fn of<'a>(kernels: &'a BTreeMap<String, Counters>, name: &str) -> &'a Counters {
    let mut found = kernels.iter().filter(|(kernel, _)| kernel.contains(name));
    let (_, counters) = found.next().unwrap_or_else(|| panic!("{name} is not in {:?}", kernels.keys()));
    counters
}

fn assert_values(counters: &Counters, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        let got = counters.get(*name).map(|(got, _)| *got);
        assert_eq!(got, Some(*value), "{name}");
    }
}

#[test]
fn every_counter_at_once_takes_several_passes_and_is_right() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let (_profiled, kernels) = counted("read_only", "all");
    // 128 × 128 words, one a work-item; work-groups of 256.
    let words = 128.0 * 128.0;
    let launch = [
        ("SPI_CSN_NUM_THREADGROUPS", 64.0),
        ("SPI_CSN_WAVE", 256.0),
        ("SQ_WAVES", 256.0),
        ("SQ_ITEMS", words),
        ("WavesPerGroup", 4.0),
        ("ItemsPerWave", 64.0),
    ];
    // Two words in, one out, all neighbours: 16 words a line.
    let add = of(&kernels, "add");
    assert_values(add, &launch);
    assert_values(
        add,
        &[
            ("SQ_INSTS_VMEM_RD", 2.0 * 256.0),
            ("SQ_INSTS_VMEM_WR", 256.0),
            ("SQ_INSTS_VMEM", 3.0 * 256.0),
            ("SQ_INSTS_LDS", 0.0),
            ("TA_TOTAL_WAVEFRONTS", 3.0 * 256.0),
            ("TD_STORE_WAVEFRONT", 256.0),
            ("TCP_TOTAL_READ", 2.0 * words / 16.0),
            ("TCP_TOTAL_WRITE", words / 16.0),
            ("TCC_REQ", 3.0 * words / 16.0),
            ("TCC_ATOMIC", 0.0),
            ("FETCH_SIZE", 2.0 * words * 4.0 / 1024.0),
            ("WRITE_SIZE", words * 4.0 / 1024.0),
            ("SOFT_GLOBAL_READ_BYTES", 2.0 * words * 4.0),
            ("SOFT_GLOBAL_WRITE_BYTES", words * 4.0),
            ("SOFT_LDS_READ_BYTES", 0.0),
            ("SOFT_BARRIERS", 0.0),
            ("ReadLineUse", 100.0),
            ("VFetchInsts", 2.0),
        ],
    );
    let passes: std::collections::BTreeSet<u64> = add.values().map(|(_, pass)| *pass).collect();
    assert!(passes.len() >= 5, "SQ alone needs five passes: {passes:?}");
    // Every word goes through LDS once, between two halves of every wave's work.
    let transpose = of(&kernels, "transpose");
    assert_values(transpose, &launch);
    assert_values(
        transpose,
        &[
            ("SOFT_LDS_WRITE_BYTES", words * 4.0),
            ("SOFT_LDS_READ_BYTES", words * 4.0),
            ("SOFT_BARRIERS", 256.0),
            ("SOFT_GLOBAL_READ_BYTES", words * 4.0),
            ("SOFT_GLOBAL_WRITE_BYTES", words * 4.0),
            ("SQ_INSTS_LDS", 2.0 * 256.0),
        ],
    );
    // Words from anywhere: more lines for the same bytes.
    let gather = of(&kernels, "gather");
    assert_values(gather, &[("SOFT_GLOBAL_READ_BYTES", 2.0 * words * 4.0), ("SOFT_GLOBAL_WRITE_BYTES", words * 4.0)]);
    assert!(gather["TCP_TOTAL_READ"].0 > 4.0 * add["TCP_TOTAL_READ"].0);
    // What one pass says of a kernel, the sums of classes must agree with, whichever pass they come from.
    for counters in [add, gather, transpose] {
        let value = |name: &str| counters[name].0;
        let classes = ["SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM", "SQ_INSTS_LDS"];
        let classes = classes.into_iter().map(value).sum::<f64>() + value("SQ_INSTS_BRANCH");
        assert!(classes < value("SQ_INSTS") && classes > 0.0, "waits and the end are in no class");
        assert_eq!(value("SQ_INSTS"), value("SQ_ACTIVE_INST_ANY"));
        assert_eq!(value("GRBM_COUNT"), value("GRBM_GUI_ACTIVE"));
    }
}

#[test]
fn matrix_instructions_are_counted_by_what_they_multiply() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let names = ["SQ_INSTS_MFMA", "SQ_INSTS_VALU_MFMA_F16", "SQ_INSTS_VALU_MFMA_F32"];
    let operations = ["SQ_INSTS_VALU_MFMA_MOPS_F16", "SQ_INSTS_VALU_MFMA_MOPS_F32"];
    let (_profiled, kernels) = counted("matrix", &[&names[..], &operations].concat().join(","));
    // Products of 64 × 32 and 32 × 96 elements, whatever they are cut into.
    let all = 2.0 * 64.0 * 96.0 * 32.0 / 512.0;
    for (kernel, halves, singles) in
        [("singles_32", 0.0, 6.0 * 16.0), ("singles_16", 0.0, 24.0 * 8.0), ("halves_32", 6.0 * 4.0, 0.0)]
    {
        let share = |insts: f64| if insts == 0.0 { 0.0 } else { all };
        let expected = names.iter().zip([halves + singles, halves, singles]);
        let expected = expected.chain(operations.iter().zip([share(halves), share(singles)]));
        assert_values(of(&kernels, kernel), &expected.map(|(name, value)| (*name, value)).collect::<Vec<_>>());
    }
}

#[test]
fn the_plan_tells_the_passes_that_the_run_takes() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    for (set, passes) in [("basic", 1), ("memory", 2), ("all", 5)] {
        let plan = run(Command::new(binary("kreplay")).args(["plan", "--device", "soft", "-c", set]));
        assert_eq!(plan.code(), 0, "{plan:#?}");
        // What longer windows would do differently comes behind.
        let lines = plan.stdout.lines().take_while(|line| !line.starts_with("in windows"));
        let planned = lines.filter(|line| line.starts_with("pass ")).count();
        let (_profiled, kernels) = counted("read_only", set);
        let taken: std::collections::BTreeSet<u64> = of(&kernels, "add").values().map(|(_, pass)| *pass).collect();
        assert_eq!((planned, taken.len()), (passes, passes), "{set}: {}", plan.stdout);
    }
}
