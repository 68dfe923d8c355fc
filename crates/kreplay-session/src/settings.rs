//! The command's settings as the engine's.

use std::time::Duration;

use kreplay_engine as engine;
use kreplay_protocol as protocol;

use crate::SessionError;

/// A switch for tests only, in the environment of the profiled program: with the value 1 nothing is put back between
/// passes, so that a test can show that it would notice. It is no setting of the command, so that no run has it by
/// accident.
const SKIP_RESTORE: &str = "KREPLAY_TEST_SKIP_RESTORE";

/// What the engine is told. Where the command leaves a choice to the engine, the engine's default stands.
pub(crate) fn engine_settings(settings: &protocol::Settings) -> Result<engine::Settings, SessionError> {
    let default = engine::Settings::default();
    let repeat = settings.repeat.max(1);
    let chunk = match settings.limits.chunk_bytes {
        None => default.chunk,
        Some(bytes) => engine::Chunk::new(bytes).ok_or(SessionError::BadChunk { bytes })?,
    };
    Ok(engine::Settings {
        request: engine::Request { names: settings.counters.clone(), repeat, dispatches: 0 },
        uncounted_passes: repeat,
        restore: match settings.restore {
            protocol::Restore::Observed => engine::RestoreMode::Observed,
            protocol::Restore::Full => engine::RestoreMode::Full,
        },
        shadow: match settings.shadow {
            protocol::Shadow::Safe => engine::ShadowMode::Safe,
            protocol::Shadow::Trusted => engine::ShadowMode::Trusted,
        },
        verify: match settings.verify {
            protocol::Verify::Off => engine::VerifyMode::Off,
            protocol::Verify::Outputs => engine::VerifyMode::Outputs,
            protocol::Verify::All => engine::VerifyMode::All,
        },
        reach: match settings.reach {
            protocol::Reach::All => engine::Reach::All,
            protocol::Reach::Args => engine::Reach::Arguments,
        },
        window: match settings.window {
            protocol::WindowChoice::Kernel => engine::WindowMode::Kernel,
            protocol::WindowChoice::Batch => engine::WindowMode::Batch,
            protocol::WindowChoice::Auto => engine::WindowMode::Auto,
        },
        batch: engine::BatchLimits {
            dispatches: settings.limits.window_kernels.unwrap_or(default.batch.dispatches),
            bytes: settings.limits.window_bytes.unwrap_or(default.batch.bytes),
            ..default.batch
        },
        chunk,
        drain_deadline: Duration::from_millis(settings.deadlines.drain_ms),
        pass_deadline: Duration::from_millis(settings.deadlines.pass_ms),
        device_reserve: settings.limits.device_reserve_bytes.unwrap_or(default.device_reserve),
        host_budget: settings.limits.host_budget_bytes.unwrap_or(default.host_budget),
        record_write_sets: settings.record_ranges,
        skip_restore_for_tests: std::env::var_os(SKIP_RESTORE).is_some_and(|value| value == "1"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_left_open_are_the_engines() {
        let got = engine_settings(&protocol::Settings::default()).unwrap();
        let default = engine::Settings::default();
        assert_eq!(got.chunk, default.chunk);
        assert_eq!(got.batch, default.batch);
        assert_eq!(got.device_reserve, default.device_reserve);
        assert_eq!(got.host_budget, default.host_budget);
        assert!(!got.skip_restore_for_tests);
    }

    #[test]
    fn a_bad_chunk_is_refused() {
        let mut settings = protocol::Settings::default();
        settings.limits.chunk_bytes = Some(3000);
        assert!(matches!(engine_settings(&settings), Err(SessionError::BadChunk { bytes: 3000 })));
    }
}
