//! What the suite needs of a backend.

use super::Kernel;
use crate::{Agent, Range};
use std::sync::Arc;

/// A backend under test: its agent, and a program that uses the same device. Calls come from one thread.
pub trait Rig: Sized {
    /// The agent.
    type Agent: Agent;

    /// Environment variable under which a rig that cannot be made fails the test instead of skipping it. A rig that needs
    /// hardware which CI does not have names one of its own.
    const NO_SKIP: &'static str = "KREPLAY_NO_SKIP";

    /// A fresh rig; its agent has nothing allocated.
    ///
    /// # Errors
    /// Why it cannot be had here.
    fn make() -> Result<Self, String>;

    /// The agent.
    fn agent(&self) -> Arc<Self::Agent>;

    /// The program allocates device memory, aligned to at least 16 bytes.
    fn allocate(&self, bytes: u64) -> u64;

    /// The program frees it.
    fn free(&self, base: u64);

    /// The program waits for its launches, then writes.
    fn write(&self, address: u64, bytes: &[u8]);

    /// The program waits for its launches, then reads.
    fn read(&self, range: Range) -> Vec<u8>;

    /// A kernel that the agent can submit. Its addresses are the program's.
    fn work(&self, kernel: &Kernel) -> <Self::Agent as Agent>::Work;

    /// The program's own launch of it, on a queue of the program's; it need not wait for its end.
    fn launch(&self, kernel: &Kernel);
}

/// Whether the agent compares on the device; where it does not, says that the test is skipped.
pub fn observes_or_skips<R: Rig>(rig: &R) -> bool {
    let observes = rig.agent().describe().capabilities.observe;
    if !observes {
        println!("skipped: this agent does not compare on the device");
    }
    observes
}

/// Runs a test on a fresh rig, or skips it.
///
/// # Panics
/// When the test fails; when it would be skipped and the environment has [`Rig::NO_SKIP`].
pub fn with_rig<R: Rig>(test: impl FnOnce(&R)) {
    match R::make() {
        Ok(rig) => test(&rig),
        Err(why) if std::env::var_os(R::NO_SKIP).is_some() => panic!("must not be skipped here: {why}"),
        Err(why) => println!("skipped: {why}"),
    }
}
