//! NVIDIA GPUs, through CUDA.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use kreplay_cuda::{Offline, cupti_candidates, driver_version, is_set, survey};
use kreplay_engine::{CounterInfo, Plan, PlanError, Request};
use kreplay_protocol::Device;

use super::{Backend, CounterSource, Found, LoaderPath, Problem, SetInfo};
use crate::error::ExpectedError;
use crate::libraries;

/// The driver's library.
const DRIVER: &str = "libcuda.so.1";

/// What the kernel module says.
const DRIVERS: &str = "/proc/driver/nvidia";

/// What it says of itself.
const MODULE: &str = "/proc/driver/nvidia/version";

/// Its settings.
const PARAMETERS: &str = "/proc/driver/nvidia/params";

pub(super) struct Cuda;

/// Whether an NVIDIA GPU is there.
pub(super) fn present() -> bool {
    !gpus().is_empty() && LoaderPath::of_environment().find(DRIVER).is_some()
}

impl Backend for Cuda {
    fn device(&self) -> Device {
        Device::Cuda
    }

    fn name(&self) -> &'static str {
        "cuda"
    }

    fn find(&self) -> Found {
        let mut found = Found::default();
        if gpus().is_empty() {
            found.problems.push(no_gpu());
            return found;
        }
        if let Ok(version) = fs::read_to_string(MODULE) {
            found.parts.extend(version.lines().next().map(str::to_owned));
        }
        look(&mut found);
        permission(&mut found);
        found
    }

    fn missing(&self) -> Option<Problem> {
        if gpus().is_empty() { Some(no_gpu()) } else { driver_version().err().map(|why| no_driver(&why)) }
    }

    fn needs_no_check(&self, names: &[String]) -> bool {
        names.iter().all(|name| is_set(name))
    }

    fn identity(&self) -> Option<String> {
        identity(Path::new(DRIVERS), &cupti_candidates())
    }

    fn missing_at_a_glance(&self) -> Option<Problem> {
        if gpus().is_empty() {
            return Some(no_gpu());
        }
        let found = LoaderPath::of_environment().find(DRIVER).is_some();
        (!found).then(|| no_driver(&format!("{DRIVER} is not there")))
    }

    fn counts_unfenced(&self) -> bool {
        true
    }

    fn flushes_caches(&self) -> bool {
        true
    }

    fn environment(&self, _private: &Path) -> Result<Vec<(&'static str, OsString)>, ExpectedError> {
        Ok(vec![("CUDA_INJECTION64_PATH", libraries::find(libraries::INJECTED)?.into_os_string())])
    }

    fn counters(&self, chip: Option<&str>) -> Result<Box<dyn CounterSource>, ExpectedError> {
        match Offline::new(chip) {
            Ok(offline) => Ok(Box::new(CuptiCounters { offline })),
            Err(error) => Err(ExpectedError::DeviceMissing {
                what: error.to_string(),
                hint: "`kreplay doctor` says what was found; KREPLAY_CUPTI names a CUPTI by hand".into(),
            }),
        }
    }
}

/// The driver, its devices, what chooses among them, and the libraries that may plan: which, how large, how old.
fn identity(driver: &Path, libraries: &[PathBuf]) -> Option<String> {
    let mut identity = fs::read_to_string(driver.join("version")).ok()?;
    let mut devices: Vec<PathBuf> =
        fs::read_dir(driver.join("gpus")).ok()?.flatten().map(|entry| entry.path()).collect();
    devices.sort();
    for device in devices {
        identity += &fs::read_to_string(device.join("information")).ok()?;
    }
    for variable in ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH"] {
        identity += &format!("{variable} {:?}\n", std::env::var_os(variable));
    }
    for library in libraries {
        let file = fs::metadata(library).ok().map(|file| (file.len(), file.modified().ok()));
        identity += &format!("{} {file:?}\n", library.display());
    }
    Some(identity)
}

/// The block under which CUPTI's sets stand in the backend's list.
const SET: &str = "set";

/// What CUPTI says that a chip can count.
struct CuptiCounters {
    offline: Offline,
}

impl CounterSource for CuptiCounters {
    fn chip(&self) -> &str {
        self.offline.chip()
    }

    fn simulated(&self) -> bool {
        false
    }

    fn list(&self) -> Vec<CounterInfo> {
        self.offline.list().into_iter().filter(|counter| &*counter.block != SET).collect()
    }

