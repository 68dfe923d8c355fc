//! Tables for people.

use std::io::Write;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use kreplay_protocol::{Outcome, WindowKind};
use kreplay_store::{DispatchRow, Reader, outcome_name};

use crate::by_kernel::{self, COMBINED, KernelTotals};
use crate::{Overview, ReportError, text};

mod frame;

/// Longest kernel name in a table; CSV and JSON have all of it.
const NAME: usize = 64;

/// Kernels that a summary shows.
const SHOWN: usize = 12;

/// The kernels that windows spent most time on, with their values, then what the reader must know: what a profile
/// prints when it ends. It says how many kernels it leaves out.
///
/// # Errors
/// [`ReportError`].
pub fn write_summary(reader: &Reader, width: Option<u16>, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut kernels = by_kernel::collect(reader)?;
    let left_out = kernels.len().saturating_sub(SHOWN);
    if left_out > 0 {
        // The sort is stable: kernels without times, as in batch windows, stay in the order of their coming.
        kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.phases.total()));
        kernels.truncate(SHOWN);
    }
    kernel_table(&kernels, left_out, &Overview::of(reader)?, width, out)
}

/// Dispatches, one row a value; the first row of each has what belongs to the dispatch.
pub(crate) fn dispatches(
    reader: &Reader,
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    frame::head(overview, out)?;
    let many = overview.processes.len() > 1;
    let mut header = vec![
        "id",
        "kernel",
        "grid",
        "block",
        "outcome",
        "passes",
        "write set",
        "pass",
        "counter",
        "value",
        "unit",
        "source",
    ];
    if many {
        header.insert(0, "process");
    }
    let mut table = new_table(&header, &["id", "passes", "write set", "pass", "value"], width);
    reader.for_each_dispatch(|dispatch| {
        add_dispatch(&mut table, &dispatch, many);
        Ok::<_, ReportError>(())
    })?;
    write_table(&table, out)?;
    frame::foot(overview, out)
}

fn add_dispatch(table: &mut Table, dispatch: &DispatchRow, many: bool) {
    let mut outcome = outcome_name(dispatch.outcome).to_owned();
    if let Some(reason) = &dispatch.reason {
        outcome = format!("{outcome}: {}", text::name(reason, NAME));
    }
    if dispatch.divergence.is_some() {
        outcome.push_str(", divergent");
    }
    let mut own = vec![
        dispatch.number.to_string(),
        text::name(&dispatch.kernel, NAME),
        text::sizes(dispatch.grid),
        text::sizes(dispatch.block),
        outcome,
        format!("{}/{}", dispatch.passes_done, dispatch.passes_asked),
        write_set(dispatch),
    ];
    if many {
        own.insert(0, dispatch.process.to_string());
    }
    if dispatch.readings.is_empty() {
        table.add_row(own.iter().map(String::as_str).chain(["-", "-", "-", "", ""]));
        return;
    }
    let blank = vec![String::new(); own.len()];
    for (place, reading) in dispatch.readings.iter().enumerate() {
        let mut row = if place == 0 { own.clone() } else { blank.clone() };
        row.extend([
            pass(reading.pass),
            counter(&reading.counter.name, reading.instance),
            text::value(reading.value),
            reading.counter.unit.clone(),
            text::source(dispatch.simulated, reading.way, reading.derived, reading.bound),
        ]);
        table.add_row(row);
    }
}

/// The write set where one was looked for: of a batch window only the whole window's is known.
fn write_set(dispatch: &DispatchRow) -> String {
    let bytes = dispatch.bytes.write_set;
    let looked_for = dispatch.outcome == Outcome::Replayed
        && match dispatch.window_kind {
            Some(kind) => kind == WindowKind::Kernel,
            // The window's record is lost with the end of the program.
            None => bytes > 0,
        };
    if looked_for { text::bytes(bytes) } else { "-".to_owned() }
}

/// Kernels, one row a counter and pass.
pub(crate) fn kernels(
    reader: &Reader,
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    kernel_table(&by_kernel::collect(reader)?, 0, overview, width, out)
}

fn kernel_table(
    kernels: &[KernelTotals],
    left_out: usize,
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    frame::head(overview, out)?;
    let header = ["kernel", "dispatches", "pass", "counter", "mean", "min", "max", "unit", "source"];
    let mut table = new_table(&header, &["pass", "mean", "min", "max"], width);
    for kernel in kernels {
        add_kernel(&mut table, kernel);
    }
    write_table(&table, out)?;
    if left_out > 0 {
        writeln!(out, "{left_out} more kernels are in the report; these {SHOWN} took most of the windows' time.")?;
    }
    if kernels.iter().any(|kernel| !kernel.values.is_empty()) {
        writeln!(out, "{COMBINED}.")?;
    }
    frame::foot(overview, out)
}

fn add_kernel(table: &mut Table, kernel: &KernelTotals) {
    let own = [text::name(&kernel.kernel, NAME), outcomes(kernel)];
    if kernel.values.is_empty() {
        table.add_row(own.iter().map(String::as_str).chain(["-", "-", "-", "-", "-", "", ""]));
    }
    for (place, value) in kernel.values.iter().enumerate() {
        let first = &value.first;
        let mut row = if place == 0 { own.to_vec() } else { vec![String::new(); own.len()] };
        row.extend([
            pass(first.pass),
            counter(&first.counter.name, first.instance),
            text::real(value.mean),
            text::real(value.min),
            text::real(value.max),
            first.counter.unit.clone(),
            text::source(kernel.simulated, first.way, first.derived, value.bound),
        ]);
        table.add_row(row);
    }
}

/// How many dispatches, and what became of them.
fn outcomes(kernel: &KernelTotals) -> String {
    let parts: Vec<String> = [
        (kernel.replayed, "replayed"),
        (kernel.counted, "counted"),
        (kernel.declined, "declined"),
        (kernel.divergent, "divergent"),
        (kernel.without_values, "without values"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    parts.join(", ")
}

fn counter(name: &str, instance: u32) -> String {
    let name = text::name(name, NAME);
    if instance == 0 { name } else { format!("{name}[{instance}]") }
}

fn pass(pass: Option<u32>) -> String {
    pass.map_or_else(|| "all".to_owned(), |pass| pass.to_string())
}

fn new_table(header: &[&str], right: &[&str], width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(Cell::new));
    match width {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    for (place, name) in header.iter().enumerate() {
        if let Some(column) = table.column_mut(place) {
            column.set_padding((0, 2));
            if right.contains(name) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table
}

/// Writes a table without the spaces that pad its last column.
fn write_table(table: &Table, out: &mut dyn Write) -> Result<(), ReportError> {
    if table.row_count() == 0 {
        return Ok(());
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)?;
    Ok(())
}
