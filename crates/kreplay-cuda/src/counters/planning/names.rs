//! From what the user asked for to metrics of the chip.

use super::host::Host;
use super::sets::{SETS, find};
use crate::tables::{Cupti, CuptiError};
use kreplay_engine::{PlanError, near_names};
use std::collections::HashSet;
use std::sync::Arc;

/// The name of the time that is taken without counters.
pub(in crate::counters) const EVENT_TIME: &str = "gpu_time";
/// How many near names an error tells.
const NEAR: usize = 4;

/// The metrics of a request, each once, in order.
///
/// # Errors
/// [`PlanError::Unknown`] with near names.
pub(crate) fn resolve(host: &Host<&Cupti>, asked: &[String]) -> Result<Vec<Arc<str>>, PlanError> {
    let bases = host.base_metrics().map_err(|error: CuptiError| PlanError::Unavailable(error.to_string()))?;
    let known: HashSet<&str> = bases.iter().map(|base| &**base).collect();
    let mut metrics: Vec<Arc<str>> = Vec::new();
    let mut add = |name: Arc<str>| {
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    };
    for name in asked {
        if name == EVENT_TIME {
            add(name.as_str().into());
            continue;
        }
        let Some(set) = find(name) else {
            add(check(host, &known, &bases, name)?);
            continue;
        };
        for metric in set.metrics {
            match metric.split_once('*') {
                Some((begin, end)) => {
                    let (middle_end, ending) = end.split_once('.').unwrap_or((end, ""));
                    for base in &bases {
                        if base.starts_with(begin) && base.ends_with(middle_end) && !base.contains("not_issued") {
                            add(format!("{base}.{ending}").into());
                        }
                    }
                }
                None if *metric == EVENT_TIME => add((*metric).into()),
                None => add(check(host, &known, &bases, metric)?),
            }
        }
    }
    Ok(metrics)
}

/// The metric, if the chip has it with this ending.
fn check(host: &Host<&Cupti>, known: &HashSet<&str>, bases: &[Arc<str>], name: &str) -> Result<Arc<str>, PlanError> {
    // Names of a few blocks hold a point themselves, so the longest known beginning is the base.
    let base = name.match_indices('.').map(|(at, _)| &name[..at]).chain([name]).rfind(|base| known.contains(base));
    let Some(base) = base else {
        let mut candidates: Vec<&str> = bases.iter().map(|base| &**base).collect();
        candidates.extend(SETS.iter().map(|set| set.name));
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        return Err(PlanError::Unknown { name: name.to_owned(), near: near_names(stem, candidates.into_iter()) });
    };
    let endings = host.endings(base);
    let ending = &name[base.len()..];
    if endings.iter().any(|known| &**known == ending) || (ending.is_empty() && endings.is_empty()) {
        return Ok(name.into());
    }
    let all: Vec<&str> = endings.iter().map(|ending| &**ending).collect();
    let near = if ending.is_empty() {
        all.into_iter().take(NEAR).map(str::to_owned).collect()
    } else {
        near_names(ending, all.into_iter())
    };
    Err(PlanError::Unknown {
        name: name.to_owned(),
        near: near.into_iter().map(|ending| format!("{base}{ending}")).collect(),
    })
}
