//! Settings and where they come from.

use std::path::PathBuf;

use crate::fault::{FaultSpec, SpecError};
use crate::memory::MemoryError;

/// Settings of a device.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Whether the host can reach device memory, as through a large BAR.
    pub large_bar: bool,
    /// Seed of the order of work-groups and waves.
    pub seed: Option<u64>,
    /// Host threads of one dispatch.
    pub threads: usize,
    /// File for the packet trace.
    pub trace: Option<PathBuf>,
    /// Whether kernels reach all memory of the process.
    pub xnack: bool,
    /// File for the write oracle.
    pub oracle: Option<PathBuf>,
    /// Faults put in from the start.
    pub faults: Vec<FaultSpec>,
}

/// Why a device cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An environment variable that makes no sense.
    #[error("{name}={value} is not {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A fault specification that makes no sense.
    #[error("SOFTGPU_FAULT: {0}")]
    Fault(#[from] SpecError),
    /// A file that cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The host's words.
        source: std::io::Error,
    },
    /// No memory for the device's own pages.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Default for Config {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            memory_bytes: 4096 << 20,
            large_bar: true,
            seed: None,
            threads,
            trace: None,
            xnack: false,
            oracle: None,
            faults: Vec::new(),
        }
    }
}

impl Config {
    /// Reads the environment.
    ///
    /// # Errors
    /// [`ConfigError`] for the first variable that makes no sense.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_lookup(|name| {
            std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()).filter(|v| !v.is_empty())
        })
    }

    fn from_lookup(get: impl Fn(&'static str) -> Option<String>) -> Result<Self, ConfigError> {
        let number = |name, expected, range: std::ops::RangeInclusive<u64>| -> Result<Option<u64>, ConfigError> {
            let Some(value) = get(name) else { return Ok(None) };
            let parsed = value.parse().ok().filter(|n| range.contains(n));
            parsed.map(Some).ok_or(ConfigError::Variable { name, value, expected })
        };
        let mut config = Self::default();
        if let Some(mib) = number("SOFTGPU_MEMORY_MIB", "a number of MiB between 1 and 16777216", 1..=1 << 24)? {
            config.memory_bytes = mib << 20;
        }
        config.large_bar = number("SOFTGPU_LARGE_BAR", "0 or 1", 0..=1)? != Some(0);
        config.seed = number("SOFTGPU_SEED", "a number", 0..=u64::MAX)?;
        if let Some(threads) = number("SOFTGPU_THREADS", "a number between 1 and 256", 1..=256)? {
            config.threads = usize::try_from(threads).unwrap_or(1);
        }
        // The runtime's own variable.
        config.xnack = get("HSA_XNACK").is_some_and(|value| value == "1");
        config.trace = get("SOFTGPU_TRACE").map(PathBuf::from);
        config.oracle = get("SOFTGPU_ORACLE").map(PathBuf::from);
        if let Some(text) = get("SOFTGPU_FAULT") {
            config.faults = FaultSpec::parse_list(&text)?;
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(name: &'static str, value: &'static str) -> Result<Config, ConfigError> {
        Config::from_lookup(|n| (n == name).then(|| value.to_owned()))
    }

    #[test]
    fn variables_are_read() {
        assert_eq!(from("SOFTGPU_MEMORY_MIB", "64").unwrap().memory_bytes, 64 << 20);
        assert!(
            !from("SOFTGPU_LARGE_BAR", "0").unwrap().large_bar && from("SOFTGPU_LARGE_BAR", "1").unwrap().large_bar
        );
        assert!(from("HSA_XNACK", "1").unwrap().xnack && !from("HSA_XNACK", "0").unwrap().xnack);
        assert_eq!(from("SOFTGPU_SEED", "9").unwrap().seed, Some(9));
        assert_eq!(from("SOFTGPU_THREADS", "3").unwrap().threads, 3);
        assert_eq!(from("SOFTGPU_TRACE", "/x").unwrap().trace, Some(PathBuf::from("/x")));
        assert_eq!(from("SOFTGPU_FAULT", "spin:n=1").unwrap().faults.len(), 1);
        assert_eq!(from("OTHER", "1").unwrap().memory_bytes, 4 << 30);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for (name, value) in [("SOFTGPU_MEMORY_MIB", "0"), ("SOFTGPU_SEED", "-1"), ("SOFTGPU_THREADS", "many")] {
            assert!(from(name, value).unwrap_err().to_string().starts_with(&format!("{name}={value} is not")));
        }
        assert!(from("SOFTGPU_FAULT", "boom").unwrap_err().to_string().contains("no fault is called `boom`"));
    }
}
