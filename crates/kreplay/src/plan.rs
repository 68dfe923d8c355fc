//! `kreplay plan`, and the request that `profile` shares with it.

use std::io::Write;

use kreplay_engine::{BatchLimits, Plan, PlannedCounter, Request, Way};
use serde::Serialize;

use crate::cli::{FenceChoice, PlanOptions};
use crate::devices::{self, CounterSource};
use crate::error::ExpectedError;
use crate::output;

/// The set that is counted when nothing is said.
pub(crate) const DEFAULT_SET: &str = "basic";

/// The word that stands for no counters.
pub(crate) const NO_COUNTERS: &str = "none";

/// The names that the user asked for; none for times only.
///
/// # Errors
/// [`ExpectedError::Usage`] where an option is there and names nothing, as a variable that is not set makes it.
pub(crate) fn names(counters: &[String], set: Option<&str>) -> Result<Vec<String>, ExpectedError> {
    let named: Vec<String> =
        counters.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    let nothing = |option: &str| {
        Err(ExpectedError::Usage {
            what: format!("{option} names nothing to count"),
            hint: format!(
                "give it a name, or leave it out to count `{DEFAULT_SET}`; `--set {NO_COUNTERS}` takes only times"
            ),
        })
    };
    match set.map(str::trim) {
        Some("") => nothing("--set"),
        Some(NO_COUNTERS) => Ok(Vec::new()),
        Some(set) => Ok(vec![set.to_owned()]),
        None if counters.is_empty() => Ok(vec![DEFAULT_SET.to_owned()]),
        None if named.is_empty() => nothing("-c"),
        None => Ok(named),
    }
}

/// A request planned for windows of some number of kernels.
struct Planned {
    /// Kernels in a window.
    kernels: u32,
    plan: Plan,
}

/// Says which counters would go into which pass, for windows of one kernel and for the longest batch windows.
pub(crate) fn run(options: &PlanOptions) -> Result<u8, ExpectedError> {
    let names = names(&options.counters, options.set.as_deref())?;
    let source = devices::counters(options.device, options.chip.as_deref())?;
    let planned = |kernels| -> Result<Planned, ExpectedError> {
        let request = Request { names: names.clone(), repeat: options.passes, dispatches: kernels };
        let plan = match options.fence {
            FenceChoice::On => source.plan(&request)?,
            FenceChoice::Off => source.plan_unfenced(&request).ok_or_else(|| ExpectedError::NotImplemented {
                what: format!("--fence off on {}", source.chip()),
                hint: "leave it out: only NVIDIA's GPUs are counted without fences".into(),
            })??,
        };
        Ok(Planned { kernels, plan })
    };
    let (single, batch) = (planned(1)?, planned(BatchLimits::default().expected())?);
    output::to_stdout(|out| {
        if options.json { json(&*source, &single, &batch, out) } else { lines(&*source, &single, &batch, out) }
    })?;
    Ok(0)
}

fn failed(source: std::io::Error) -> ExpectedError {
    ExpectedError::Io { what: "stdout".into(), action: "written", source }
}

fn way(way: Way) -> &'static str {
    match way {
        Way::Ranges => "ranges",
        Way::Sampling => "sampling",
        Way::Timing => "timing",
    }
}

fn lines(
    source: &dyn CounterSource,
    single: &Planned,
    batch: &Planned,
    out: &mut dyn Write,
) -> Result<(), ExpectedError> {
    let simulated = if source.simulated() { ", values are simulated" } else { "" };
    writeln!(out, "{} on {}: {}{simulated}", passes(&single.plan), source.chip(), replay(&single.plan))
        .map_err(failed)?;
    if alike(&single.plan, &batch.plan) {
        return pass_lines(&single.plan, &[single, batch], out);
    }
    // Switching costs less when many kernels share it, so another way may be the cheaper one.
    pass_lines(&single.plan, &[single], out)?;
    writeln!(out, "\nin windows of {} kernels {}: {}", batch.kernels, passes(&batch.plan), replay(&batch.plan))
        .map_err(failed)?;
    pass_lines(&batch.plan, &[batch], out)
}

fn passes(plan: &Plan) -> String {
    let passes = plan.passes.len();
    format!("{passes} {}", if passes == 1 { "pass" } else { "passes" })
}

fn replay(plan: &Plan) -> &'static str {
    if plan.passes.len() > 1 { "each kernel is replayed" } else { "no replay is needed" }
}

/// Whether two plans count the same things in the same passes and ways.
fn alike(one: &Plan, other: &Plan) -> bool {
    one.passes.len() == other.passes.len()
        && one.passes.iter().zip(&other.passes).all(|(a, b)| a.way == b.way && a.counters == b.counters)
}

