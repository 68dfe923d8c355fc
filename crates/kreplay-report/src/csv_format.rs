//! CSV: what JSON tells of a dispatch or a kernel in one value each, one row a value. A dispatch without values has one row with the
//! columns of values empty.

use std::io::Write;

use kreplay_protocol::{Phases, Value, Way};
use kreplay_store::{DispatchRow, Reader, ReadingRow, outcome_name, way_name, window_kind_name};

use crate::ReportError;
use crate::by_kernel::{KernelTotals, ValueTotals};
use crate::json::microseconds;

const DISPATCH: [&str; 43] = [
    "id",
    "process",
    "agent",
    "kernel",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "stream",
    "thread",
    "start_us",
    "end_us",
    "outcome",
    "reason",
    "detail",
    "passes",
    "passes_asked",
    "window",
    "window_kind",
    "footprint_bytes",
    "write_set_bytes",
    "restored_bytes",
    "captured_bytes",
    "divergent",
    "notes",
    "drain_us",
    "capture_us",
    "passes_us",
    "compare_us",
    "restore_us",
    "verify_us",
    "commit_us",
    "counter",
    "pass",
    "value",
    "unit",
    "simulated",
    "derived",
    "instance",
    "way",
    "bound",
];

const KERNEL: [&str; 31] = [
    "kernel",
    "chip",
    "dispatches",
    "replayed",
    "counted",
    "declined",
    "divergent",
    "without_values",
    "reasons",
    "passes",
    "footprint_bytes_max",
    "write_set_bytes_max",
    "drain_us",
    "capture_us",
    "passes_us",
    "compare_us",
    "restore_us",
    "verify_us",
    "commit_us",
    "counter",
    "pass",
    "unit",
    "simulated",
    "derived",
    "values",
    "mean",
    "min",
    "max",
    "instance",
    "way",
    "bound",
];

pub(crate) fn dispatches(reader: &Reader, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(DISPATCH)?;
    reader.for_each_dispatch(|dispatch| {
        let own = dispatch_fields(&dispatch);
        if dispatch.readings.is_empty() {
            let empty = std::iter::repeat_n(String::new(), 9);
            csv.write_record(own.into_iter().chain(empty))?;
            return Ok(());
        }
        for reading in &dispatch.readings {
            csv.write_record(own.iter().chain(&reading_fields(reading, dispatch.simulated)))?;
        }
        Ok::<_, ReportError>(())
    })?;
    csv.flush()?;
    Ok(())
}

pub(crate) fn kernels(kernels: &[KernelTotals], out: &mut dyn Write) -> Result<(), ReportError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(KERNEL)?;
    for kernel in kernels {
        let own = kernel_fields(kernel);
        if kernel.values.is_empty() {
            let empty = std::iter::repeat_n(String::new(), 12);
            csv.write_record(own.iter().cloned().chain(empty))?;
        }
        for value in &kernel.values {
            csv.write_record(own.iter().chain(&value_fields(value, kernel.simulated)))?;
        }
    }
    csv.flush()?;
    Ok(())
}

fn dispatch_fields(row: &DispatchRow) -> Vec<String> {
    let mut fields = vec![row.number.to_string(), row.process.to_string(), row.agent.to_string(), row.kernel.clone()];
    fields.extend(row.grid.iter().chain(&row.block).map(u32::to_string));
    fields.extend([
        row.stream.to_string(),
        row.thread.to_string(),
        microseconds(row.start_ns).to_string(),
        microseconds(row.end_ns).to_string(),
        outcome_name(row.outcome).to_owned(),
        row.reason.clone().unwrap_or_default(),
        row.detail.clone(),
        row.passes_done.to_string(),
        row.passes_asked.to_string(),
        row.window.map(|window| window.to_string()).unwrap_or_default(),
        row.window_kind.map(window_kind_name).unwrap_or_default().to_owned(),
        row.bytes.footprint.to_string(),
        row.bytes.write_set.to_string(),
        row.bytes.restored.total().to_string(),
        row.bytes.captured.total().to_string(),
        row.divergence.is_some().to_string(),
        row.notes.join(" | "),
    ]);
    fields.extend(phase_fields(&row.phases));
    fields
}

fn reading_fields(reading: &ReadingRow, simulated: bool) -> [String; 9] {
    [
        reading.counter.name.clone(),
        pass(reading.pass),
        match reading.value {
            Value::Count(count) => count.to_string(),
            Value::Real(real) => real.to_string(),
        },
        reading.counter.unit.clone(),
        simulated.to_string(),
        reading.derived.to_string(),
        reading.instance.to_string(),
        way(reading.way),
        bound(reading.bound),
    ]
}

fn kernel_fields(kernel: &KernelTotals) -> Vec<String> {
    let mut fields = vec![kernel.kernel.clone(), kernel.chip.clone()];
    let outcomes =
        [kernel.dispatches, kernel.replayed, kernel.counted, kernel.declined, kernel.divergent, kernel.without_values];
    fields.extend(outcomes.map(|number| number.to_string()));
    let reasons = kernel.reasons.iter().map(|(reason, dispatches)| format!("{reason}={dispatches}"));
    fields.push(reasons.collect::<Vec<_>>().join(" "));
    let sizes = [kernel.passes, kernel.footprint_bytes_max, kernel.write_set_bytes_max];
    fields.extend(sizes.map(|number| number.to_string()));
    fields.extend(phase_fields(&kernel.phases));
    fields
}

fn value_fields(value: &ValueTotals, simulated: bool) -> [String; 12] {
    let first = &value.first;
    [
        first.counter.name.clone(),
        pass(first.pass),
        first.counter.unit.clone(),
        simulated.to_string(),
        first.derived.to_string(),
        value.dispatches.to_string(),
        value.mean.to_string(),
        value.min.to_string(),
        value.max.to_string(),
        first.instance.to_string(),
        way(first.way),
        bound(value.bound),
    ]
}

fn phase_fields(phases: &Phases) -> impl Iterator<Item = String> {
    phases.named().into_iter().map(|(_, nanoseconds)| microseconds(nanoseconds).to_string())
}

/// Empty where the file does not tell.
fn way(way: Option<Way>) -> String {
    way.map(way_name).unwrap_or_default().to_owned()
}

/// Empty for an exact value.
fn bound(bound: Option<f64>) -> String {
    bound.map(|bound| bound.to_string()).unwrap_or_default()
}

/// Empty for a value that was evaluated from several passes.
fn pass(pass: Option<u32>) -> String {
    pass.map(|pass| pass.to_string()).unwrap_or_default()
}
