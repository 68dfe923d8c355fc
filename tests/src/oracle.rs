//! What the software GPU's write oracle wrote.

use std::path::Path;

use serde::Deserialize;

/// One dispatch as the software GPU saw it.
#[derive(Clone, Debug, Deserialize)]
pub struct OracleLine {
    /// The queue it ran on.
    #[serde(default)]
    pub queue: u64,
    /// Address of the kernel's descriptor; 0 for a copy or fill of an SDMA queue.
    pub kernel_object: u64,
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// `[address, bytes]` of what has another value than before.
    pub changed: Vec<[u64; 2]>,
    /// `[address, hash before, hash after]` of each page that was stored to.
    #[serde(default)]
    pub pages: Vec<[u64; 3]>,
}

/// Reads the oracle's file; no file means that no kernel ran.
///
/// # Panics
/// When a line is not what the oracle's documentation says.
pub fn read_oracle(path: &Path) -> Vec<OracleLine> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))).collect()
}