/// The passes of `plan`, with the prices that each of `planned`, which are alike, puts on them.
fn pass_lines(plan: &Plan, planned: &[&Planned], out: &mut dyn Write) -> Result<(), ExpectedError> {
    for (place, pass) in plan.passes.iter().enumerate() {
        let prices: Vec<String> = planned
            .iter()
            .map(|planned| (planned.kernels, planned.plan.passes[place].price))
            .filter(|(_, price)| !price.is_zero())
            .map(|(kernels, price)| {
                let window = if kernels == 1 { String::new() } else { format!(" in windows of {kernels}") };
                format!(", about {price:.1?} a kernel{window}")
            })
            .collect();
        writeln!(out, "pass {} ({}{})", pass.index, way(pass.way), prices.concat()).map_err(failed)?;
        // By block, in the order in which blocks come up: that is what decides what fits together.
        let mut blocks: Vec<&str> = Vec::new();
        for counter in &pass.counters {
            if !blocks.contains(&&*counter.block) {
                blocks.push(&counter.block);
            }
        }
        for block in blocks {
            let names: Vec<&str> =
                pass.counters.iter().filter(|c| &*c.block == block).map(|counter| &*counter.name).collect();
            writeln!(out, "  {block}: {}", names.join(", ")).map_err(failed)?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Listing<'a> {
    chip: &'a str,
    simulated: bool,
    /// For windows of one kernel.
    passes: Vec<Pass<'a>>,
    batch: Batch<'a>,
}

/// For batch windows.
#[derive(Serialize)]
struct Batch<'a> {
    kernels: u32,
    passes: Vec<Pass<'a>>,
}

#[derive(Serialize)]
struct Pass<'a> {
    pass: u32,
    way: &'static str,
    price_us: f64,
    counters: Vec<Counter<'a>>,
}

#[derive(Serialize)]
struct Counter<'a> {
    name: &'a str,
    block: &'a str,
    unit: &'a str,
}

impl<'a> Pass<'a> {
    fn of(plan: &'a Plan) -> Vec<Self> {
        let counter =
            |counter: &'a PlannedCounter| Counter { name: &counter.name, block: &counter.block, unit: &counter.unit };
        plan.passes
            .iter()
            .map(|pass| Pass {
                pass: pass.index,
                way: way(pass.way),
                price_us: pass.price.as_secs_f64() * 1e6,
                counters: pass.counters.iter().map(counter).collect(),
            })
            .collect()
    }
}

fn json(
    source: &dyn CounterSource,
    single: &Planned,
    batch: &Planned,
    out: &mut dyn Write,
) -> Result<(), ExpectedError> {
    let listing = Listing {
        chip: source.chip(),
        simulated: source.simulated(),
        passes: Pass::of(&single.plan),
        batch: Batch { kernels: batch.kernels, passes: Pass::of(&batch.plan) },
    };
    serde_json::to_writer_pretty(&mut *out, &listing).map_err(|error| failed(error.into()))?;
    writeln!(out).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_clear() {
        assert_eq!(names(&[], None).unwrap(), ["basic"]);
        assert_eq!(names(&[], Some("memory")).unwrap(), ["memory"]);
        assert!(names(&[], Some("none")).unwrap().is_empty());
        assert_eq!(names(&["A ".into(), String::new(), "B".into()], None).unwrap(), ["A", "B"]);
    }

    fn plan(way: Way, price: u64) -> Plan {
        let counter = PlannedCounter { name: "A".into(), block: "SM".into(), unit: "".into() };
        let price = std::time::Duration::from_micros(price);
        Plan { passes: vec![kreplay_engine::PlannedPass { index: 0, counters: vec![counter], way, price }] }
    }

    fn shown(single: Plan, batch: Plan) -> String {
        struct Source;
        impl CounterSource for Source {
            fn chip(&self) -> &str {
                "chip"
            }
            fn simulated(&self) -> bool {
                false
            }
            fn list(&self) -> Vec<kreplay_engine::CounterInfo> {
                Vec::new()
            }
            fn sets(&self) -> Vec<devices::SetInfo> {
                Vec::new()
            }
            fn plan(&self, _: &Request) -> Result<Plan, kreplay_engine::PlanError> {
                Err(kreplay_engine::PlanError::Unavailable("not asked".into()))
            }
        }
        let mut out = Vec::new();
        let (single, batch) = (Planned { kernels: 1, plan: single }, Planned { kernels: 500, plan: batch });
        lines(&Source, &single, &batch, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_plan_has_two_prices() {
        assert_eq!(
            shown(plan(Way::Ranges, 9_000), plan(Way::Ranges, 1_080)),
            "1 pass on chip: no replay is needed\n\
             pass 0 (ranges, about 9.0ms a kernel, about 1.1ms a kernel in windows of 500)\n  SM: A\n"
        );
    }

    #[test]
    fn two_plans_are_shown_both() {
        assert_eq!(
            shown(plan(Way::Ranges, 9_000), plan(Way::Sampling, 212)),
            "1 pass on chip: no replay is needed\npass 0 (ranges, about 9.0ms a kernel)\n  SM: A\n\n\
             in windows of 500 kernels 1 pass: no replay is needed\n\
             pass 0 (sampling, about 212.0µs a kernel in windows of 500)\n  SM: A\n"
        );
    }
}
