//! Skipping a test that needs something that is not here.

use std::process::Stdio;

/// Says that a test is skipped, and why. In continuous integration nothing may be skipped: there it fails.
///
/// # Panics
/// When `KREPLAY_NO_SKIP` is set.
pub fn skipped(why: &str) {
    assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "nothing may be skipped here, but {why}");
    println!("skipped: {why}");
}

/// Why HIP programs cannot be built or run here, if so.
pub fn missing() -> Option<String> {
    let hipcc = crate::hipcc::hipcc().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !hipcc.is_ok_and(|status| status.success()) {
        return Some("hipcc is missing; on Debian 12: apt-get install hipcc libamdhip64-5 libamdhip64-dev".to_owned());
    }
    None
}
