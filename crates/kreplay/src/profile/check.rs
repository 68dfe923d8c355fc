//! Checking a request before its program runs, in a process of its own.
//!
//! To know a device the command has to begin its driver, which cannot be ended again: an idle client of the driver, and a context
//! the more so, makes each of the program's own calls of the driver slower as long as it exists.

use std::process::{Command, Stdio};

use clap::ValueEnum;
use kreplay_engine::Request;

use super::checked::Checked;
use crate::cli::{CheckOptions, DeviceChoice};
use crate::devices::{self, Backend};
use crate::error::ExpectedError;

/// Checks a request in a process of its own, or in this one where none can be had. Gives the exit code where the request was
/// refused; why has been told then.
///
/// # Errors
/// As [`run`], in this process.
pub(super) fn apart(device: DeviceChoice, names: &[String], passes: u32) -> Result<Option<u8>, ExpectedError> {
    let backend = devices::choose(device);
    if backend.needs_no_check(names) {
        return match backend.missing_at_a_glance().filter(|_| device != DeviceChoice::Auto) {
            Some(problem) => Err(ExpectedError::DeviceMissing { what: problem.what, hint: problem.remedy }),
            None => Ok(None),
        };
    }
    let machine = backend.identity();
    let checked = machine.and_then(|machine| Checked::new((format!("{device:?}"), names, passes), &machine));
    if checked.as_ref().is_some_and(Checked::before) {
        return Ok(None);
    }
    let value = device.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let started = std::env::current_exe().and_then(|command| {
        Command::new(command)
            .args(["check", "--device", &value, "--passes", &passes.to_string(), "--"])
            .args(names)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
    });
    match started.ok().and_then(|status| status.code()) {
        Some(0) => {
            if let Some(checked) = checked {
                checked.note();
            }
            Ok(None)
        }
        Some(code) => Ok(Some(u8::try_from(code).unwrap_or(u8::MAX))),
        None => run(&CheckOptions { device, passes, names: names.to_vec() }).map(|_| None),
    }
}

/// Checks a request.
///
/// # Errors
/// [`ExpectedError::DeviceMissing`] for a device that was asked for by name and is not there, [`ExpectedError::Plan`] for a
/// request that cannot be met, where the counters are known without a program.
pub(crate) fn run(options: &CheckOptions) -> Result<u8, ExpectedError> {
    let backend = devices::choose(options.device);
    if options.device != DeviceChoice::Auto
        && let Some(problem) = backend.missing()
    {
        return Err(ExpectedError::DeviceMissing { what: problem.what, hint: problem.remedy });
    }
    check_request(backend.as_ref(), options)?;
    Ok(0)
}

fn check_request(backend: &dyn Backend, options: &CheckOptions) -> Result<(), ExpectedError> {
    if options.names.is_empty() {
        return Ok(());
    }
    match backend.counters(None) {
        Ok(source) => {
            let request = Request { names: options.names.clone(), repeat: options.passes, dispatches: 1 };
            Ok(source.plan(&request).map(drop)?)
        }
        // The library will know, and tell.
        Err(ExpectedError::DeviceMissing { .. } | ExpectedError::NotImplemented { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
