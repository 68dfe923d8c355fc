//! `report`, `plan`, `counters` and `doctor`, as a user sees them.

use std::process::Stdio;

use crate::common::*;

#[test]
fn reports_come_in_every_form() {
    let place = Place::new();
    let steps = ["attach", "dispatch=2", "decline=no_backing", "finish"];
    assert_eq!(place.profile(&["--quiet"], &steps).status().unwrap().code(), Some(0));
    let report = |arguments: &[&str]| {
        let output = place.kreplay(&[&["report", "run.kreplay"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let json: serde_json::Value = serde_json::from_str(&report(&["--format", "json"])).unwrap();
    assert_eq!(json["dispatches"].as_array().unwrap().len(), 3);
    assert_eq!(json["dispatches"][0]["counters"][1]["pass"], 1);
    assert_eq!(json["run"]["settings"]["counters"][0], "SQ_WAVES");
    let by_kernel: serde_json::Value = serde_json::from_str(&report(&["--format", "json", "--by", "kernel"])).unwrap();
    assert_eq!(by_kernel["kernels"][0]["declined"], 1);
    assert!(report(&["--by", "dispatch"]).contains("declined: no_backing"));
    assert_eq!(report(&[]), report(&["--by", "kernel", "--format", "table"]));
    // Two values a replayed dispatch, one row for the other, one header.
    assert_eq!(report(&["--format", "csv"]).lines().count(), 6);
    assert_eq!(report(&["-o", "out.csv", "--format", "csv"]), "");
    assert_eq!(report(&["-o", "-", "--format", "csv"]), report(&["--format", "csv"]));
    assert!(!place.path("-").exists());
    assert_eq!(std::fs::read_to_string(place.path("out.csv")).unwrap().lines().count(), 6);
}

#[test]
fn a_reader_that_goes_early_is_no_error() {
    let place = Place::new();
    assert_eq!(place.profile(&["--quiet"], &["attach", "dispatch=5000", "finish"]).status().unwrap().code(), Some(0));
    let mut child = place
        .kreplay(&["report", "run.kreplay", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn what_cannot_be_written_is_told() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["profile", "--help"], &["--version"], &["plan", "--set", "none"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.kreplay(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(118), "{arguments:?}");
        assert!(stderr(&output).contains("error: stdout could not be written"), "{}", stderr(&output));
    }
}

#[test]
fn a_plan_tells_passes_before_anything_runs() {
    let place = Place::new();
    let many = "SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_INSTS_VMEM_RD,SQ_INSTS_VMEM_WR,\
                SQ_INSTS_FLAT,SQ_INSTS_BRANCH,TCC_READ";
    let output = place.kreplay(&["plan", "--device", "soft", "-c", many]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("2 passes on gfx90a"), "{text}");
    assert!(text.contains("simulated") && text.contains("TCC: TCC_READ"), "{text}");
    let output = place.kreplay(&["plan", "--device", "soft", "-c", many, "--passes", "3", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["passes"].as_array().unwrap().len(), 6);
    assert_eq!(json["passes"][0]["way"], "ranges");
    assert!(json["batch"]["kernels"].as_u64().unwrap() > 1);
    assert_eq!(json["batch"]["passes"].as_array().unwrap().len(), 6);
    assert_eq!(json["simulated"], true);
    let plan = |arguments: &[&str]| {
        let output = place.kreplay(&[&["plan", "--device", "soft"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(plan(&[]), plan(&["--set", "basic"]));
    assert_ne!(plan(&[]), plan(&["--set", "none"]));
    assert_eq!(plan(&[]), plan(&["--fence", "on"]));
    let output = place.kreplay(&["plan", "--device", "soft", "--fence", "off"]).output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("--fence off on gfx90a"), "{}", stderr(&output));
}

#[test]
fn counters_are_one_line_each() {
    let place = Place::new();
    let output = place.kreplay(&["counters", "--device", "soft"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let waves = text.lines().find(|line| line.starts_with("SQ_WAVES ")).expect("SQ_WAVES is listed");
    assert!(waves.contains("SQ"), "{waves}");
    assert!(text.contains("simulated") && text.contains("set basic: "), "{text}");
    let output = place.kreplay(&["counters", "--device", "hsa", "--chip", "gfx942", "--json", "lds"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["simulated"], false);
    assert!(json["counters"].as_array().unwrap().iter().any(|counter| counter["name"] == "SQ_INSTS_LDS"));
}

#[test]
fn the_name_of_a_chip_tells_the_backend() {
    let place = Place::new();
    for (chip, command) in [("gfx942", "plan"), ("gfx1100", "counters"), ("gfx90a", "plan")] {
        let output = place.kreplay(&[command, "--chip", chip]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains(chip), "{}", stdout(&output));
    }
    let output = place.kreplay(&["plan", "--chip", "nonesuch"]).output().unwrap();
    assert_eq!(output.status.code(), Some(117));
    let text = stderr(&output);
    assert!(text.contains("the counters of nonesuch are not known") && text.contains("gfx942"), "{text}");
    // Either CUPTI is here, and its chips are named, or it is said that it is missing.
    assert!(text.contains("GH100") || text.contains("libcupti"), "{text}");
    let text = stderr(&place.kreplay(&["plan", "--device", "soft", "--chip", "GH100"]).output().unwrap());
    assert!(text.contains("leave --device out"), "{text}");
    let text = stderr(&place.kreplay(&["plan", "--device", "hsa", "--chip", "GH100"]).output().unwrap());
    assert!(text.contains("--device cuda"), "{text}");
}

#[test]
fn the_doctor_says_what_is_missing_and_how_to_get_it() {
    let place = Place::new();
    let output = place.kreplay(&["doctor"]).output().unwrap();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("--device soft: can be used"), "{text}");
    let output = place.kreplay(&["doctor"]).env("KREPLAY_LIB_DIR", place.path("nowhere")).output().unwrap();
    let text = stdout(&output);
    assert!(text.contains("--device soft: cannot be used") && text.contains("to get it: "), "{text}");
}
