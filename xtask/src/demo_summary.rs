//! What the demo says about a profile, and what makes it fail.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;

/// What `kreplay report --format json` gives, as far as the demo needs it.
#[derive(Debug, Deserialize)]
pub(crate) struct Summary {
    run: Run,
    dispatches: Vec<Dispatch>,
}

#[derive(Debug, Deserialize)]
struct Run {
    windows: Vec<Window>,
}

/// What was moved, and where the time went: it belongs to a window, whose launches share it.
#[derive(Debug, Deserialize)]
struct Window {
    id: u64,
    dispatches: u64,
    footprint_bytes: u64,
    write_set_bytes: u64,
    captured_bytes: u64,
    restored_bytes: u64,
    phases_us: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
struct Dispatch {
    kernel: String,
    outcome: String,
    reason: Option<String>,
    passes: u64,
    divergent: bool,
    counters: Vec<Counter>,
}

#[derive(Debug, Deserialize)]
struct Counter {
    simulated: bool,
}

/// The phases in the order in which they happen.
const PHASES: [&str; 7] = ["drain", "capture", "passes", "compare", "restore", "verify", "commit"];

impl Summary {
    /// Reads a report.
    ///
    /// # Errors
    /// When a field that the format promises is missing.
    pub(crate) fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).context("the JSON report is not what its documentation says")
    }

    /// What is not as it must be; empty when the demo went well.
    pub(crate) fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        if self.dispatches.is_empty() {
            failures.push("no kernel was seen".to_owned());
        }
        for dispatch in &self.dispatches {
            let kernel = &dispatch.kernel;
            if dispatch.outcome != "replayed" {
                let reason = dispatch.reason.as_deref().unwrap_or("no reason given");
                failures.push(format!("{kernel} was not replayed but {} ({reason})", dispatch.outcome));
            } else if dispatch.passes < 2 {
                failures.push(format!("{kernel} ran in one pass"));
            }
            if dispatch.divergent {
                failures.push(format!("{kernel} did other work in one of its passes"));
            }
            if dispatch.counters.is_empty() {
                failures.push(format!("{kernel} has no counters"));
            }
        }
        for window in self.run.windows.iter().filter(|window| window.write_set_bytes == 0) {
            failures.push(format!("nothing that was written in window {} was noticed", window.id));
        }
        let held: u64 = self.sum(|window| window.dispatches);
        if held != self.dispatches.len() as u64 {
            failures.push(format!("the windows held {held} of {} kernels", self.dispatches.len()));
        }
        failures
    }

    fn sum(&self, of: impl Fn(&Window) -> u64) -> u64 {
        self.run.windows.iter().map(of).sum()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.dispatches.len();
        let replayed = self.dispatches.iter().filter(|dispatch| dispatch.outcome == "replayed").count();
        let simulated = self.dispatches.iter().flat_map(|dispatch| &dispatch.counters).all(|counter| counter.simulated);
        writeln!(
            f,
            "{replayed} of {count} kernels replayed in {}, {} passes in all{}.",
            match self.run.windows.len() {
                1 => "one window".to_owned(),
                windows => format!("{windows} windows"),
            },
            self.dispatches.iter().map(|dispatch| dispatch.passes).sum::<u64>(),
            if simulated { "; every counter value is simulated" } else { "" }
        )?;
        let (footprint, written) = (self.sum(|w| w.footprint_bytes), self.sum(|w| w.write_set_bytes));
        writeln!(
            f,
            "Memory, summed over the windows: {} could have been written, {} was; {} was copied to take snapshots, {} \
             was put back.",
            mib(footprint),
            mib(written),
            mib(self.sum(|w| w.captured_bytes)),
            mib(self.sum(|w| w.restored_bytes))
        )?;
        write!(f, "Time, summed over the windows:")?;
        for phase in PHASES {
            let time: f64 = self.run.windows.iter().filter_map(|window| window.phases_us.get(phase)).sum();
            write!(f, " {phase} {:.1} ms{}", time / 1e3, if phase == "commit" { "." } else { "," })?;
        }
        Ok(())
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: &str, passes: u64, divergent: bool) -> Summary {
        whole(outcome, passes, divergent, 1, 4096)
    }

    fn whole(outcome: &str, passes: u64, divergent: bool, held: u64, written: u64) -> Summary {
        let dispatch = serde_json::json!({
            "id": 1, "kernel": "advance", "outcome": outcome, "reason": null, "passes": passes, "divergent": divergent,
            "counters": [{"name": "SQ_WAVES", "pass": 0, "value": 4, "unit": "", "simulated": true}]
        });
        let window = serde_json::json!({
            "id": 7, "dispatches": held, "footprint_bytes": 8192, "write_set_bytes": written, "captured_bytes": 8192,
            "restored_bytes": 4096, "phases_us": {"drain": 1.0, "passes": 2.0}
        });
        let run = serde_json::json!({"windows": [window]});
        let whole = serde_json::json!({"version": 1, "run": run, "dispatches": [dispatch]});
        Summary::from_json(&whole.to_string()).expect("complete")
    }

    #[test]
    fn a_replayed_kernel_is_no_failure() {
        assert!(report("replayed", 3, false).failures().is_empty());
    }

    #[test]
    fn whatever_was_not_replayed_as_asked_is_a_failure() {
        assert!(report("declined", 0, false).failures()[0].contains("not replayed"));
        assert!(report("replayed", 1, false).failures()[0].contains("one pass"));
        assert!(report("replayed", 3, true).failures()[0].contains("other work"));
        assert!(whole("replayed", 3, false, 1, 0).failures()[0].contains("nothing that was written in window 7"));
        assert!(whole("replayed", 3, false, 2, 9).failures()[0].contains("held 2 of 1 kernels"));
        let nothing = Summary::from_json(r#"{"run": {"windows": []}, "dispatches": []}"#).expect("complete");
        assert_eq!(nothing.failures(), ["no kernel was seen"]);
    }

    #[test]
    fn the_text_tells_copies_and_times() {
        let text = report("replayed", 3, false).to_string();
        assert!(
            text.contains("1 of 1 kernels replayed in one window, 3 passes in all; every counter value is simulated."),
            "{text}"
        );
        assert!(text.contains("0.01 MiB could have been written, 0.00 MiB was"), "{text}");
        assert!(text.contains("passes 0.0 ms"), "{text}");
    }
}
