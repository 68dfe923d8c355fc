//! The software GPU under the HSA runtime.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use kreplay_protocol::Device;

use super::catalogue::ChipCatalogue;
use super::{Backend, CounterSource, Found, Problem, hsa};
use crate::error::ExpectedError;
use crate::libraries;

/// What it is a model of.
pub(super) const CHIP: &str = "gfx90a";

/// Names by which the HSA runtime loads what the software GPU stands in for.
const NAMES: [(&str, &str); 3] = [
    ("libhsakmt.so.1", libraries::THUNK),
    ("libhsa-amd-aqlprofile64.so", libraries::AQLPROFILE),
    ("libhsa-amd-aqlprofile64.so.1", libraries::AQLPROFILE),
];

/// Versions of the HSA runtime that it was tried with, as the library's file name has them.
const TRIED: [&str; 2] = ["1.5.", "1.13."];

pub(super) struct Soft;

impl Backend for Soft {
    fn device(&self) -> Device {
        Device::Soft
    }

    fn name(&self) -> &'static str {
        "soft"
    }

    fn find(&self) -> Found {
        let mut found = Found::default();
        let mut whole = true;
        for name in [libraries::INJECTED, libraries::THUNK, libraries::AQLPROFILE] {
            if let Err(error) = libraries::find(name) {
                whole = false;
                found.problems.push(Problem {
                    what: error.to_string(),
                    remedy: format!("cargo build --workspace, or set {}", libraries::VARIABLE),
                    fatal: true,
                });
            }
        }
        if whole {
            found.devices.push(format!("software GPU, {CHIP}, counters are simulated"));
        }
        if let Some(version) = hsa::runtime(&mut found)
            && !TRIED.iter().any(|tried| version.starts_with(tried))
        {
            found.problems.push(Problem {
                what: format!(
                    "the software GPU was not tried with HSA runtime {version}, only with those of ROCm 5.2.3 (1.5) and \
                     6.1.2 (1.13)"
                ),
                remedy: "nothing, if it works; else use Debian 12's libhsa-runtime64-1".into(),
                fatal: false,
            });
        }
        found
    }

    fn environment(&self, private: &Path) -> Result<Vec<(&'static str, OsString)>, ExpectedError> {
        let folder = private.join("soft");
        let failed = |source| ExpectedError::Io { what: folder.display().to_string(), action: "made", source };
        fs::create_dir(&folder).map_err(failed)?;
        for (name, library) in NAMES {
            symlink(libraries::find(library)?, folder.join(name)).map_err(failed)?;
        }
        let mut path = folder.into_os_string();
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
            path.push(":");
            path.push(others);
        }
        Ok(vec![("LD_LIBRARY_PATH", path), ("HSA_TOOLS_LIB", hsa::tools_variable()?)])
    }

    fn counters(&self, chip: Option<&str>) -> Result<Box<dyn CounterSource>, ExpectedError> {
        match chip {
            None | Some(CHIP) => Ok(Box::new(ChipCatalogue::of(CHIP, true)?)),
            Some(other) => Err(ExpectedError::DeviceMissing {
                what: format!("the software GPU is a {CHIP}, not a {other}"),
                hint: format!("leave --device out for the counters of {other}"),
            }),
        }
    }
}