    fn sets(&self) -> Vec<SetInfo> {
        self.offline
            .list()
            .into_iter()
            .filter(|counter| &*counter.block == SET)
            .map(|set| SetInfo { name: set.name.to_string(), description: set.description.to_string() })
            .collect()
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        self.offline.plan(request)
    }

    fn plan_unfenced(&self, request: &Request) -> Option<Result<Plan, PlanError>> {
        Some(self.offline.plan_unfenced(request))
    }
}

fn no_gpu() -> Problem {
    Problem {
        what: "no /dev/nvidia* is there: no NVIDIA GPU, or its driver is not loaded".into(),
        remedy: "modprobe nvidia".into(),
        fatal: true,
    }
}

fn no_driver(why: &str) -> Problem {
    Problem {
        what: format!("the CUDA driver cannot be used: {why}"),
        remedy: "apt-get install libcuda1   # of the same version as the kernel module".into(),
        fatal: true,
    }
}

/// Device files of GPUs: `/dev/nvidia` and a number.
fn gpus() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/dev") else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix("nvidia"))
                .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// What driver and CUPTI say themselves.
fn look(found: &mut Found) {
    let survey = survey();
    match survey.driver {
        Ok(version) => found.parts.push(format!("CUDA driver for CUDA {}.{}", version / 1000, version % 1000 / 10)),
        Err(why) => found.problems.push(no_driver(&why)),
    }
    for device in survey.devices {
        let (major, minor) = device.capability;
        found.devices.push(format!("{} ({}, compute capability {major}.{minor})", device.name, device.chip));
        if let Some(why) = device.refused {
            found.problems.push(Problem {
                what: format!("{} does not count: {why}", device.name),
                remedy: "see the message; kernels still get times".into(),
                fatal: false,
            });
        }
    }
    match survey.cupti {
        Ok(cupti) => {
            let version = format!("{}.{}", cupti.version / 10_000, cupti.version % 10_000 / 100);
            found.parts.push(format!("CUPTI {version}: {}", cupti.path.display()));
        }
        Err(error) => found.problems.push(Problem {
            what: format!("{error}; a program may bring its own"),
            remedy: "pip install nvidia-cuda-cupti, then set KREPLAY_CUPTI to the folder of libcupti.so".into(),
            fatal: false,
        }),
    }
}

/// Whether counters are kept for administrators.
fn permission(found: &mut Found) {
    let Ok(parameters) = fs::read_to_string(PARAMETERS) else { return };
    let restricted = parameters.lines().any(|line| line.trim() == "RmProfilingAdminOnly: 1");
    if !restricted {
        found.parts.push("counters are open to every user".into());
    } else if rustix::process::geteuid().is_root() {
        found.parts.push("counters are open to administrators, and this is one".into());
    } else {
        found.problems.push(Problem {
            what: "counters are open to administrators only; others get times and no counters".into(),
            remedy: "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee \
                     /etc/modprobe.d/kreplay.conf   # then reload the driver or restart"
                .into(),
            fatal: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_driver_device_or_library_is_another_machine() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |below: &str| root.path().join(below);
        let write = |below: &str, text: &str| {
            fs::create_dir_all(at(below).parent().expect("a folder")).expect("made");
            fs::write(at(below), text).expect("written");
        };
        let libraries = [at("libcupti.so.13"), PathBuf::from("libcupti.so.12")];
        let now = || identity(root.path(), &libraries);
        assert_eq!(now(), None, "there is no driver");
        write("version", "580");
        write("gpus/0000:01:00.0/information", "H200");
        write("libcupti.so.13", "old");
        let first = now();
        assert!(first.is_some() && first == now());
        let mut seen = vec![first];
        for (file, text) in [
            ("version", "590"),
            ("gpus/0000:01:00.0/information", "B200"),
            ("gpus/0000:02:00.0/information", "B200"),
            ("libcupti.so.13", "newer"),
        ] {
            write(file, text);
            let found = now();
            assert!(!seen.contains(&found), "{file}");
            seen.push(found);
        }
    }

    #[test]
    fn only_names_of_metrics_need_a_check() {
        let needs_none =
            |names: &[&str]| Cuda.needs_no_check(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert!(needs_none(&[]) && needs_none(&["basic"]) && needs_none(&["memory", "stalls"]));
        assert!(!needs_none(&["basic", "sm__inst_executed.sum"]) && !needs_none(&["basics"]));
    }
}
