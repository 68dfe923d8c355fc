//! What can be profiled here, and how a program is made to load kreplay: the seam between the command and the backends.
//!
//! A backend adds one file beside this one and one line in [`all`].

mod catalogue;
mod chips;
mod cuda;
mod hsa;
mod search;
mod soft;

use std::ffi::OsString;
use std::path::Path;

use kreplay_engine::{CounterInfo, Plan, PlanError, Request};
use kreplay_protocol::Device;

use crate::cli::DeviceChoice;
use crate::error::ExpectedError;

pub(crate) use chips::counters;
pub(crate) use search::{LoaderPath, version_of};

/// One way of profiling.
pub(crate) trait Backend {
    /// Which.
    fn device(&self) -> Device;

    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What is there.
    fn find(&self) -> Found;

    /// Why no program can be profiled here, if so; faster than [`Backend::find`] where that asks devices more.
    fn missing(&self) -> Option<Problem> {
        self.find().problems.into_iter().find(|problem| problem.fatal)
    }

    /// Whether a request needs no check: it holds only what every chip has. What is missing is told by
    /// [`Backend::missing_at_a_glance`] then.
    fn needs_no_check(&self, names: &[String]) -> bool {
        let _ = names;
        false
    }

    /// What the answer to a check depends on beside the request: devices, drivers, libraries. `None` where that is not known without
    /// beginning a driver, or a check is cheap.
    fn identity(&self) -> Option<String> {
        None
    }

    /// Why no program can be profiled here, as far as that can be said without beginning a driver.
    fn missing_at_a_glance(&self) -> Option<Problem> {
        None
    }

    /// Whether it can count without a fence around each kernel (`--fence off`), approximately.
    fn counts_unfenced(&self) -> bool {
        false
    }

    /// Whether it can empty the caches before each pass (`--cache flush`).
    fn flushes_caches(&self) -> bool {
        false
    }

    /// Variables that make a program load kreplay. `private` is a folder of this run that outlives the program.
    ///
    /// # Errors
    /// [`ExpectedError::LibraryMissing`], or what could not be made in `private`.
    fn environment(&self, private: &Path) -> Result<Vec<(&'static str, OsString)>, ExpectedError>;

    /// What can be counted on `chip`, or on the first device that is there.
    ///
    /// # Errors
    /// [`ExpectedError::DeviceMissing`] where that cannot be known on this machine.
    fn counters(&self, chip: Option<&str>) -> Result<Box<dyn CounterSource>, ExpectedError>;
}

/// What a chip can count.
pub(crate) trait CounterSource {
    /// The chip.
    fn chip(&self) -> &str;

    /// Whether values are simulated.
    fn simulated(&self) -> bool;

    /// Everything that can be counted, in a stable order.
    fn list(&self) -> Vec<CounterInfo>;

    /// Named sets.
    fn sets(&self) -> Vec<SetInfo>;

    /// Packs a request into passes.
    ///
    /// # Errors
    /// [`PlanError`].
    fn plan(&self, request: &Request) -> Result<Plan, PlanError>;

    /// As [`CounterSource::plan`], without a fence around each kernel; `None` where that cannot be.
    fn plan_unfenced(&self, request: &Request) -> Option<Result<Plan, PlanError>> {
        let _ = request;
        None
    }
}

/// A named set.
#[derive(Debug, Clone)]
pub(crate) struct SetInfo {
    /// Its name.
    pub(crate) name: String,
    /// What it is for, and what it holds.
    pub(crate) description: String,
}

/// What a backend found on this machine.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Devices, one line each.
    pub(crate) devices: Vec<String>,
    /// Runtimes, libraries and permissions that are there, one line each.
    pub(crate) parts: Vec<String>,
    /// What is missing.
    pub(crate) problems: Vec<Problem>,
}

impl Found {
    /// Whether programs can be profiled.
    pub(crate) fn usable(&self) -> bool {
        !self.devices.is_empty() && !self.problems.iter().any(|problem| problem.fatal)
    }
}

/// Something that is missing.
#[derive(Debug)]
pub(crate) struct Problem {
    /// What.
    pub(crate) what: String,
    /// How to get it: a command where there is one.
    pub(crate) remedy: String,
    /// Whether nothing can be profiled without it.
    pub(crate) fatal: bool,
}

/// Every backend, in the order in which `auto` prefers them.
pub(crate) fn all() -> [Box<dyn Backend>; 3] {
    [Box::new(cuda::Cuda), Box::new(hsa::Hsa), Box::new(soft::Soft)]
}

/// The backend that the user chose; for `auto` the first whose devices are there. The software GPU is always there.
pub(crate) fn choose(choice: DeviceChoice) -> Box<dyn Backend> {
    match choice {
        DeviceChoice::Cuda => Box::new(cuda::Cuda),
        DeviceChoice::Hsa => Box::new(hsa::Hsa),
        DeviceChoice::Soft => Box::new(soft::Soft),
        DeviceChoice::Auto if cuda::present() => Box::new(cuda::Cuda),
        DeviceChoice::Auto if hsa::present() => Box::new(hsa::Hsa),
        DeviceChoice::Auto => Box::new(soft::Soft),
    }
}
