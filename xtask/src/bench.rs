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
//! or one metric of it: `generated: bench training_step seconds`.

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
        for name in shown(&text) {
            let (bench, metric) = name.split_once(' ').map_or((name.as_str(), None), |(b, m)| (b, Some(m)));
            let wanted = |row: &&Measurement| row.bench == bench && metric.is_none_or(|metric| row.metric == metric);
            let rows: Vec<&Measurement> = results.iter().filter(wanted).collect();
            if rows.is_empty() {
                bail!("{page} shows the bench {name}, which has no result under bench/results");
            }
            text = replace(&text, &format!("bench {name}"), &table(&rows))?;
        }
        mode.apply(&path, text.as_bytes())?;
    }
    Ok(())
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

fn table(rows: &[&Measurement]) -> String {
    let mut table = String::from("| subject | case | metric | median | min … max | n | machine | commit |\n");
    table.push_str("|---|---|---|---:|---:|---:|---|---|\n");
    for row in rows {
        let [median, min, max] = [row.median, row.min, row.max].map(figure);
        let commit = row.commit.get(..12).unwrap_or(&row.commit);
        table.push_str(&format!(
            "| {} | {} | {} | {median} {} | {min} … {max} | {} | {}, {}, {} | {commit} |\n",
            row.subject, row.case, row.metric, row.unit, row.n, row.machine, row.driver, row.date
        ));
    }
    table
}

/// Three significant digits, more where the number is whole and larger.
fn figure(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size => 2 - size.log10().floor() as i32,
    };
    format!("{value:.*}", usize::try_from(digits).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        let shown = [1234.4, 93.77, 1.2345, 0.012_345, 0.0].map(figure);
        assert_eq!(shown, ["1234", "93.8", "1.23", "0.0123", "0"]);
    }

    #[test]
    fn a_line_with_an_unknown_field_is_refused() {
        let line = r#"{"bench":"b","subject":"s","case":"c","metric":"m","unit":"ms","median":1,"min":1,"max":1,"n":3,
            "commit":"0","machine":"m","driver":"d","date":"2026-01-01"}"#;
        assert!(serde_json::from_str::<Measurement>(line).is_ok());
        assert!(serde_json::from_str::<Measurement>(&line.replace("\"bench\"", "\"x\":1,\"bench\"")).is_err());
    }
}
