//! Every format over one small job: replayed, counted, declined, divergent, derived, two processes.

mod job;

use job::job;
use kreplay_protocol::{Cache, Settings};
use kreplay_report::{By, Format, JSON_VERSION, Options, write_report};
use kreplay_store::{Existing, Reader, RunInfo, Writer};

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
    assert_eq!(dispatches.len(), 7);
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
    assert_eq!(json["run"]["without_values"], 1);
    let lost = &dispatches[3];
    assert_eq!((lost["counters"].as_array().map(Vec::len), lost["notes"].as_array().map(Vec::len)), (Some(0), Some(2)));
    assert_eq!(dispatches[5]["divergence"]["pass"], 1);
}

#[test]
fn json_by_kernel_says_how_values_were_combined() {
    let json: serde_json::Value = serde_json::from_str(&report(Format::Json, By::Kernel)).unwrap();
    assert!(json["combined"].as_str().unwrap().contains("passes are kept apart"));
    let kernels = json["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 2);
    assert_eq!(kernels[0]["dispatches"], 5);
    assert_eq!(kernels[0]["without_values"], 1);
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
    // Four dispatches of four values each, three without any: the ninth row is the first of these.
    assert_eq!(rows.len(), 19);
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
