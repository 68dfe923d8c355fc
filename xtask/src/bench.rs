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
//! `generated: bench kernel_pass ms_per_kernel kernel window, 1024 MiB`. What is the same in all rows stands once above the table.

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
            let rows: Vec<&Measurement> = results.iter().filter(|row| is_of(row, &name)).collect();
            if rows.is_empty() {
                bail!("{page} shows the bench {name}, which has no result under bench/results");
            }
            text = replace(&text, &format!("bench {name}"), &table(&rows))?;
        }
        mode.apply("bench", &path, text.as_bytes())?;
    }
    Ok(())
}

/// Whether a measurement is among those of this name: a bench, and perhaps a metric, and how cases begin.
fn is_of(row: &Measurement, name: &str) -> bool {
    let mut words = name.splitn(3, ' ');
    words.next() == Some(row.bench.as_str())
        && words.next().is_none_or(|metric| metric == row.metric)
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

/// A column's name, its alignment, and what stands there.
type Column = (&'static str, &'static str, fn(&Measurement) -> String);

fn table(rows: &[&Measurement]) -> String {
    let columns: [Column; 7] = [
        ("subject", "---", |row| row.subject.clone()),
        ("case", "---", |row| row.case.clone()),
        ("metric", "---", |row| row.metric.clone()),
        ("median", "---:", |row| format!("{} {}", figure(row.median), row.unit)),
        ("min … max", "---:", |row| format!("{} … {}", figure(row.min), figure(row.max))),
        ("n", "---:", |row| row.n.to_string()),
        ("measured", "---", |row| {
            let commit = row.commit.get(..12).unwrap_or(&row.commit);
            format!("{}, {}, {}, at {commit}", row.machine, row.driver, row.date)
        }),
    ];
    let same = |text: fn(&Measurement) -> String| rows.iter().all(|row| text(row) == text(rows[0]));
    let (said, shown): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .partition(|(name, _, text)| matches!(*name, "case" | "metric" | "measured") && rows.len() > 1 && same(*text));
    let mut table = String::new();
    if !said.is_empty() {
        let said: Vec<String> = said.iter().map(|(name, _, text)| format!("{name}: {}", text(rows[0]))).collect();
        table.push_str(&format!("*{}.*\n\n", said.join("; ")));
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    table.push_str(&line(&shown.iter().map(|(name, ..)| (*name).to_owned()).collect::<Vec<_>>()));
    table.push_str(&format!("|{}|\n", shown.iter().map(|(_, rule, _)| *rule).collect::<Vec<_>>().join("|")));
    for row in rows {
        table.push_str(&line(&shown.iter().map(|(.., text)| text(row)).collect::<Vec<_>>()));
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

    fn row(bench: &str, case: &str, metric: &str, commit: &str) -> Measurement {
        let of = |text: &str| text.to_owned();
        let (machine, driver, date) = (of("a GPU"), of("580"), of("2026-01-01"));
        let (bench, subject, case, metric) = (of(bench), of("kreplay"), of(case), of(metric));
        Measurement {
            bench,
            subject,
            case,
            metric,
            unit: of("ms"),
            median: 2.0,
            min: 1.0,
            max: 3.0,
            n: 3,
            commit: of(commit),
            machine,
            driver,
            date,
        }
    }

    #[test]
    fn a_name_says_bench_metric_and_how_cases_begin() {
        let row = row("pass", "kernel window, 64 MiB", "ms_per_kernel", "0");
        for name in ["pass", "pass ms_per_kernel", "pass ms_per_kernel kernel window"] {
            assert!(is_of(&row, name), "{name}");
        }
        for name in ["pas", "pass ms", "pass ms_per_kernel batch window", "pass ms_per_kernel 64 MiB"] {
            assert!(!is_of(&row, name), "{name}");
        }
    }

    #[test]
    fn what_is_the_same_in_all_rows_stands_above_them() {
        let (one, other) = (row("b", "small", "m", "0"), row("b", "large", "m", "0"));
        let expected = "*metric: m; measured: a GPU, 580, 2026-01-01, at 0.*\n\n| subject | case | median | min … max | n |\n\
            |---|---|---:|---:|---:|\n| kreplay | small | 2.00 ms | 1.00 … 3.00 | 3 |\n| kreplay | large | 2.00 ms | 1.00 … 3.00 | 3 |\n";
        assert_eq!(table(&[&one, &other]), expected);
        let later = row("b", "large", "m", "1");
        let shown = table(&[&one, &later]);
        assert!(shown.contains("| small | 2.00 ms | 1.00 … 3.00 | 3 | a GPU, 580, 2026-01-01, at 0 |"), "{shown}");
        assert!(shown.contains("| large | 2.00 ms | 1.00 … 3.00 | 3 | a GPU, 580, 2026-01-01, at 1 |"), "{shown}");
        assert!(table(&[&one]).starts_with("| subject | case | metric |"), "one row says all");
    }

    #[test]
    fn a_line_with_an_unknown_field_is_refused() {
        let line = r#"{"bench":"b","subject":"s","case":"c","metric":"m","unit":"ms","median":1,"min":1,"max":1,"n":3,
            "commit":"0","machine":"m","driver":"d","date":"2026-01-01"}"#;
        assert!(serde_json::from_str::<Measurement>(line).is_ok());
        assert!(serde_json::from_str::<Measurement>(&line.replace("\"bench\"", "\"x\":1,\"bench\"")).is_err());
    }
}
