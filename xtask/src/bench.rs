//! Tables of measurements, from the raw results that the tree keeps.
//!
//! `bench/results/*.jsonl` holds one measurement a line. A page names what it shows:
//!
//! ```text
//! <!-- generated: bench staging -->
//! …
//! <!-- end -->
//! ```
//!
//! or one metric of it, `generated: bench training_step seconds`, and of that the cases that begin with something:
//! `generated: bench kernel_pass ms_per_kernel kernel window, 1024 MiB`; `*equal` are all metrics that end so. What is the same in all
//! rows stands once above the table. `generated: bench pivot kinds *equal` has a column for each subject, with medians.

mod table;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::doc_tables::replace;
use crate::r#gen::Mode;
use crate::shell;

/// Pages that may show measurements.
const PAGES: &[&str] = &["README.md", "docs/performance.md"];

/// One measurement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measurement {
    /// What was run, for instance `staging`.
    bench: String,
    /// `kreplay`, or the peer's name.
    subject: String,
    /// Which case of it, for instance a size.
    case: String,
    /// What was measured.
    metric: String,
    /// Unit of `median`, `min` and `max`.
    unit: String,
    median: f64,
    min: f64,
    max: f64,
    /// How often.
    n: u64,
    /// Commit of what was measured.
    commit: String,
    machine: String,
    driver: String,
    /// Day, as YYYY-MM-DD.
    date: String,
}

/// Writes or compares the tables.
///
/// # Errors
/// When a result is not readable, a page shows a bench that has no result, or see [`Mode::apply`].
pub(crate) fn run(mode: Mode) -> Result<()> {
    let results = results()?;
    for page in PAGES {
        let path = shell::root().join(page);
        let mut text = std::fs::read_to_string(&path).with_context(|| format!("{page} could not be read"))?;
        for shown in shown(&text) {
            let (pivot, name) = shown.strip_prefix("pivot ").map_or((false, &shown[..]), |name| (true, name));
            let rows: Vec<&Measurement> = results.iter().filter(|row| is_of(row, name)).collect();
            if rows.is_empty() {
                bail!("{page} shows the bench {name}, which has no result under bench/results");
            }
            let table = if pivot { table::by_subject(&rows) } else { table::whole(&rows) };
            text = replace(&text, &format!("bench {shown}"), &table)?;
        }
        mode.apply("bench", &path, text.as_bytes())?;
    }
    Ok(())
}

/// Whether a measurement is among those of this name: a bench, and perhaps a metric, or `*` and how metrics end, and how cases begin.
fn is_of(row: &Measurement, name: &str) -> bool {
    let mut words = name.splitn(3, ' ');
    let of_metric = |metric: &str| match metric.strip_prefix('*') {
        Some(end) => row.metric.ends_with(end),
        None => row.metric == metric,
    };
    words.next() == Some(row.bench.as_str())
        && words.next().is_none_or(of_metric)
        && words.next().is_none_or(|case| row.case.starts_with(case))
}

/// The benches that a page shows.
fn shown(page: &str) -> Vec<String> {
    page.lines()
        .filter_map(|line| line.strip_prefix("<!-- generated: bench ")?.strip_suffix(" -->"))
        .map(str::to_owned)
        .collect()
}

/// Every measurement, file by file in the order of their names.
fn results() -> Result<Vec<Measurement>> {
    let folder = shell::root().join("bench/results");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .with_context(|| format!("{} could not be read", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut results = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let result: Measurement = serde_json::from_str(line)
                .with_context(|| format!("{} line {} is not a measurement", file.display(), index + 1))?;
            check(&result).with_context(|| format!("{} line {}", file.display(), index + 1))?;
            results.push(result);
        }
    }
    Ok(results)
}

fn check(result: &Measurement) -> Result<()> {
    if !(result.min <= result.median && result.median <= result.max) || result.n == 0 {
        bail!("median, min, max and n do not fit together");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::table::tests::row;

    #[test]
    fn a_name_says_bench_metric_and_how_cases_begin() {
        let row = row("pass", "kernel window, 64 MiB", "ms_per_kernel", "0");
        for name in ["pass", "pass ms_per_kernel", "pass ms_per_kernel kernel window", "pass *kernel kernel", "pass *"]
        {
            assert!(is_of(&row, name), "{name}");
        }
        for name in ["pas", "pass ms", "pass *ms", "pass ms_per_kernel batch window", "pass ms_per_kernel 64 MiB"] {
            assert!(!is_of(&row, name), "{name}");
        }
    }

    #[test]
    fn a_line_with_an_unknown_field_is_refused() {
        let line = r#"{"bench":"b","subject":"s","case":"c","metric":"m","unit":"ms","median":1,"min":1,"max":1,"n":3,
            "commit":"0","machine":"m","driver":"d","date":"2026-01-01"}"#;
        assert!(serde_json::from_str::<Measurement>(line).is_ok());
        assert!(serde_json::from_str::<Measurement>(&line.replace("\"bench\"", "\"x\":1,\"bench\"")).is_err());
    }
}
