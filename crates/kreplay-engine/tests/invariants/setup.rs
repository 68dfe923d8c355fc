//! Agents in host memory, and the ways of putting memory back.

use kreplay_engine::conformance::MemoryRig;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{RestoreMode, Settings, ShadowMode};

pub(crate) fn rig() -> MemoryRig {
    MemoryRig::of(MemoryAgent::builder(0).build())
}

pub(crate) fn modes() -> [Settings; 3] {
    [
        Settings { uncounted_passes: 3, ..Settings::default() },
        Settings { uncounted_passes: 3, shadow: ShadowMode::Trusted, ..Settings::default() },
        Settings { uncounted_passes: 3, restore: RestoreMode::Full, ..Settings::default() },
    ]
}
