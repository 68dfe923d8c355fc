//! JSON: an interface, described in `docs/file.md`.

mod counter;
mod dispatch;
mod kernel;
mod parts;
mod run;

use std::io::Write;

use kreplay_store::Reader;

use self::dispatch::Dispatch;
use self::kernel::Kernel;
use self::run::Run;
use crate::by_kernel::{COMBINED, KernelTotals};
use crate::{Overview, ReportError};

pub(crate) use self::parts::microseconds;

/// Version of the JSON and CSV forms. It is raised when a field changes its meaning or goes; new fields may come
/// without that.
pub const JSON_VERSION: u32 = 1;

/// Dispatches one by one. They are written as they are read, so that a long file needs little memory.
pub(crate) fn dispatches(reader: &Reader, overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{{\"version\": {JSON_VERSION},\n\"run\": ")?;
    serde_json::to_writer(&mut *out, &Run::of(overview))?;
    write!(out, ",\n\"dispatches\": [")?;
    let mut separator = "\n";
    reader.for_each_dispatch(|dispatch| {
        out.write_all(separator.as_bytes())?;
        separator = ",\n";
        serde_json::to_writer(&mut *out, &Dispatch::of(&dispatch)).map_err(ReportError::from)
    })?;
    writeln!(out, "\n]}}")?;
    Ok(())
}

/// Kernels.
pub(crate) fn kernels(kernels: &[KernelTotals], overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{{\"version\": {JSON_VERSION},\n\"run\": ")?;
    serde_json::to_writer(&mut *out, &Run::of(overview))?;
    write!(out, ",\n\"combined\": ")?;
    serde_json::to_writer(&mut *out, COMBINED)?;
    write!(out, ",\n\"kernels\": [")?;
    let mut separator = "\n";
    for kernel in kernels {
        out.write_all(separator.as_bytes())?;
        separator = ",\n";
        serde_json::to_writer(&mut *out, &Kernel::of(kernel))?;
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}
