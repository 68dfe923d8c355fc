//! `kreplay doctor`: what was found, what is missing, and how to get it.

use std::io::Write;

use crate::devices::{self, Backend, Found};
use crate::error::ExpectedError;
use crate::{exit_codes, libraries, output};

/// Says what was found. Ends with [`exit_codes::ENVIRONMENT`] when nothing at all can be profiled.
pub(crate) fn run() -> Result<u8, ExpectedError> {
    let backends = devices::all();
    let found: Vec<(&dyn Backend, Found)> = backends.iter().map(|backend| (backend.as_ref(), backend.find())).collect();
    output::to_stdout(|out| write(&found, out).map_err(failed))?;
    Ok(if found.iter().any(|(_, found)| found.usable()) { 0 } else { exit_codes::ENVIRONMENT })
}

fn failed(source: std::io::Error) -> ExpectedError {
    ExpectedError::Io { what: "stdout".into(), action: "written", source }
}

fn write(found: &[(&dyn Backend, Found)], out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "kreplay {}", env!("CARGO_PKG_VERSION"))?;
    for name in [libraries::INJECTED, libraries::THUNK, libraries::AQLPROFILE] {
        match libraries::find(name) {
            Ok(path) => writeln!(out, "  found    {}", path.display())?,
            Err(error) => writeln!(out, "  missing  {error}")?,
        }
    }
    for (backend, found) in found {
        let state = if found.usable() { "can be used" } else { "cannot be used" };
        writeln!(out, "\n--device {}: {state}", backend.name())?;
        for line in found.devices.iter().chain(&found.parts) {
            writeln!(out, "  found    {line}")?;
        }
        for problem in &found.problems {
            writeln!(out, "  missing  {}\n           to get it: {}", problem.what, problem.remedy)?;
        }
    }
    match found.iter().find(|(_, found)| found.usable()) {
        Some(_) => {
            let chosen = devices::choose(crate::cli::DeviceChoice::Auto);
            writeln!(out, "\nWithout --device, `kreplay profile` uses {}.", chosen.name())
        }
        None => writeln!(out, "\nNothing can be profiled here yet."),
    }
}
