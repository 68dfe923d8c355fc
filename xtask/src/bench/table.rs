//! Tables of measurements.

use super::Measurement;

/// A column's name, its alignment, and what stands there.
type Column = (&'static str, &'static str, fn(&Measurement) -> String);

const CASE: Column = ("case", "---", |row| row.case.clone());
const METRIC: Column = ("metric", "---", |row| row.metric.clone());
const MEASURED: Column = ("measured", "---", |row| {
    let commit = row.commit.get(..12).unwrap_or(&row.commit);
    format!("{}, {}, {}, at {commit}", row.machine, row.driver, row.date)
});

/// One row for each measurement.
pub(super) fn whole(rows: &[&Measurement]) -> String {
    let columns: [Column; 7] = [
        ("subject", "---", |row| row.subject.clone()),
        CASE,
        METRIC,
        ("median", "---:", |row| format!("{} {}", figure(row.median), row.unit)),
        ("min … max", "---:", |row| format!("{} … {}", figure(row.min), figure(row.max))),
        ("n", "---:", |row| row.n.to_string()),
        MEASURED,
    ];
    let same = |text: fn(&Measurement) -> String| rows.iter().all(|row| text(row) == text(rows[0]));
    let (said, shown): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .partition(|(name, _, text)| matches!(*name, "case" | "metric" | "measured") && rows.len() > 1 && same(*text));
    let mut table = above(&said, rows[0]);
    table.push_str(&line(shown.iter().map(|(name, ..)| (*name).to_owned())));
    table.push_str(&format!("|{}|\n", shown.iter().map(|(_, rule, _)| *rule).collect::<Vec<_>>().join("|")));
    for row in rows {
        table.push_str(&line(shown.iter().map(|(.., text)| text(row))));
    }
    table
}

/// One row for each case and metric, with a column of medians for each subject.
pub(super) fn by_subject(rows: &[&Measurement]) -> String {
    let mut subjects: Vec<&str> = Vec::new();
    for row in rows {
        if !subjects.contains(&row.subject.as_str()) {
            subjects.push(&row.subject);
        }
    }
    let columns: [Column; 3] = [CASE, METRIC, MEASURED];
    let same = |text: fn(&Measurement) -> String| rows.iter().all(|row| text(row) == text(rows[0]));
    let (said, shown): (Vec<_>, Vec<_>) = columns.into_iter().partition(|(.., text)| same(*text));
    let key = |row: &Measurement| shown.iter().map(|(.., text)| text(row)).collect::<Vec<_>>();
    let mut keys: Vec<Vec<String>> = Vec::new();
    for row in rows {
        if !keys.contains(&key(row)) {
            keys.push(key(row));
        }
    }
    let mut table = above(&said, rows[0]);
    table.push_str(&line(shown.iter().map(|(name, ..)| *name).chain(subjects.iter().copied()).map(str::to_owned)));
    let rules = shown.iter().map(|(_, rule, _)| *rule).chain(subjects.iter().map(|_| "---:"));
    table.push_str(&format!("|{}|\n", rules.collect::<Vec<_>>().join("|")));
    for of in &keys {
        let median = |subject: &&str| {
            let row = rows.iter().find(|row| row.subject == **subject && key(row) == *of);
            row.map_or(String::new(), |row| format!("{} {}", figure(row.median), row.unit))
        };
        table.push_str(&line(of.iter().cloned().chain(subjects.iter().map(median))));
    }
    table
}

/// What all rows share.
fn above(said: &[Column], row: &Measurement) -> String {
    if said.is_empty() {
        return String::new();
    }
    let said: Vec<String> = said.iter().map(|(name, _, text)| format!("{name}: {}", text(row))).collect();
    format!("*{}.*\n\n", said.join("; "))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
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
pub(super) mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        let shown = [1234.4, 93.77, 1.2345, 0.012_345, 0.0].map(figure);
        assert_eq!(shown, ["1234", "93.8", "1.23", "0.0123", "0"]);
    }

    pub(in crate::bench) fn row(bench: &str, case: &str, metric: &str, commit: &str) -> Measurement {
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
    fn what_is_the_same_in_all_rows_stands_above_them() {
        let (one, other) = (row("b", "small", "m", "0"), row("b", "large", "m", "0"));
        let expected = "*metric: m; measured: a GPU, 580, 2026-01-01, at 0.*\n\n| subject | case | median | min … max | n |\n\
            |---|---|---:|---:|---:|\n| kreplay | small | 2.00 ms | 1.00 … 3.00 | 3 |\n| kreplay | large | 2.00 ms | 1.00 … 3.00 | 3 |\n";
        assert_eq!(whole(&[&one, &other]), expected);
        let later = row("b", "large", "m", "1");
        let shown = whole(&[&one, &later]);
        assert!(shown.contains("| small | 2.00 ms | 1.00 … 3.00 | 3 | a GPU, 580, 2026-01-01, at 0 |"), "{shown}");
        assert!(shown.contains("| large | 2.00 ms | 1.00 … 3.00 | 3 | a GPU, 580, 2026-01-01, at 1 |"), "{shown}");
        assert!(whole(&[&one]).starts_with("| subject | case | metric |"), "one row says all");
    }

    #[test]
    fn subjects_stand_side_by_side() {
        let other = Measurement { subject: "peer".to_owned(), median: 3.0, ..row("b", "small", "m", "0") };
        let (one, alone) = (row("b", "small", "m", "0"), row("b", "large", "m", "0"));
        let expected = "*metric: m; measured: a GPU, 580, 2026-01-01, at 0.*\n\n| case | kreplay | peer |\n|---|---:|---:|\n\
            | small | 2.00 ms | 3.00 ms |\n| large | 2.00 ms |  |\n";
        assert_eq!(by_subject(&[&one, &other, &alone]), expected);
    }
}
