//! Every format over one small job: replayed, counted, declined, divergent, derived, two processes.

use std::path::Path;

use kreplay_protocol::*;
use kreplay_report::{By, Format, JSON_VERSION, Options, write_report};
use kreplay_store::{Existing, ProcessEnd, Reader, RunEnd, RunInfo, Writer};

fn dispatch(number: u64, kernel: u32) -> Dispatch {
    Dispatch {
        number,
        agent: 1,
        kernel,
        grid: [16, 2, 1],
        block: [64, 1, 1],
        stream: 5,
        thread: 3,
        argument_bytes: Some(24),
        start_ns: 1_000 * number,
        end_ns: 1_000 * number + 500,
        outcome: Outcome::Replayed,
        reason: None,
        detail: String::new(),
        plan: Some(0),
        passes_asked: 2,
        passes_done: 2,
        window: Some(number),
        write_set: Vec::new(),
        write_set_cut: false,
        bytes: Bytes {
            footprint: 3 << 20,
            write_set: 8192,
            captured: TierBytes { device: 3 << 20, host: 0 },
            restored: TierBytes { device: 8192, host: 0 },
            compared: 6 << 20,
            staging_high_water: 0,
            device_held: 3 << 20,
        },
        phases: Phases {
            drain: 1_000,
            capture: 2_000,
            passes: 3_000,
            compare: 500,
            restore: 400,
            verify: 300,
            commit: 200,
        },
        divergence: None,
        audit: None,
        notes: Vec::new(),
    }
}

fn job(path: &Path) {
    let run = RunInfo {
        command: vec!["./app".into(), "8".into()],
        directory: "/home/user".into(),
        host: "machine".into(),
        settings: Settings { counters: vec!["SQ_WAVES".into(), "L2_HIT".into()], ..Settings::default() },
        start_unix_ns: 1_700_000_000_000_000_000,
    };
    let mut writer = Writer::create(path, Existing::Refuse, &run).unwrap();
    for pid in [100, 101] {
        let hello = Hello {
            pid,
            parent: 1,
            exe: "/home/user/app".into(),
            argv: run.command.clone(),
            start_unix_ns: 1_700_000_000_000_000_000,
            library_version: "0.1.0".into(),
        };
        let process = writer.add_process(&hello).unwrap();
        let counter = |number, name: &str, unit: &str| {
            FromLibrary::Counter(Counter { number, name: name.into(), unit: unit.into(), block: "SQ".into() })
        };
        let mut messages = vec![
            FromLibrary::Agent(Agent {
                number: 1,
                name: "Software GPU".into(),
                chip: "gfx90a".into(),
                backend: "hsa".into(),
                simulated: true,
                memory_bytes: Some(1 << 34),
            }),
            counter(0, "SQ_WAVES", "wave"),
            counter(1, "TCC_HIT", "request"),
            counter(2, "L2_HIT", "%"),
            FromLibrary::Plan(Plan {
                number: 0,
                agent: 1,
                passes: vec![
                    PlanPass { counters: vec![0], way: Way::Ranges, price_ns: 1_000_000 },
                    PlanPass { counters: vec![0, 1], way: Way::Sampling, price_ns: 20_000 },
                ],
            }),
            FromLibrary::Kernel(Kernel { number: 0, name: "scale(float*, \"q\", float)".into() }),
            FromLibrary::Kernel(Kernel { number: 1, name: "graph_\u{1b}[31mkernel".into() }),
        ];
        let value = |counter, value| Reading {
            counter,
            instance: 0,
            value,
            derived: counter == 2,
            bound: (counter == 1).then_some(0.05),
        };
        for number in 1..=2 {
            let mut replayed = dispatch(number, 0);
            if pid == 101 && number == 2 {
                replayed.divergence = Some(Divergence {
                    kind: DivergenceKind::Output,
                    pass: Some(1),
                    range: Range { base: 4096, bytes: 4096 },
                    bytes: 4096,
                });
            }
            messages.push(FromLibrary::Dispatch(Box::new(replayed)));
            let readings = |pass, values| FromLibrary::Readings(Readings { dispatch: number, pass, values });
            messages.push(readings(Some(0), vec![value(0, Value::Count(32 * number))]));
            messages.push(readings(Some(1), vec![value(0, Value::Count(32 * number)), value(1, Value::Count(7))]));
            messages.push(readings(None, vec![value(2, Value::Real(0.875))]));
        }
        messages.push(FromLibrary::Dispatch(Box::new(Dispatch {
            outcome: Outcome::Declined,
            reason: Some("graph_launch".into()),
            passes_done: 1,
            window: None,
            bytes: Bytes::default(),
            phases: Phases::default(),
            ..dispatch(3, 1)
        })));
        messages.push(FromLibrary::Warning(Warning {
            code: "graph_launch".into(),
            text: "the kernel is part of a graph launch; run with graphs off".into(),
        }));
        for (number, kind, dispatches, closed_by) in
            [(1, WindowKind::Kernel, 1, "done"), (2, WindowKind::Batch, 3, "full"), (3, WindowKind::Batch, 1, "time")]
        {
            messages.push(FromLibrary::Window(Window {
                number,
                agent: 1,
                kind,
                dispatches,
                operations: 0,
                closed_by: closed_by.into(),
                bytes: Bytes::default(),
                phases: Phases::default(),
            }));
        }
        messages.push(FromLibrary::Summary(Summary {
            replayed: 2,
            declined: vec![("graph_launch".into(), 1)],
            not_selected: 4,
            kernel_windows: 2,
            ..Summary::default()
        }));
        for message in &messages {
            writer.add(process, message).unwrap();
        }
        writer.end_process(process, ProcessEnd::InOrder).unwrap();
    }
    writer
        .finish(RunEnd {
            end_unix_ns: 1_700_000_001_500_000_000,
            exit_code: Some(0),
            exit_signal: None,
            incomplete: false,
        })
        .unwrap();
}

