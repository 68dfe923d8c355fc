//! `kreplay profile`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DeviceChoice;
use crate::exit_codes;

/// Options of `kreplay profile`.
#[derive(Debug, Args)]
#[command(after_help = exit_codes::HELP)]
pub(crate) struct ProfileOptions {
    /// What to count: counters, metrics or sets, separated by commas.
    #[arg(short, long, value_delimiter = ',', value_name = "NAMES", conflicts_with = "set")]
    pub(crate) counters: Vec<String>,
    /// Count a named set; `none` takes only times. Without -c and --set: `basic`.
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// The file to write. Without it: a name made from the program's, in the current directory.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace FILE if it is an older profile, once the program has been started.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Where to profile.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Auto)]
    pub(crate) device: DeviceChoice,

    /// Only kernels whose name matches this regular expression.
    #[arg(long, value_name = "RE", help_heading = "Which dispatches")]
    pub(crate) kernel: Option<String>,
    /// No kernels whose name matches this regular expression.
    #[arg(long, value_name = "RE", help_heading = "Which dispatches")]
    pub(crate) exclude: Option<String>,
    /// Leave out the first N dispatches that match, in each process.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Which dispatches")]
    pub(crate) skip: u64,
    /// Profile at most N dispatches in each process.
    #[arg(long, value_name = "N", help_heading = "Which dispatches")]
    pub(crate) count: Option<u64>,

    /// Run each group of counters N times, to see how values vary.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "How")]
    pub(crate) passes: u32,
    /// What is put back between passes.
    #[arg(long, value_enum, default_value_t = RestoreChoice::Observed, help_heading = "How")]
    pub(crate) restore: RestoreChoice,
    /// How passes are checked.
    #[arg(long, value_enum, default_value_t = VerifyChoice::Outputs, help_heading = "How")]
    pub(crate) verify: VerifyChoice,
    /// Whether the copy of memory is believed from one kernel to the next.
    #[arg(long, value_enum, default_value_t = ShadowChoice::Safe, help_heading = "How")]
    pub(crate) shadow: ShadowChoice,
    /// Which memory is looked at.
    #[arg(long, value_enum, default_value_t = ReachChoice::All, help_heading = "How")]
    pub(crate) reach: ReachChoice,
    /// How many kernels share one programming of the counters.
    #[arg(long, value_enum, default_value_t = WindowKindChoice::Auto, help_heading = "How")]
    pub(crate) window: WindowKindChoice,
    /// Whether sampled kernels stand apart from each other, so that their counts are exact.
    #[arg(long, value_enum, default_value_t = FenceChoice::On, help_heading = "How")]
    pub(crate) fence: FenceChoice,
    /// What is done to the caches before each pass.
    #[arg(long, value_enum, default_value_t = CacheChoice::None, help_heading = "How")]
    pub(crate) cache: CacheChoice,

    /// Give up on a dispatch when the GPU is not idle after this many milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 10_000, help_heading = "Limits")]
    pub(crate) drain_deadline: u64,
    /// Give up on a window when a pass takes longer than this many milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 60_000, help_heading = "Limits")]
    pub(crate) pass_deadline: u64,
    /// Most kernels of a batch window. Without it: as many as are worth it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub(crate) window_kernels: Option<u32>,
    /// Device memory that stays free for the program, in MiB. Without it: 256.
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    pub(crate) device_reserve: Option<u64>,
    /// Host memory for snapshots in each process, in MiB. Without it: 8192.
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    pub(crate) host_budget: Option<u64>,
    /// Bytes in which memory is compared: a power of two. Without it: 4096.
    #[arg(long, value_name = "BYTES", help_heading = "Limits")]
    pub(crate) chunk: Option<u64>,
    /// Wait this many seconds for profiled processes that the program left behind: those that have used a GPU by its end.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, help_heading = "Limits")]
    pub(crate) linger: u64,

    /// Keep the address ranges that each kernel changed, not only their sum.
    #[arg(long, help_heading = "Output")]
    pub(crate) write_sets: bool,
    /// Neither a live line nor a summary.
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// What the library in the program writes to its stderr.
    #[arg(long, value_enum, default_value_t = LogChoice::Off, help_heading = "Output")]
    pub(crate) log: LogChoice,

    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// What a restore puts back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestoreChoice {
    /// What was seen to change.
    Observed,
    /// All of the program's memory on the device, in windows of one kernel.
    Full,
}

/// How passes are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyChoice {
    /// Not at all; the program's memory is kept right all the same.
    Off,
    /// What the kernel wrote is compared after each pass, the rest at the end.
    Outputs,
    /// Everything is compared after each pass.
    All,
}

/// Whether a shadow is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShadowChoice {
    /// Memory is compared with it before every window.
    Safe,
    /// Only what calls of the program can have changed is copied again, with audits.
    Trusted,
}

/// Which memory is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReachChoice {
    /// All that the kernel could write.
    All,
    /// What its arguments point into, with audits; in windows of one kernel, which --window kernel makes of all.
    Args,
}

/// Which windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WindowKindChoice {
    /// One kernel a window.
    Kernel,
    /// Many kernels a window.
    Batch,
    /// The cheaper kind that the device has.
    Auto,
}

/// Whether sampling is fenced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FenceChoice {
    /// The device is idle for a moment before and after each kernel; counts are exact.
    On,
    /// Kernels run as the program launches them; counts are approximate, and a bound of their error stands beside them.
    Off,
}

/// What is done to the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheChoice {
    /// Nothing.
    None,
    /// They are flushed before each pass.
    Flush,
}

/// What the library writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogChoice {
    /// Nothing.
    Off,
    /// What the user should know: warnings, and why kernels decline, each once.
    Warn,
    /// Also one line a dispatch.
    Info,
}
