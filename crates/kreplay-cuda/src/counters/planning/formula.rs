//! How a metric follows from sums over a dispatch's samples, where it does exactly.
//!
//! A sample holds what was counted since the sample before, so whatever is linear in the counters adds up: `.sum` and `.avg`
//! over the units. A share of two such sums is exact too. `.min` and `.max` over the units are not: the unit that was
//! largest in one sample need not be so in the next. Nor is anything that counts whether or not a kernel runs (clock cycles,
//! time): the samples do not begin and end with the kernel.

use std::sync::Arc;

/// Counters that every kernel moves, and nothing else: one of them tells which samples hold activity. The second one is for
/// groups that have no room for the first: every warp executes at its end at least.
pub(crate) const MARKERS: [&str; 2] = ["sm__cycles_active.sum", "sm__inst_executed.sum"];

/// The same for groups that only count what lies beyond the multiprocessors: one unit counts it, so its samples are decoded in a
/// third of the time.
pub(crate) const FAR_MARKER: &str = "gr__compute_cycles_active.sum";

/// How a metric is made of *terms*, which are metrics that add up over samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// The sum of a term.
    Sum(Arc<str>),
    /// The sum of one term divided by that of another, times a factor.
    Share {
        /// What is divided.
        part: Arc<str>,
        /// By what.
        whole: Arc<str>,
        /// 1 or 100.
        factor: u32,
    },
}

impl Formula {
    /// Of a metric; `None` where sums over samples do not give it exactly.
    pub(crate) fn of(metric: &str) -> Option<Self> {
        let (base, ending) = metric.split_once('.')?;
        // Of blocks whose names hold points, nothing is known.
        let (unit, _) = base.split_once("__")?;
        if !UNITS.contains(&unit) || counts_regardless(base) {
            return None;
        }
        let share =
            |part: String, whole: String, factor| Formula::Share { part: part.into(), whole: whole.into(), factor };
        match ending {
            "sum" | "avg" => Some(Formula::Sum(metric.into())),
            "avg.pct_of_peak_sustained_active" if unit == "sm" || unit == "smsp" => {
                Some(share(format!("{base}.avg"), format!("{base}.avg.peak_sustained_active"), 100))
            }
            "avg.per_cycle_active" if unit == "sm" || unit == "smsp" => {
                Some(share(format!("{base}.avg"), format!("{unit}__cycles_active.avg"), 1))
            }
            "pct" if base == "l1tex__t_sector_hit_rate" => {
                Some(share("l1tex__t_sectors_lookup_hit.sum".into(), "l1tex__t_sectors.sum".into(), 100))
            }
            _ => None,
        }
    }

    /// Whether it is computed from other counters.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Formula::Share { .. })
    }

    /// What must be counted for it.
    pub(crate) fn terms(&self) -> Vec<Arc<str>> {
        match self {
            Formula::Sum(term) => vec![Arc::clone(term)],
            Formula::Share { part, whole, .. } => vec![Arc::clone(part), Arc::clone(whole)],
        }
    }

    /// Its value, given the sum of each term; `None` where it would divide by zero.
    pub(crate) fn value(&self, sum: impl Fn(&str) -> f64) -> Option<f64> {
        match self {
            Formula::Sum(term) => Some(sum(term)),
            Formula::Share { part, whole, factor } => {
                let whole = sum(whole);
                (whole != 0.0).then(|| f64::from(*factor) * sum(part) / whole)
            }
        }
    }
}

impl Formula {
    /// How far the value may be off, relative to it, given the same of each term's sum; `None` where nothing bounds it.
    pub(crate) fn bound(&self, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Formula::Sum(term) => of(term),
            Formula::Share { part, whole, .. } => {
                let (part, whole) = (of(part)?, of(whole)?);
                (whole < 1.0).then(|| (1.0 + part) / (1.0 - whole) - 1.0)
            }
        }
    }
}

/// Units whose counters stand still while nothing runs. What comes over PCIe and NVLink is not a kernel's alone.
const UNITS: [&str; 6] = ["sm", "smsp", "tpc", "l1tex", "lts", "dram"];

fn counts_regardless(base: &str) -> bool {
    ["cycles_elapsed", "cycles_in_", "time_"].iter().any(|part| base.contains(part)) || base == "dram__cycles_active"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linear_adds_up_and_the_rest_needs_ranges() {
        assert_eq!(Formula::of("sm__inst_executed.sum"), Some(Formula::Sum("sm__inst_executed.sum".into())));
        assert!(Formula::of("lts__t_sectors.avg").is_some());
        for metric in [
            "sm__cycles_active.max",
            "sm__cycles_elapsed.sum",
            "gpu__time_duration.sum",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "pcie__read_bytes.sum",
            "FE_A.TriageCompute.gr__dispatch_count.sum",
            "sm__inst_executed",
        ] {
            assert_eq!(Formula::of(metric), None, "{metric}");
        }
    }

    #[test]
    fn shares_are_of_sums() {
        let share = Formula::of("sm__warps_active.avg.pct_of_peak_sustained_active").expect("a share of sums");
        let sum = |name: &str| match name {
            "sm__warps_active.avg" => 16.0,
            "sm__warps_active.avg.peak_sustained_active" => 64.0,
            other => panic!("{other} is no term"),
        };
        assert_eq!(share.value(sum), Some(25.0));
        assert_eq!(share.value(|_| 0.0), None, "nothing was active");
        assert_eq!(share.terms().len(), 2);
        let bound = share.bound(|_| Some(0.1)).expect("both are bounded");
        assert!((bound - (1.1 / 0.9 - 1.0)).abs() < 1e-9, "{bound}");
        assert_eq!(share.bound(|_| Some(1.0)), None, "the divisor may be zero");
    }
}
