//! AMD GPUs, through the HSA runtime.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use kreplay_protocol::Device;

use super::catalogue::ChipCatalogue;
use super::{Backend, CounterSource, Found, LoaderPath, Problem, version_of};
use crate::error::ExpectedError;
use crate::{libraries, output};

/// The driver's device file.
const DRIVER: &str = "/dev/kfd";

/// The driver's description of the machine.
const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

/// The variable from which the HSA runtime takes tools.
const TOOLS: &str = "HSA_TOOLS_LIB";

pub(super) struct Hsa;

/// Whether an AMD GPU is there.
pub(super) fn present() -> bool {
    Path::new(DRIVER).exists() && !chips(Path::new(NODES)).is_empty()
}

impl Backend for Hsa {
    fn device(&self) -> Device {
        Device::Hsa
    }

    fn name(&self) -> &'static str {
        "hsa"
    }

    fn find(&self) -> Found {
        let mut found = Found::default();
        if !Path::new(DRIVER).exists() {
            found.problems.push(Problem {
                what: format!("{DRIVER} is not there: no AMD GPU, or its driver is not loaded"),
                remedy: "modprobe amdgpu".into(),
                fatal: true,
            });
            return found;
        }
        found.devices = chips(Path::new(NODES));
        if let Err(error) = fs::OpenOptions::new().read(true).write(true).open(DRIVER) {
            found.problems.push(Problem {
                what: format!("{DRIVER} cannot be opened: {error}"),
                remedy: "usermod -a -G render,video $USER   # then log in again".into(),
                fatal: true,
            });
        }
        runtime(&mut found);
        found
    }

    fn environment(&self, _private: &Path) -> Result<Vec<(&'static str, OsString)>, ExpectedError> {
        Ok(vec![(TOOLS, tools_variable()?)])
    }

    fn counters(&self, chip: Option<&str>) -> Result<Box<dyn CounterSource>, ExpectedError> {
        let found = chips(Path::new(NODES));
        let Some(chip) = chip.or(found.first().map(String::as_str)) else {
            return Err(ExpectedError::DeviceMissing {
                what: "no AMD GPU is here".into(),
                hint: "name a chip with --chip, or use --device soft".into(),
            });
        };
        Ok(Box::new(ChipCatalogue::of(chip, false)?))
    }
}

/// The value of the runtime's variable that loads kreplay, and after it whatever tools were there already. The
/// runtime separates paths by blanks; a backslash or double quotes protect one (`parse_tool_names` of ROCr).
pub(super) fn tools_variable() -> Result<OsString, ExpectedError> {
    let library = libraries::find(libraries::INJECTED)?;
    let Some(path) = library.to_str() else {
        return Err(ExpectedError::Usage {
            what: format!("the path {} is not UTF-8", library.display()),
            hint: format!("copy kreplay's libraries elsewhere and name the folder in {}", libraries::VARIABLE),
        });
    };
    let mut value = OsString::from(quoted(path));
    // A profile within a profile has it there already.
    let others = std::env::var_os(TOOLS).filter(|others| !others.is_empty() && *others != value);
    if let Some(others) = others {
        output::note(&format!(
            "kreplay: {TOOLS} is set already; its tools are loaded after kreplay and may disturb it: {}",
            others.display()
        ));
        value.push(" ");
        value.push(others);
    }
    Ok(value)
}

fn quoted(path: &str) -> String {
    let mut quoted = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, ' ' | '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// The HSA runtime and HIP. Gives the runtime's version where both are known.
pub(super) fn runtime(found: &mut Found) -> Option<String> {
    let mut known = None;
    let mut path = LoaderPath::of_environment();
    path.add_matching("/opt", "rocm");
    match path.find("libhsa-runtime64.so.1") {
        Some(library) => {
            known = version_of(&library);
            let version = known.as_deref().unwrap_or("of unknown version");
            found.parts.push(format!("HSA runtime {version}: {}", library.display()));
        }
        None => found.problems.push(Problem {
            what: "the HSA runtime (libhsa-runtime64.so.1) is not installed".into(),
            remedy: "apt-get install --no-install-recommends libhsa-runtime64-1".into(),
            // A program may bring its own.
            fatal: false,
        }),
    }
    match path.find("libamdhip64.so.5").or_else(|| path.find("libamdhip64.so")) {
        Some(library) => {
            let version = version_of(&library).unwrap_or_else(|| "of unknown version".into());
            found.parts.push(format!("HIP {version}: {}", library.display()));
        }
        None => found.problems.push(Problem {
            what: "HIP (libamdhip64) is not installed; programs that use the HSA runtime directly need none".into(),
            remedy: "apt-get install --no-install-recommends libamdhip64-5".into(),
            fatal: false,
        }),
    }
    known
}

/// The GPUs that the driver describes, by the name of their instruction set. A node is a GPU when it has SIMDs; its
/// `gfx_target_version` is major · 10000 + minor · 100 + stepping.
fn chips(nodes: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(nodes) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders.iter().filter_map(|folder| chip(&fs::read_to_string(folder.join("properties")).ok()?)).collect()
}

fn chip(properties: &str) -> Option<String> {
    let property = |name: &str| {
        properties.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
    };
    if property("simd_count")? == 0 {
        return None;
    }
    let version = property("gfx_target_version")?;
    Some(format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_named_as_the_runtime_names_them() {
        let node = |simds, version| format!("cpu_cores_count 0\nsimd_count {simds}\ngfx_target_version {version}\n");
        assert_eq!(chip(&node(440, 90_010)).as_deref(), Some("gfx90a"));
        assert_eq!(chip(&node(1216, 90_402)).as_deref(), Some("gfx942"));
        assert_eq!(chip(&node(192, 110_000)).as_deref(), Some("gfx1100"));
        assert_eq!(chip(&node(0, 0)), None);
        assert_eq!(chip("nothing"), None);
    }

    #[test]
    fn a_path_with_blanks_stays_one_path() {
        assert_eq!(quoted("/a b/\"c\"\\d"), r#"/a\ b/\"c\"\\d"#);
    }
}
