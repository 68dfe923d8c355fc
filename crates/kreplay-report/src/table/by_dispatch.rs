//! The table of the dispatches.

use std::io::Write;

use kreplay_protocol::{Outcome, WindowKind};
use kreplay_store::{DispatchRow, Reader, outcome_name};

use super::sheet::{Column, Group, Once, Sheet, write_walked};
use super::{COUNTER, KERNEL, NAME, PASS, SOURCE, UNIT, counter, framed, kernel_name, pass};
use crate::{Overview, ReportError, text};

const OUTCOME: Column = Column { once: Once::Whole(|outcome| format!("outcome {outcome}")), ..Column::new("outcome") };
const PASSES: Column = Column { once: Once::Whole(|passes| format!("passes {passes}")), ..Column::number("passes") };
const WRITE_SET: Column = Column { once: Once::Whole(say_write_set), ..Column::number("write set") };

/// Dispatches, one row a value; the first row of each has what belongs to the dispatch.
pub(crate) fn dispatches(
    reader: &Reader,
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    framed(overview, width, out, |out| {
        let many = overview.processes.len() > 1;
        let mut own =
            vec![Column::number("id"), KERNEL, Column::new("grid"), Column::new("block"), OUTCOME, PASSES, WRITE_SET];
        if many {
            own.insert(0, Column::new("process"));
        }
        arrange(&mut own, width);
        let values = vec![PASS, COUNTER, Column::number("value"), UNIT, SOURCE];
        let walk = |each: &mut dyn FnMut(Group) -> Result<(), ReportError>| {
            reader.for_each_dispatch(|dispatch| each(dispatch_group(&dispatch, many, width)))
        };
        if width.is_none() {
            return write_walked(&own, &values, walk, out);
        }
        let mut groups = Vec::new();
        walk(&mut |group| {
            groups.push(group);
            Ok(())
        })?;
        Sheet { own, values, groups }.write(width, out)
    })
}

fn dispatch_group(dispatch: &DispatchRow, many: bool, width: Option<u16>) -> Group {
    let mut outcome = outcome_name(dispatch.outcome).to_owned();
    if let Some(reason) = &dispatch.reason {
        outcome = format!("{outcome}: {}", text::name(reason, NAME));
    }
    if dispatch.divergence.is_some() {
        outcome.push_str(", divergent");
    }
    let mut own = vec![
        dispatch.number.to_string(),
        kernel_name(&dispatch.kernel, width),
        text::sizes(dispatch.grid),
        text::sizes(dispatch.block),
        outcome,
        format!("{}/{}", dispatch.passes_done, dispatch.passes_asked),
        write_set(dispatch),
    ];
    if many {
        own.insert(0, dispatch.process.to_string());
    }
    arrange(&mut own, width);
    let values = dispatch.readings.iter().map(|reading| {
        vec![
            pass(reading.pass),
            counter(&reading.counter.name, reading.instance),
            text::value(reading.value),
            text::clean(&reading.counter.unit),
            text::source(dispatch.simulated, reading.way, reading.derived, reading.bound),
        ]
    });
    Group { own, values: values.collect() }
}

/// Puts the outcome, which a reason makes long, last on a terminal: it is in nobody's way there.
fn arrange<T>(own: &mut [T], width: Option<u16>) {
    if width.is_some() {
        let outcome = own.len() - 3;
        own[outcome..].rotate_left(1);
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

fn say_write_set(bytes: &str) -> String {
    if bytes == "-" { String::new() } else { format!("write set {bytes}") }
}
