//! `kreplay counters`.

use std::io::Write;

use kreplay_engine::CounterInfo;
use serde::Serialize;

use crate::cli::CountersOptions;
use crate::devices::{self, CounterSource};
use crate::error::ExpectedError;
use crate::output;

/// Lists what can be counted.
pub(crate) fn run(options: &CountersOptions) -> Result<u8, ExpectedError> {
    let source = devices::counters(options.device, options.chip.as_deref())?;
    let mut counters = source.list();
    if let Some(text) = &options.text {
        let wanted = text.to_lowercase();
        counters.retain(|counter| {
            [&counter.name, &counter.block, &counter.description]
                .into_iter()
                .any(|part| part.to_lowercase().contains(&wanted))
        });
    }
    output::to_stdout(
        |out| if options.json { json(&*source, &counters, out) } else { lines(&*source, &counters, out) },
    )?;
    Ok(0)
}

fn failed(source: std::io::Error) -> ExpectedError {
    ExpectedError::Io { what: "stdout".into(), action: "written", source }
}

/// One line a counter, in columns.
fn lines(source: &dyn CounterSource, counters: &[CounterInfo], out: &mut dyn Write) -> Result<(), ExpectedError> {
    let width = |of: fn(&CounterInfo) -> &str| counters.iter().map(|counter| of(counter).len()).max().unwrap_or(0);
    let (name, block, unit) = (width(|c| &c.name), width(|c| &c.block), width(|c| &c.unit));
    for counter in counters {
        writeln!(
            out,
            "{:name$}  {:block$}  {:unit$}  {}",
            counter.name, counter.block, counter.unit, counter.description
        )
        .map_err(failed)?;
    }
    let simulated = if source.simulated() { "; all values are simulated" } else { "" };
    writeln!(out, "\n{} counters and metrics of {}{simulated}", counters.len(), source.chip()).map_err(failed)?;
    for set in source.sets() {
        writeln!(out, "set {}: {}", set.name, set.description).map_err(failed)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Listing<'a> {
    chip: &'a str,
    simulated: bool,
    counters: Vec<Entry<'a>>,
    sets: Vec<SetEntry>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    block: &'a str,
    unit: &'a str,
    description: &'a str,
}

#[derive(Serialize)]
struct SetEntry {
    name: String,
    description: String,
}

fn json(source: &dyn CounterSource, counters: &[CounterInfo], out: &mut dyn Write) -> Result<(), ExpectedError> {
    let listing = Listing {
        chip: source.chip(),
        simulated: source.simulated(),
        counters: counters
            .iter()
            .map(|counter| Entry {
                name: &counter.name,
                block: &counter.block,
                unit: &counter.unit,
                description: &counter.description,
            })
            .collect(),
        sets: source.sets().into_iter().map(|set| SetEntry { name: set.name, description: set.description }).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &listing).map_err(|error| failed(error.into()))?;
    writeln!(out).map_err(failed)
}
