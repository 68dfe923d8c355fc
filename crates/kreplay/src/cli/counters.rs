//! `kreplay plan` and `kreplay counters`.

use clap::Args;

use super::{DeviceChoice, FenceChoice};

/// Say which counters would go into which pass, without running anything.
#[derive(Debug, Args)]
pub(crate) struct PlanOptions {
    /// Counters, metrics or sets, separated by commas.
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES", conflicts_with = "set")]
    pub(crate) counters: Vec<String>,
    /// A named set; `none` takes only times. Without -c and --set: `basic`.
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Run each group of counters N times.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) passes: u32,
    /// Whether sampled kernels stand apart from each other, so that their counts are exact.
    #[arg(long, value_enum, default_value_t = FenceChoice::On)]
    pub(crate) fence: FenceChoice,
    /// On which device.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Auto)]
    pub(crate) device: DeviceChoice,
    /// For this chip, whether it is here or not (`gfx90a`, `GH100`, …).
    #[arg(long, value_name = "NAME")]
    pub(crate) chip: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `profile` was asked for, as far as it can be checked before the program runs.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// On which device.
    #[arg(long, value_enum)]
    pub(crate) device: DeviceChoice,
    /// How often each group of counters runs.
    #[arg(long)]
    pub(crate) passes: u32,
    /// Counters and sets; none: only times are taken.
    pub(crate) names: Vec<String>,
}

/// List what can be counted.
#[derive(Debug, Args)]
pub(crate) struct CountersOptions {
    /// On which device.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Auto)]
    pub(crate) device: DeviceChoice,
    /// For this chip, whether it is here or not (`gfx90a`, `GH100`, …).
    #[arg(long, value_name = "NAME")]
    pub(crate) chip: Option<String>,
    /// Only names, blocks and descriptions that hold this text.
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
