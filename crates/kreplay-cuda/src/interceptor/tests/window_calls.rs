//! What a kernel window asks of the driver. Each call costs the host a microsecond or more, and what goes to the stream
//! costs the device some too: a change that makes a window dearer fails here.

use super::*;
use kreplay_engine::ShadowMode;
use std::collections::BTreeMap;

const PASSES: u32 = 5;

/// Windows that come first: behind them, there is no audit for as many.
const SETTLED: u64 = 32;

/// Windows whose calls are counted.
const WINDOWS: u64 = 16;

/// What windows call, once those before them were alike: the program's own launches are among it.
fn calls_of_windows(shadow: ShadowMode) -> BTreeMap<&'static str, u64> {
    let settings = Settings { shadow, ..Program::settings(PASSES, false, Request::default()) };
    let program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
    let step = increment("a_window's_calls");
    let (_ballast, data) = (program.allocate(1 << 17), program.allocate(1 << 14));
    let before = word(data);
    let launch = |times| (0..times).for_each(|_| program.launch(step, "a_window's_calls", data, Stream::NULL, 0));
    launch(SETTLED);
    fake::take_calls();
    launch(WINDOWS);
    let calls = fake::take_calls();
    let last = program.last();
    assert_eq!((&last.outcome, last.passes_done, last.divergence), (&Outcome::Replayed, PASSES, None));
    assert_eq!(word(data), before.wrapping_add((SETTLED + WINDOWS) as u32));
    calls
}

fn assert_calls(shadow: ShadowMode, expected: &[(&'static str, u64)], sets: u64) {
    let mut calls = calls_of_windows(shadow);
    let zeroed = calls.remove("cuMemsetD8Async");
    let expected: BTreeMap<_, _> = expected.iter().map(|(name, calls)| (*name, calls * WINDOWS)).collect();
    assert_eq!(calls, expected);
    assert_eq!(zeroed, Some(sets));
}

#[test]
fn a_trusted_window_calls_no_more_than_it_needs() {
    assert_calls(
        ShadowMode::Trusted,
        &[
            ("cuCtxGetCurrent", 25),
            // Two drains.
            ("cuCtxSynchronize", 2),
            // The write set, the hashes of four passes, the hash of the program's own.
            ("cuEventQuery", 3),
            // The same, and behind the hashes of what was committed.
            ("cuEventRecord", 4),
            // Five passes and their hashes, one look, the hashes of what was committed.
            ("cuLaunchKernelEx", 12),
            // Four times to memory, once to the shadow; answers thrice.
            ("cuMemcpyAsync", 8),
            // Two drains of two streams, and before and after the program's own pass.
            ("cuStreamQuery", 6),
        ],
        // Behind each comparison, and where room for hashes is used up.
        WINDOWS + 6,
    );
}

#[test]
fn a_safe_window_calls_no_more_than_it_needs() {
    assert_calls(
        ShadowMode::Safe,
        &[
            ("cuCtxGetCurrent", 30),
            ("cuCtxSynchronize", 2),
            // As above, and the answers of three synchronisations.
            ("cuEventQuery", 6),
            ("cuEventRecord", 6),
            ("cuLaunchKernelEx", 14),
            // Memory and shadow are put in step by the last two of these.
            ("cuMemcpyAsync", 9),
            // As above, and when the snapshot is whole.
            ("cuStreamQuery", 7),
        ],
        4 * WINDOWS + 6,
    );
}