fn report(format: Format, by: By) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.kreplay");
    job(&path);
    let mut out = Vec::new();
    write_report(&Reader::open(&path).unwrap(), &Options { format, by, width: None }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn table_by_dispatch() {
    insta::assert_snapshot!(report(Format::Table, By::Dispatch));
}

#[test]
fn table_by_kernel() {
    insta::assert_snapshot!(report(Format::Table, By::Kernel));
}

#[test]
fn csv_by_dispatch() {
    insta::assert_snapshot!(report(Format::Csv, By::Dispatch));
}

#[test]
fn csv_by_kernel() {
    insta::assert_snapshot!(report(Format::Csv, By::Kernel));
}

/// To the letter: the order of the fields too. The run, which names kreplay's version, is left out.
fn json_without_run(by: By) -> String {
    let text = report(Format::Json, by);
    text.lines().filter(|line| !line.starts_with("\"run\"")).flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn json_by_dispatch() {
    insta::assert_snapshot!(json_without_run(By::Dispatch));
}

#[test]
fn json_by_kernel() {
    insta::assert_snapshot!(json_without_run(By::Kernel));
}

#[test]
fn json_has_every_value_with_its_pass() {
    let json: serde_json::Value = serde_json::from_str(&report(Format::Json, By::Dispatch)).unwrap();
    assert_eq!(json["version"], JSON_VERSION);
    assert_eq!(json["run"]["command"][1], "8");
    assert_eq!(json["run"]["simulated"], true);
    assert_eq!(json["run"]["not_selected"], 8);
    let dispatches = json["dispatches"].as_array().unwrap();
    assert_eq!(dispatches.len(), 6);
    let first = &dispatches[0];
    assert_eq!(first["outcome"], "replayed");
    assert_eq!(first["passes"], 2);
    assert_eq!(first["divergent"], false);
    assert_eq!(first["phases_us"]["capture"], 2.0);
    assert_eq!(first["captured_bytes"], 3 << 20);
    let values: Vec<_> = first["counters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|counter| {
            assert_eq!(counter["simulated"], true);
            (counter["name"].as_str().unwrap(), counter["pass"].as_u64(), counter["value"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(
        values,
        [("L2_HIT", None, 0.875), ("SQ_WAVES", Some(0), 32.0), ("SQ_WAVES", Some(1), 32.0), ("TCC_HIT", Some(1), 7.0)]
    );
    assert_eq!(first["counters"][0]["derived"], true);
    let how = |at: usize| (first["counters"][at]["way"].clone(), first["counters"][at]["bound"].clone());
    assert_eq!(how(0), (serde_json::Value::Null, serde_json::Value::Null));
    assert_eq!(how(1), ("ranges".into(), serde_json::Value::Null));
    assert_eq!(how(3), ("sampling".into(), 0.05.into()));
    let declined = &dispatches[2];
    assert_eq!((&declined["outcome"], &declined["reason"]), (&"declined".into(), &"graph_launch".into()));
    assert_eq!(dispatches[4]["divergence"]["pass"], 1);
}

#[test]
fn json_by_kernel_says_how_values_were_combined() {
    let json: serde_json::Value = serde_json::from_str(&report(Format::Json, By::Kernel)).unwrap();
    assert!(json["combined"].as_str().unwrap().contains("passes are kept apart"));
    let kernels = json["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 2);
    assert_eq!(kernels[0]["dispatches"], 4);
    assert_eq!(kernels[0]["divergent"], 1);
    let waves = &kernels[0]["counters"][0];
    assert_eq!((&waves["name"], &waves["pass"], &waves["dispatches"]), (&"SQ_WAVES".into(), &0.into(), &4.into()));
    assert_eq!((&waves["mean"], &waves["min"], &waves["max"]), (&48.0.into(), &32.0.into(), &64.0.into()));
    let hits = &kernels[0]["counters"][2];
    assert_eq!((&hits["name"], &hits["way"], &hits["bound"]), (&"TCC_HIT".into(), &"sampling".into(), &0.05.into()));
    assert_eq!(kernels[1]["reasons"]["graph_launch"], 2);
}

#[test]
fn csv_parses_and_has_the_values_of_json() {
    let text = report(Format::Csv, By::Dispatch);
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let header = csv.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let rows: Vec<_> = csv.records().map(Result::unwrap).collect();
    // Four dispatches of four values each, two without any: the ninth row is the first of these.
    assert_eq!(rows.len(), 18);
    assert_eq!(&rows[1][column("kernel")], "scale(float*, \"q\", float)");
    assert_eq!((&rows[1][column("pass")], &rows[1][column("value")]), ("0", "32"));
    assert_eq!(&rows[0][column("pass")], "");
    assert_eq!((&rows[1][column("way")], &rows[1][column("bound")]), ("ranges", ""));
    assert_eq!((&rows[3][column("way")], &rows[3][column("bound")]), ("sampling", "0.05"));
    assert_eq!(&rows[8][column("reason")], "graph_launch");
}

#[test]
fn flushed_caches_are_told_with_the_values() {
    for (cache, told) in [(Cache::None, false), (Cache::Flush, true)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.kreplay");
        let run = RunInfo {
            command: vec!["./app".into()],
            directory: "/home/user".into(),
            host: "machine".into(),
            settings: Settings { cache, ..Settings::default() },
            start_unix_ns: 1_700_000_000_000_000_000,
        };
        drop(Writer::create(&path, Existing::Refuse, &run).unwrap());
        let mut out = Vec::new();
        let options = Options { format: Format::Table, by: By::Kernel, width: Some(100) };
        write_report(&Reader::open(&path).unwrap(), &options, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.contains("filled with other data before each pass"), told, "{text}");
    }
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.kreplay");
    job(&path);
    let mut out = Vec::new();
    let options = Options { format: Format::Table, by: By::Kernel, width: Some(100) };
    write_report(&Reader::open(&path).unwrap(), &options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let table = text.lines().skip_while(|line| !line.starts_with("kernel")).take_while(|line| !line.is_empty());
    for line in table {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(!text.contains('\u{1b}'), "an escape sequence of a kernel's name reached the terminal");
}
