//! `kreplay plan`, and the request that `profile` shares with it.

use std::io::Write;

use kreplay_engine::{Plan, Request, Way};
use serde::Serialize;

use crate::cli::PlanOptions;
use crate::devices::{self, CounterSource};
use crate::error::ExpectedError;
use crate::output;

/// The set that is counted when nothing is said.
pub(crate) const DEFAULT_SET: &str = "basic";

/// The word that stands for no counters.
pub(crate) const NO_COUNTERS: &str = "none";

/// The names that the user asked for; none for times only.
pub(crate) fn names(counters: &[String], set: Option<&str>) -> Vec<String> {
    let counters: Vec<String> =
        counters.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    match set {
        Some(NO_COUNTERS) => Vec::new(),
        Some(set) => vec![set.to_owned()],
        None if counters.is_empty() => vec![DEFAULT_SET.to_owned()],
        None => counters,
    }
}

/// Says which counters would go into which pass.
pub(crate) fn run(options: &PlanOptions) -> Result<u8, ExpectedError> {
    let source = devices::choose(options.device).counters(options.chip.as_deref())?;
    let names = names(&options.counters, options.set.as_deref());
    let plan = source.plan(&Request { names, repeat: options.passes, dispatches: 1 })?;
    output::to_stdout(|out| if options.json { json(&*source, &plan, out) } else { lines(&*source, &plan, out) })?;
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

fn lines(source: &dyn CounterSource, plan: &Plan, out: &mut dyn Write) -> Result<(), ExpectedError> {
    let passes = plan.passes.len();
    let simulated = if source.simulated() { ", values are simulated" } else { "" };
    let replay = if passes > 1 { "each kernel is replayed" } else { "no replay is needed" };
    let word = if passes == 1 { "pass" } else { "passes" };
    writeln!(out, "{passes} {word} on {}: {replay}{simulated}", source.chip()).map_err(failed)?;
    for pass in &plan.passes {
        let price = if pass.price.is_zero() { String::new() } else { format!(", about {:?} a kernel", pass.price) };
        writeln!(out, "pass {} ({}{price})", pass.index, way(pass.way)).map_err(failed)?;
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

fn json(source: &dyn CounterSource, plan: &Plan, out: &mut dyn Write) -> Result<(), ExpectedError> {
    let passes = plan
        .passes
        .iter()
        .map(|pass| Pass {
            pass: pass.index,
            way: way(pass.way),
            price_us: pass.price.as_secs_f64() * 1e6,
            counters: pass
                .counters
                .iter()
                .map(|counter| Counter { name: &counter.name, block: &counter.block, unit: &counter.unit })
                .collect(),
        })
        .collect();
    let listing = Listing { chip: source.chip(), simulated: source.simulated(), passes };
    serde_json::to_writer_pretty(&mut *out, &listing).map_err(|error| failed(error.into()))?;
    writeln!(out).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_clear() {
        assert_eq!(names(&[], None), ["basic"]);
        assert_eq!(names(&[], Some("memory")), ["memory"]);
        assert!(names(&[], Some("none")).is_empty());
        assert_eq!(names(&["A ".into(), String::new(), "B".into()], None), ["A", "B"]);
    }
}
