//! Host storage for a snapshot: made anew each time, or retained.

use kreplay_engine::bench::staging_cycle;

use super::row::{Row, Unit};
use crate::error::ExpectedError;

/// Sizes in MiB, with what the seed document of this project measured for a zero-filled vector, in milliseconds, on
/// another machine.
const SIZES: [(u64, u64); 3] = [(64, 20), (256, 94), (1024, 375)];

/// Measures each size `repeats` times; the first round is left out.
pub(super) fn run(repeats: u32, show: &mut dyn FnMut(&Row) -> Result<(), ExpectedError>) -> Result<(), ExpectedError> {
    for (mib, published) in SIZES {
        let (mut zeroed, mut fresh, mut retained) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=repeats {
            let cycle = staging_cycle(mib << 20);
            if round > 0 {
                zeroed.push(cycle.zeroed);
                fresh.push(cycle.fresh);
                retained.push(cycle.retained);
            }
        }
        let case = |how: &str| format!("{mib} MiB, {how}");
        let rows = [
            Row::of(
                "staging",
                "plain",
                case(&format!("zero-filled vector (elsewhere {published} ms)")),
                "acquire",
                Unit::Milliseconds,
                &zeroed,
            ),
            Row::of("staging", "kreplay", case("fresh"), "acquire", Unit::Milliseconds, &fresh),
            Row::of("staging", "kreplay", case("retained"), "acquire", Unit::Milliseconds, &retained),
        ];
        for row in &rows {
            show(row)?;
        }
    }
    Ok(())
}
