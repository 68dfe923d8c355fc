//! Tables for people.

use std::io::Write;

use kreplay_store::Reader;

use crate::by_kernel::{self, COMBINED, KernelTotals, SAME, ValueTotals};
use crate::{Overview, ReportError, text};

mod by_dispatch;
mod frame;
mod grid;
mod sheet;

pub(crate) use by_dispatch::dispatches;
use grid::Fit;
use sheet::{Column, Group, Once, Sheet};

/// Longest kernel name in a table that is not on a terminal; CSV and JSON have all of it.
const NAME: usize = 64;

/// Kernels that a summary shows.
const SHOWN: usize = 12;

const KERNEL: Column = Column { fit: Fit::Begin, ..Column::new("kernel") };
const PASS: Column = Column { once: Once::Whole(say_pass), ..Column::number("pass") };
const COUNTER: Column = Column { fit: Fit::Whole, ..Column::new("counter") };
const UNIT: Column = Column { absent: "", ..Column::new("unit") };
const SOURCE: Column = Column { once: Once::Parts, absent: "", ..Column::new("source") };

/// The kernels that windows spent most time on, or the first where that is not known, with their values, then what the reader
/// must know: what a profile prints when it ends. It says how many kernels it leaves out.
///
/// # Errors
/// [`ReportError`].
pub fn write_summary(reader: &Reader, width: Option<u16>, out: &mut dyn Write) -> Result<(), ReportError> {
    let overview = Overview::of(reader)?;
    let mut kernels = by_kernel::collect(reader)?;
    let left_out = kernels.len().saturating_sub(SHOWN);
    let mut more = String::new();
    if left_out > 0 {
        let which = if costliest_first(&mut kernels, overview.totals.phases.total()) {
            format!("these {SHOWN} took most of the windows' time")
        } else {
            format!("these are the first {SHOWN}")
        };
        more = format!("{left_out} more kernels are in the report; {which}.\n");
        kernels.truncate(SHOWN);
    }
    kernel_table(&kernels, &more, &overview, width, out)
}

/// Puts the kernels with most time in windows first, if [`SHOWN`] of them have more than half of all. A kernel has no time of the
/// batch windows that it was in: those are their windows' alone.
fn costliest_first(kernels: &mut [KernelTotals], all: u64) -> bool {
    let mut times: Vec<u64> = kernels.iter().map(|kernel| kernel.phases.total()).collect();
    times.sort_unstable_by_key(|time| std::cmp::Reverse(*time));
    let most = times.iter().take(SHOWN).fold(0, |sum: u64, time| sum.saturating_add(*time)) > all / 2;
    if most {
        kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.phases.total()));
    }
    most
}

/// Kernels, one row a counter and pass.
pub(crate) fn kernels(
    reader: &Reader,
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    kernel_table(&by_kernel::collect(reader)?, "", overview, width, out)
}

fn kernel_table(
    kernels: &[KernelTotals],
    more: &str,
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    framed(overview, width, out, |out| {
        let differ = kernels.iter().flat_map(|kernel| &kernel.values).any(differs);
        // A program finds the same columns in every table.
        let spread = differ || width.is_none();
        let mut values = vec![PASS, COUNTER, Column::number("mean")];
        if spread {
            values.extend([Column::number("min"), Column::number("max")]);
        }
        values.extend([UNIT, SOURCE]);
        let groups = kernels.iter().map(|kernel| kernel_group(kernel, spread, width)).collect();
        Sheet { own: vec![KERNEL, Column::new("dispatches")], values, groups }.write(width, out)?;
        let mut below = more.to_owned();
        if kernels.iter().any(|kernel| !kernel.values.is_empty()) {
            below.push_str(if spread { COMBINED } else { SAME });
            below.push_str(".\n");
        }
        write!(out, "{}", folded(&below, width))?;
        Ok(())
    })
}

fn kernel_group(kernel: &KernelTotals, spread: bool, width: Option<u16>) -> Group {
    let values = kernel.values.iter().map(|value| {
        let first = &value.first;
        let mut row = vec![pass(first.pass), counter(&first.counter.name, first.instance), mean(value)];
        if spread {
            row.extend([text::real(value.min), text::real(value.max)]);
        }
        row.push(text::clean(&first.counter.unit));
        row.push(text::source(kernel.simulated, first.way, first.derived, value.bound));
        row
    });
    Group { own: vec![kernel_name(&kernel.kernel, width), outcomes(kernel)], values: values.collect() }
}

/// Whether the dispatches of a kernel have values that differ, as far as they are written.
fn differs(value: &ValueTotals) -> bool {
    let mean = mean(value);
    text::real(value.min) != mean || text::real(value.max) != mean
}

fn mean(value: &ValueTotals) -> String {
    text::mean(value.mean, value.min, value.max)
}

/// A table with what stands before and after it.
fn framed(
    overview: &Overview,
    width: Option<u16>,
    out: &mut dyn Write,
    table: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let (mut head, mut foot) = (Vec::new(), Vec::new());
    frame::head(overview, &mut head)?;
    frame::foot(overview, &mut foot)?;
    write!(out, "{}", folded(&String::from_utf8_lossy(&head), width))?;
    table(out)?;
    write!(out, "{}", folded(&String::from_utf8_lossy(&foot), width))?;
    Ok(())
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
    let name = text::clean(name);
    if instance == 0 { name } else { format!("{name}[{instance}]") }
}

fn pass(pass: Option<u32>) -> String {
    pass.map_or_else(|| "all".to_owned(), |pass| pass.to_string())
}

fn say_pass(pass: &str) -> String {
    if pass == "all" { "evaluated from several passes".to_owned() } else { format!("pass {pass}") }
}

/// A terminal cuts a name to what fits.
fn kernel_name(name: &str, width: Option<u16>) -> String {
    if width.is_some() { text::clean(name) } else { text::name(name, NAME) }
}

/// Words for a terminal of `width` columns; as they are for anything else.
fn folded(words: &str, width: Option<u16>) -> String {
    width.map_or_else(|| words.to_owned(), |width| text::fold(words, width.into()))
}
