//! NVIDIA GPUs, through CUDA.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use kreplay_protocol::Device;

use super::{Backend, CounterSource, Found, LoaderPath, Problem, version_of};
use crate::error::ExpectedError;
use crate::libraries;

/// The driver's library.
const DRIVER: &str = "libcuda.so.1";

/// What the kernel module says of itself.
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
        let gpus = gpus();
        if gpus.is_empty() {
            found.problems.push(Problem {
                what: "no /dev/nvidia* is there: no NVIDIA GPU, or its driver is not loaded".into(),
                remedy: "modprobe nvidia".into(),
                fatal: true,
            });
            return found;
        }
        found.devices = gpus.iter().map(|gpu| gpu.display().to_string()).collect();
        if let Ok(version) = fs::read_to_string(MODULE) {
            found.parts.extend(version.lines().next().map(str::to_owned));
        }
        let path = LoaderPath::of_environment();
        match path.find(DRIVER) {
            Some(library) => {
                let version = version_of(&library).unwrap_or_else(|| "of unknown version".into());
                found.parts.push(format!("CUDA driver {version}: {}", library.display()));
            }
            None => found.problems.push(Problem {
                what: format!("the CUDA driver ({DRIVER}) is not installed"),
                remedy: "apt-get install libcuda1".into(),
                fatal: true,
            }),
        }
        match cupti(&path) {
            Some(library) => found.parts.push(format!("CUPTI: {}", library.display())),
            None => found.problems.push(Problem {
                what:
                    "CUPTI (libcupti.so) was not found in the loader's path or under /usr/local/cuda*; a program may \
                       bring its own"
                        .into(),
                remedy: "pip install nvidia-cuda-cupti".into(),
                fatal: false,
            }),
        }
        permission(&mut found);
        found
    }

    fn environment(&self, _private: &Path) -> Result<Vec<(&'static str, OsString)>, ExpectedError> {
        Ok(vec![("CUDA_INJECTION64_PATH", libraries::find(libraries::INJECTED)?.into_os_string())])
    }

    fn counters(&self, _chip: Option<&str>) -> Result<Box<dyn CounterSource>, ExpectedError> {
        Err(ExpectedError::NotImplemented {
            what: "listing the counters of an NVIDIA GPU".into(),
            hint: "use --device soft or hsa".into(),
        })
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

/// CUPTI where the loader or the toolkit has it.
fn cupti(path: &LoaderPath) -> Option<PathBuf> {
    for name in ["libcupti.so.13", "libcupti.so.12", "libcupti.so"] {
        if let Some(found) = path.find(name) {
            return Some(found);
        }
    }
    let mut toolkits: Vec<PathBuf> = fs::read_dir("/usr/local")
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("cuda")))
        .map(|entry| entry.path())
        .collect();
    toolkits.sort();
    toolkits
        .iter()
        .rev()
        .flat_map(|toolkit| ["extras/CUPTI/lib64", "lib64"].map(|folder| toolkit.join(folder).join("libcupti.so")))
        .find(|library| library.exists())
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
