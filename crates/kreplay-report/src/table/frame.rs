//! What stands before and after a table.

use std::collections::BTreeMap;
use std::io::Write;

use kreplay_protocol::WindowKind;
use kreplay_store::{ProcessState, RunState, window_kind_name};

use crate::{Overview, ReportError, text};

/// Notes that stand behind a table.
const NOTES: usize = 6;

/// One line on the run, one on what became of its dispatches.
pub(super) fn head(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    let (run, totals) = (&overview.run, &overview.totals);
    writeln!(out, "{}: {}", text::name(&run.command.join(" "), 120), ending(overview))?;
    let agents: Vec<String> = unique(overview.agents.iter().map(|agent| {
        let simulated = if agent.simulated { ", simulated" } else { "" };
        format!("{} ({}{simulated})", text::name(&agent.name, 40), text::name(&agent.chip, 40))
    }));
    if !agents.is_empty() {
        writeln!(out, "on {}", agents.join(", "))?;
    }
    write!(
        out,
        "{} dispatches: {} replayed, {} counted once, {} declined; {} not selected; {} passes; {} divergent",
        totals.dispatches,
        totals.replayed,
        totals.counted,
        totals.declined,
        totals.not_selected,
        totals.passes,
        totals.divergent
    )?;
    if totals.without_values > 0 {
        write!(out, "; {} without values", totals.without_values)?;
    }
    writeln!(out, "\n")?;
    Ok(())
}

fn ending(overview: &Overview) -> String {
    let run = &overview.run;
    let ended = match (run.exit_code, run.exit_signal) {
        (_, Some(signal)) => format!("ended by signal {signal}"),
        (Some(code), None) => format!("exit code {code}"),
        (None, None) => "not ended".to_owned(),
    };
    match run.end_unix_ns {
        Some(end) => {
            let took = u64::try_from(end.saturating_sub(run.start_unix_ns)).unwrap_or(0);
            format!("{ended} after {}", text::time(took))
        }
        None => ended,
    }
}

/// Where the time went, and everything that the reader must know about the values.
pub(super) fn foot(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    windows(overview, out)?;
    clock(overview, out)?;
    phases(overview, out)?;
    bytes(overview, out)?;
    if overview.run.settings["cache"] == "flush" {
        writeln!(out, "caches: the second-level cache was filled with other data before each pass")?;
    }
    if overview.any_simulated() {
        writeln!(
            out,
            "Simulated values come from the software GPU: instruction and byte counts are exact, times and cycles are \
             those of a model."
        )?;
    }
    notes(overview, out)?;
    warnings(overview, out)?;
    missing(overview, out)
}

