//! What the demo says about a profile, and what makes it fail.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;

/// What `kreplay report --format json` gives, as far as the demo needs it.
#[derive(Debug, Deserialize)]
pub(crate) struct Summary {
    dispatches: Vec<Dispatch>,
}

#[derive(Debug, Deserialize)]
struct Dispatch {
    kernel: String,
    outcome: String,
    reason: Option<String>,
    passes: u64,
    footprint_bytes: u64,
    write_set_bytes: u64,
    captured_bytes: u64,
    restored_bytes: u64,
    divergent: bool,
    phases_us: BTreeMap<String, f64>,
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
            } else if dispatch.write_set_bytes == 0 {
                failures.push(format!("nothing that {kernel} wrote was noticed"));
            }
            if dispatch.divergent {
                failures.push(format!("{kernel} did other work in one of its passes"));
            }
            if dispatch.counters.is_empty() {
                failures.push(format!("{kernel} has no counters"));
            }
        }
        failures
    }

    fn sum(&self, of: impl Fn(&Dispatch) -> u64) -> u64 {
        self.dispatches.iter().map(of).sum()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.dispatches.len();
        let replayed = self.dispatches.iter().filter(|dispatch| dispatch.outcome == "replayed").count();
        let simulated = self.dispatches.iter().flat_map(|dispatch| &dispatch.counters).all(|counter| counter.simulated);
        writeln!(
            f,
            "{replayed} of {count} kernels replayed, {} passes in all{}.",
            self.sum(|dispatch| dispatch.passes),
            if simulated { "; every counter value is simulated" } else { "" }
        )?;
        let (footprint, written) = (self.sum(|d| d.footprint_bytes), self.sum(|d| d.write_set_bytes));
        writeln!(
            f,
            "Memory, summed over the kernels: {} could have been written, {} was; {} was copied to take snapshots, {} \
             was put back.",
            mib(footprint),
            mib(written),
            mib(self.sum(|d| d.captured_bytes)),
            mib(self.sum(|d| d.restored_bytes))
        )?;
        write!(f, "Time, summed over the kernels:")?;
        for phase in PHASES {
            let time: f64 = self.dispatches.iter().filter_map(|dispatch| dispatch.phases_us.get(phase)).sum();
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
        let dispatch = serde_json::json!({
            "id": 1, "kernel": "advance", "outcome": outcome, "reason": null, "passes": passes,
            "footprint_bytes": 8192, "write_set_bytes": 4096, "captured_bytes": 8192, "restored_bytes": 4096,
            "divergent": divergent, "phases_us": {"drain": 1.0, "passes": 2.0},
            "counters": [{"name": "SQ_WAVES", "pass": 0, "value": 4, "unit": "", "simulated": true}]
        });
        Summary::from_json(&serde_json::json!({"version": 1, "dispatches": [dispatch]}).to_string()).expect("complete")
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
        let nothing = Summary::from_json(r#"{"dispatches": []}"#).expect("complete");
        assert_eq!(nothing.failures(), ["no kernel was seen"]);
    }

    #[test]
    fn the_text_tells_copies_and_times() {
        let text = report("replayed", 3, false).to_string();
        assert!(text.contains("1 of 1 kernels replayed, 3 passes in all; every counter value is simulated."), "{text}");
        assert!(text.contains("0.01 MiB could have been written, 0.00 MiB was"), "{text}");
        assert!(text.contains("passes 0.0 ms"), "{text}");
    }
}
