//! One measurement.

use std::time::Duration;

use serde::Serialize;

use super::stamp::Stamp;

/// One measurement: median and extremes of several repeats.
#[derive(Debug, Clone)]
pub(super) struct Row {
    bench: &'static str,
    subject: &'static str,
    case: String,
    metric: &'static str,
    unit: &'static str,
    median: f64,
    min: f64,
    max: f64,
    n: usize,
}

/// A unit of time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::Microseconds => "us",
            Unit::Nanoseconds => "ns",
        }
    }

    fn of(self, time: Duration) -> f64 {
        let seconds = time.as_secs_f64();
        match self {
            Unit::Milliseconds => seconds * 1e3,
            Unit::Microseconds => seconds * 1e6,
            Unit::Nanoseconds => seconds * 1e9,
        }
    }
}

impl Row {
    /// A row over `samples`, of which there is at least one. `subject` is kreplay, or what it is compared with.
    pub(super) fn of(
        bench: &'static str,
        subject: &'static str,
        case: String,
        metric: &'static str,
        unit: Unit,
        samples: &[Duration],
    ) -> Self {
        let mut values: Vec<f64> = samples.iter().map(|time| unit.of(*time)).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
        let median = if n % 2 == 1 { at(n / 2) } else { f64::midpoint(at((n / 2).wrapping_sub(1)), at(n / 2)) };
        Self { bench, subject, case, metric, unit: unit.name(), median, min: at(0), max: at(n.wrapping_sub(1)), n }
    }

    /// For people.
    pub(super) fn line(&self) -> String {
        format!(
            "{:10} {:18} {:44} {:>12.3} {} (min {:.3}, max {:.3}, n {})",
            self.subject, self.metric, self.case, self.median, self.unit, self.min, self.max, self.n
        )
    }

    /// As `bench/results` keeps it.
    pub(super) fn json(&self, stamp: &Stamp) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            bench: &'a str,
            subject: &'a str,
            case: &'a str,
            metric: &'a str,
            unit: &'a str,
            median: f64,
            min: f64,
            max: f64,
            n: usize,
            commit: &'a str,
            machine: &'a str,
            driver: &'a str,
            date: &'a str,
        }
        let line = Line {
            bench: self.bench,
            subject: self.subject,
            case: &self.case,
            metric: self.metric,
            unit: self.unit,
            median: self.median,
            min: self.min,
            max: self.max,
            n: self.n,
            commit: &stamp.commit,
            machine: &stamp.machine,
            driver: &stamp.driver,
            date: &stamp.date,
        };
        // Strings and finite numbers: there is nothing in them that JSON cannot hold.
        serde_json::to_string(&line).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let row = |samples: &[u64]| {
            let samples: Vec<_> = samples.iter().map(|ms| Duration::from_millis(*ms)).collect();
            Row::of("b", "s", "c".into(), "m", Unit::Milliseconds, &samples)
        };
        let odd = row(&[9, 1, 5]);
        assert_eq!((odd.median, odd.min, odd.max, odd.n), (5.0, 1.0, 9.0, 3));
        assert_eq!(row(&[4, 1, 2, 9]).median, 3.0);
    }
}
