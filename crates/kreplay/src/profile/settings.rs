//! The options as the library's settings.

use kreplay_protocol::{
    Cache, Deadlines, Filters, Limits, LogLevel, Reach, Restore, Settings, Shadow, Verify, WindowChoice,
};
use regex_lite::Regex;

use super::together;
use crate::cli::{
    CacheChoice, FenceChoice, LogChoice, ProfileOptions, ReachChoice, RestoreChoice, ShadowChoice, VerifyChoice,
    WindowKindChoice,
};
use crate::devices::Backend;
use crate::error::ExpectedError;

/// The settings that every process gets.
///
/// # Errors
/// [`ExpectedError::Usage`], [`ExpectedError::BadPattern`] or [`ExpectedError::NotImplemented`].
pub(super) fn settings(
    options: &ProfileOptions,
    backend: &dyn Backend,
    counters: Vec<String>,
) -> Result<Settings, ExpectedError> {
    check_pattern("--kernel", options.kernel.as_deref())?;
    check_pattern("--exclude", options.exclude.as_deref())?;
    check_implemented(options, backend)?;
    together::check(options)?;
    if let Some(bytes) = options.chunk
        && !(bytes.is_power_of_two() && (64..=1 << 30).contains(&bytes))
    {
        return Err(ExpectedError::Usage {
            what: format!("--chunk {bytes} cannot be used"),
            hint: "give a power of two from 64 to 1073741824".into(),
        });
    }
    let mib = |amount: Option<u64>| amount.map(|mib| mib.saturating_mul(1 << 20));
    Ok(Settings {
        device: backend.device(),
        counters,
        filters: Filters {
            kernel: options.kernel.clone(),
            exclude: options.exclude.clone(),
            skip: options.skip,
            count: options.count,
        },
        restore: match options.restore {
            RestoreChoice::Observed => Restore::Observed,
            RestoreChoice::Full => Restore::Full,
        },
        verify: match options.verify {
            VerifyChoice::Off => Verify::Off,
            VerifyChoice::Outputs => Verify::Outputs,
            VerifyChoice::All => Verify::All,
        },
        shadow: match options.shadow {
            ShadowChoice::Safe => Shadow::Safe,
            ShadowChoice::Trusted => Shadow::Trusted,
        },
        reach: match options.reach {
            ReachChoice::All => Reach::All,
            ReachChoice::Args => Reach::Args,
        },
        repeat: options.passes,
        window: match options.window {
            WindowKindChoice::Kernel => WindowChoice::Kernel,
            WindowKindChoice::Batch => WindowChoice::Batch,
            WindowKindChoice::Auto => WindowChoice::Auto,
        },
        fence: options.fence == FenceChoice::On,
        cache: match options.cache {
            CacheChoice::None => Cache::None,
            CacheChoice::Flush => Cache::Flush,
        },
        deadlines: Deadlines { drain_ms: options.drain_deadline, pass_ms: options.pass_deadline },
        limits: Limits {
            device_reserve_bytes: mib(options.device_reserve),
            host_budget_bytes: mib(options.host_budget),
            chunk_bytes: options.chunk,
            window_kernels: options.window_kernels,
            ..Limits::default()
        },
        record_ranges: options.write_sets,
        log: match options.log {
            LogChoice::Off => LogLevel::Off,
            LogChoice::Warn => LogLevel::Warn,
            LogChoice::Info => LogLevel::Info,
        },
        ..Settings::default()
    })
}

/// What the interface has room for and no backend does yet is an error, never ignored.
fn check_implemented(options: &ProfileOptions, backend: &dyn Backend) -> Result<(), ExpectedError> {
    let missing =
        |what: &str, hint: &str| Err(ExpectedError::NotImplemented { what: what.to_owned(), hint: hint.to_owned() });
    if options.cache == CacheChoice::Flush && !backend.flushes_caches() {
        let what = format!("--cache flush with --device {}", backend.name());
        return missing(&what, "use --cache none; caches are flushed with --device cuda");
    }
    if options.fence == FenceChoice::Off && !backend.counts_unfenced() {
        let what = format!("--fence off with --device {}", backend.name());
        return missing(
            &what,
            "use --fence on; kernels that must not be replayed are counted with a request of one pass",
        );
    }
    Ok(())
}

fn check_pattern(option: &'static str, pattern: Option<&str>) -> Result<(), ExpectedError> {
    let Some(pattern) = pattern else { return Ok(()) };
    Regex::new(pattern).map(drop).map_err(|error| ExpectedError::BadPattern {
        option,
        pattern: pattern.to_owned(),
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command, DeviceChoice};
    use clap::Parser;

    fn made(device: DeviceChoice, options: &[&str]) -> Result<Settings, ExpectedError> {
        let words = ["kreplay", "profile"].iter().chain(options).chain(&["--", "true"]);
        let Command::Profile(options) = Cli::try_parse_from(words).unwrap().command else { panic!("not a profile") };
        settings(&options, crate::devices::choose(device).as_ref(), Vec::new())
    }

    #[test]
    fn caches_are_flushed_where_that_can_be_done() {
        assert_eq!(made(DeviceChoice::Cuda, &[]).unwrap().cache, Cache::None);
        assert_eq!(made(DeviceChoice::Cuda, &["--cache", "flush"]).unwrap().cache, Cache::Flush);
        for device in [DeviceChoice::Hsa, DeviceChoice::Soft] {
            let refused = made(device, &["--cache", "flush"]).unwrap_err();
            assert!(refused.to_string().contains("--cache flush with --device"), "{refused}");
        }
    }
}
