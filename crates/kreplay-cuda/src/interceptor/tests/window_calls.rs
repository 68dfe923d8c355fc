//! What a kernel window asks of the driver. Each call costs the host a microsecond or more, and what goes to the stream
//! costs the device some too: a change that makes a window dearer fails here.

use super::*;
use kreplay_engine::ShadowMode;
use std::collections::BTreeMap;

const PASSES: u32 = 5;

/// Windows until none is an audit.
const SETTLED: usize = 20;

/// What one window calls, once the windows before it were alike: the program's own launch is among it.
fn calls_of_a_window(shadow: ShadowMode) -> BTreeMap<&'static str, u64> {
    let settings = Settings { shadow, ..Program::settings(PASSES, false, Request::default()) };
    let program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
    let step = increment("a_window's_calls");
    let (_ballast, data) = (program.allocate(1 << 20), program.allocate(1 << 16));
    let before = word(data);
    for _ in 0..SETTLED {
        program.launch(step, "a_window's_calls", data, Stream::NULL, 0);
    }
    fake::take_calls();
    program.launch(step, "a_window's_calls", data, Stream::NULL, 0);
    let calls = fake::take_calls();
    let last = program.last();
    assert_eq!((&last.outcome, last.passes_done, last.divergence), (&Outcome::Replayed, PASSES, None));
    assert_eq!(word(data), before.wrapping_add(SETTLED as u32 + 1));
    calls
}

fn assert_calls(shadow: ShadowMode, expected: &[(&'static str, u64)]) {
    let calls: Vec<_> = calls_of_a_window(shadow).into_iter().collect();
    assert_eq!(calls, expected);
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
            ("cuEventRecord", 3),
            // Five passes and their hashes, one comparison.
            ("cuLaunchKernelEx", 11),
            // Four times to memory, once to the shadow; answers thrice.
            ("cuMemcpyAsync", 8),
            // Behind each answer.
            ("cuMemsetD8Async", 3),
            // Two drains of two streams, and before and after the program's own pass.
            ("cuStreamQuery", 6),
        ],
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
            ("cuMemsetD8Async", 6),
            // As above, and when the snapshot is whole.
            ("cuStreamQuery", 7),
        ],
    );
}