fn phases(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    let phases = &overview.totals.phases;
    let total = phases.total();
    if total == 0 {
        return Ok(());
    }
    write!(out, "time in windows: {}", text::time(total))?;
    for (name, time) in phases.named() {
        if time > 0 {
            write!(out, "; {name} {} ({:.0} %)", text::time(time), time as f64 / total as f64 * 100.0)?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// Which kind was asked for, how many windows there were of which, how many dispatches each, and what closed those that were not
/// simply done.
fn windows(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut parts = Vec::new();
    for kind in [WindowKind::Kernel, WindowKind::Batch] {
        let of_kind: Vec<_> = overview.windows.iter().filter(|window| window.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let dispatches: u64 = of_kind.iter().map(|window| u64::from(window.dispatches)).sum();
        let mut part = format!("{} {}", of_kind.len(), window_kind_name(kind));
        if kind == WindowKind::Batch {
            part.push_str(&format!(" with {:.1} kernels each", dispatches as f64 / of_kind.len() as f64));
            let lengths = of_kind.iter().map(|window| window.dispatches);
            if let (Some(least), Some(most)) = (lengths.clone().min(), lengths.max())
                && least < most
            {
                part.push_str(&format!(", {least} to {most}"));
            }
        }
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for window in of_kind.iter().filter(|window| window.closed_by != "done") {
            *reasons.entry(&window.closed_by).or_default() += 1;
        }
        if !reasons.is_empty() {
            let reasons: Vec<String> =
                reasons.iter().map(|(reason, count)| format!("{} {count}", text::name(reason, 40))).collect();
            part.push_str(&format!(" (closed by: {})", reasons.join(", ")));
        }
        parts.push(part);
    }
    if !parts.is_empty() {
        let asked = overview.run.settings["window"].as_str().unwrap_or("unknown");
        writeln!(out, "windows (--window {}): {}", text::name(asked, 40), parts.join("; "))?;
    }
    Ok(())
}

/// At what clock the values were counted.
fn clock(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut told: Vec<u32> = overview.windows.iter().filter_map(|window| window.clock_mhz).collect();
    told.sort_unstable();
    if let (Some(least), Some(most)) = (told.first(), told.last()) {
        let range = if least < most { format!(", {least} to {most}") } else { String::new() };
        writeln!(out, "clock of the multiprocessors as windows ended: {} MHz{range}", told[told.len() / 2])?;
    }
    Ok(())
}

fn bytes(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    let bytes = &overview.totals.bytes;
    if bytes.footprint == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "bytes: {} captured, {} restored, {} compared; largest footprint {}, largest write set {}, most host staging {}",
        text::bytes(bytes.captured.total()),
        text::bytes(bytes.restored.total()),
        text::bytes(bytes.compared),
        text::bytes(bytes.footprint),
        text::bytes(bytes.write_set),
        text::bytes(bytes.staging_high_water),
    )?;
    Ok(())
}

/// What must be known of single dispatches: how many have each note.
fn notes(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    for (note, dispatches) in overview.notes.iter().take(NOTES) {
        let word = if *dispatches == 1 { "dispatch" } else { "dispatches" };
        writeln!(out, "note on {dispatches} {word}: {}", text::name(note, 400))?;
    }
    let left_out = overview.notes.len().saturating_sub(NOTES);
    if left_out > 0 {
        writeln!(out, "{left_out} other notes are in the JSON of the dispatches.")?;
    }
    Ok(())
}

fn warnings(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    // The same reason in several processes is one line.
    let mut merged: Vec<(String, String, u64)> = Vec::new();
    for warning in &overview.warnings {
        match merged.iter_mut().find(|(code, text, _)| *code == warning.code && *text == warning.text) {
            Some(known) => known.2 += warning.dispatches,
            None => merged.push((warning.code.clone(), warning.text.clone(), warning.dispatches)),
        }
    }
    for (code, explanation, dispatches) in merged {
        let (code, explanation) = (text::name(&code, 64), text::name(&explanation, 400));
        match (dispatches, explanation.as_str()) {
            (0, _) => writeln!(out, "warning ({code}): {explanation}")?,
            (count, "") => writeln!(out, "declined {count} ({code})")?,
            (count, _) => writeln!(out, "declined {count} ({code}): {explanation}")?,
        }
    }
    Ok(())
}

fn missing(overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    match overview.run.state {
        RunState::Complete => {}
        RunState::Recording => writeln!(
            out,
            "This file was never finished: kreplay still writes to it, or was ended. What was recorded is here."
        )?,
        RunState::Incomplete => writeln!(
            out,
            "Records are missing: kreplay could not write all of them, or processes still ran when it ended."
        )?,
    }
    for process in overview.lost_processes() {
        writeln!(
            out,
            "Process {} ({}) ended without its last words; its {} finished records are here.",
            process.pid,
            text::name(&process.exe, 80),
            process.records
        )?;
    }
    let missing = overview.missing_records();
    if missing > 0 && overview.run.state != RunState::Recording {
        writeln!(out, "{missing} records that the program made are not in the file.")?;
    }
    if overview.processes.is_empty() {
        writeln!(
            out,
            "No process of the program loaded a GPU runtime that kreplay knows, so there was nothing to profile."
        )?;
    } else if overview.totals.dispatches == 0
        && overview.processes.iter().all(|process| process.state == ProcessState::Ended)
    {
        writeln!(out, "No kernel was recorded: none was launched, or the filters left all alone.")?;
    }
    Ok(())
}

/// The items in the order of their coming, each once.
fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
