//! The engine's own cost, on an agent in memory.

use kreplay_engine::bench::{BatchCost, Load, batch_overhead, unselected_launch, window_overhead};
use kreplay_engine::{RestoreMode, Settings};

use std::time::Duration;

use super::row::{Row, Unit};
use crate::error::ExpectedError;

/// Windows behind one sample.
const WINDOWS: u32 = 10;

/// Launches behind one sample.
const LAUNCHES: u32 = 200_000;

/// What is measured: footprint in MiB, regions, passes.
const CASES: [(u64, u32, u32); 5] = [(1, 1, 2), (64, 1, 2), (64, 1, 5), (64, 1, 9), (64, 1000, 5)];

/// The same for batch windows.
const BATCHES: [(u64, u32, u32); 2] = [(64, 1, 5), (64, 1000, 5)];

/// Dispatches of a batch window.
const DISPATCHES: u32 = 500;

/// Bytes that the kernel changes.
const WRITE_SET: u64 = 1 << 20;

/// Measures each case `repeats` times.
pub(super) fn run(repeats: u32, show: &mut dyn FnMut(&Row) -> Result<(), ExpectedError>) -> Result<(), ExpectedError> {
    for (restore, name) in [(RestoreMode::Observed, "observed"), (RestoreMode::Full, "full")] {
        for (mib, regions, passes) in CASES {
            let settings = Settings { restore, uncounted_passes: passes, ..Settings::default() };
            let load = load(mib, regions, WINDOWS, settings);
            let (mut engine, mut window) = (Vec::new(), Vec::new());
            for _ in 0..repeats {
                let cost = window_overhead(&load)?;
                engine.push(cost.engine);
                window.push(cost.window);
            }
            let case = format!("kernel window, {name}, {mib} MiB in {regions} regions, {passes} passes");
            show(&Row::of("engine", "kreplay", case.clone(), "engine_per_window", Unit::Microseconds, &engine))?;
            show(&Row::of("engine", "kreplay", case.clone(), "window", Unit::Microseconds, &window))?;
            let per_pass: Vec<_> = engine.iter().map(|time| *time / passes).collect();
            show(&Row::of("engine", "kreplay", case, "engine_per_pass", Unit::Microseconds, &per_pass))?;
        }
    }
    batch_windows(repeats, show)?;
    let mut unselected = Vec::new();
    for _ in 0..repeats {
        unselected.push(unselected_launch(LAUNCHES)?);
    }
    let case = "launch that is not selected".to_owned();
    show(&Row::of("engine", "kreplay", case, "added_per_launch", Unit::Nanoseconds, &unselected))
}

/// What batch windows cost: recording launches as they go by, and closing.
fn batch_windows(repeats: u32, show: &mut dyn FnMut(&Row) -> Result<(), ExpectedError>) -> Result<(), ExpectedError> {
    for (mib, regions, passes) in BATCHES {
        let settings = Settings { uncounted_passes: passes, ..Settings::default() };
        let load = load(mib, regions, DISPATCHES, settings);
        let costs: Vec<_> = (0..repeats).map(|_| batch_overhead(&load)).collect::<Result<_, _>>()?;
        let case = format!("batch window, {mib} MiB in {regions} regions, {passes} passes, {DISPATCHES} kernels");
        for (metric, unit, of) in [
            ("added_per_launch", Unit::Nanoseconds, (|cost| cost.recorded) as fn(&BatchCost) -> Duration),
            ("added_per_unselected_launch", Unit::Nanoseconds, |cost| cost.unselected),
            ("engine_per_kernel", Unit::Microseconds, |cost| cost.engine),
            ("closing_per_kernel", Unit::Microseconds, |cost| cost.closing),
        ] {
            let samples: Vec<Duration> = costs.iter().map(of).collect();
            show(&Row::of("engine", "kreplay", case.clone(), metric, unit, &samples))?;
        }
    }
    Ok(())
}

fn load(mib: u64, regions: u32, windows: u32, settings: Settings) -> Load {
    Load { footprint: mib << 20, regions, write_set: WRITE_SET, windows, settings }
}
