//! A GPU that misbehaves on purpose: kreplay must notice each fault, keep the program's memory as one real run would
//! have left it, and hang never. At least a thousand dispatches in kernel windows and as many in batch windows.
#![forbid(unsafe_code)]

mod judge;
mod spinning;

use judge::{Tried, judge, kinds, parse};
use kreplay_protocol::Outcome;
use kreplay_store::DispatchRow;
use kreplay_tests::{Profile, Profiled, binary, missing, skipped};
use std::collections::BTreeSet;

/// Launches of one run of the program in kernel windows.
const LAUNCHES: usize = 170;

/// Windows of one run of the program in batch windows, of two to four launches and a copy.
const WINDOWS: usize = 60;

/// Runs the program in kernel windows and judges each of its launches. The last pass is the program's own.
fn judged(passes: u32, seed: u64, options: &[&str]) {
    let arguments = [passes.to_string(), LAUNCHES.to_string(), seed.to_string()];
    let (tried, _) =
        judged_as(passes, passes - 1, &arguments, Profile::new().window("kernel").options(options.iter().copied()));
    assert_eq!(tried.len(), LAUNCHES);
    assert_eq!(kinds(&tried).len(), 10, "every kind of fault was tried: {:?}", kinds(&tried));
}

/// Runs the program in batch windows and judges each of them. Counters count replays only, so a launch runs once
/// more than it has passes; the first run is the program's own.
fn judged_in_batches(passes: u32, seed: u64, options: &[&str]) {
    let arguments = [(passes + 1).to_string(), WINDOWS.to_string(), seed.to_string(), "batch".to_owned()];
    let (tried, rows) =
        judged_as(passes, 0, &arguments, Profile::new().window("batch").options(options.iter().copied()));
    assert_eq!(tried.len(), WINDOWS);
    let struck = rows.iter().any(|row| row.reason.as_deref() == Some("pass_failed"));
    assert!(struck, "no error of a queue met a window's end");
    assert_eq!(kinds(&tried).len(), 9, "every kind of fault was tried: {:?}", kinds(&tried));
}

/// `own` is the run of a launch that is the program's own.
fn judged_as(passes: u32, own: u32, arguments: &[String], profile: Profile) -> (Vec<Tried>, Vec<DispatchRow>) {
    judge_run(own, &profile.passes(passes).run(&binary("misbehaving"), arguments.iter().map(String::as_str)))
}

fn judge_run(own: u32, profiled: &Profiled) -> (Vec<Tried>, Vec<DispatchRow>) {
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let tried: Vec<Tried> = profiled.ended.stdout.lines().map(parse).collect();
    let dispatches = profiled.dispatches_of("advance");
    let launches: usize = tried.iter().map(|tried| tried.launches).sum();
    assert_eq!(dispatches.len(), launches, "a dispatch has one record");
    let mut rest = dispatches.as_slice();
    for (place, tried) in tried.iter().enumerate() {
        let (rows, others) = rest.split_at(tried.launches);
        rest = others;
        if let Err(why) = judge(tried, rows, own) {
            panic!("number {place}: {why}: {tried:?}\n{rows:#?}");
        }
        // In a window of several all went into one, where they went into any.
        let windows: BTreeSet<_> = rows.iter().filter_map(|row| row.window).collect();
        assert!(windows.len() <= 1 || tried.fault == "NoMemory", "number {place}: {tried:?}\n{rows:#?}");
    }
    (tried, dispatches)
}

#[test]
fn two_passes_outputs_checked() {
    judged(2, 11, &[]);
}

#[test]
fn three_passes_outputs_checked() {
    judged(3, 12, &[]);
}

#[test]
fn five_passes_outputs_checked() {
    judged(5, 13, &[]);
}

#[test]
fn three_passes_everything_checked() {
    judged(3, 14, &["--verify", "all"]);
}

#[test]
fn five_passes_everything_checked() {
    judged(5, 15, &["--verify", "all"]);
}

#[test]
fn three_passes_full_restore() {
    judged(3, 16, &["--restore", "full"]);
}

#[test]
fn two_passes_in_batch_windows() {
    judged_in_batches(2, 21, &[]);
}

#[test]
fn three_passes_in_batch_windows() {
    judged_in_batches(3, 22, &[]);
}

#[test]
fn five_passes_in_batch_windows() {
    judged_in_batches(5, 23, &[]);
}

#[test]
fn three_passes_in_batch_windows_everything_checked() {
    judged_in_batches(3, 24, &["--verify", "all"]);
}

#[test]
fn five_passes_in_batch_windows_everything_checked() {
    judged_in_batches(5, 25, &["--verify", "all"]);
}

#[test]
fn three_passes_in_batch_windows_nothing_believed_between() {
    judged_in_batches(3, 26, &["--chunk", "256"]);
}

/// Each launch comes with a barrier before it, in one call of the handler.
#[test]
fn three_passes_of_submissions_in_batch_windows() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let arguments = ["4", &WINDOWS.to_string(), "27", "batch"];
    let profile = Profile::new().window("batch").passes(3);
    let (tried, _) = judge_run(0, &profile.run_bundled(&binary("misbehaving"), arguments));
    assert_eq!(tried.len(), WINDOWS);
}

/// A signal of the program's own that does not fall is a broken program; one of kreplay's own is waited for in vain.
#[test]
fn dropped_signals_in_batch_windows() {
    let mut struck = 0;
    for seed in 1..=4u64 {
        let arguments = ["3", "2", &seed.to_string(), "batch", "DropSignal"].map(str::to_owned);
        let profile = Profile::new().window("batch").options(["--pass-deadline", "500", "--drain-deadline", "2000"]);
        let (_, rows) = judged_as(2, 0, &arguments, profile);
        struck += rows.iter().filter(|row| row.outcome == Outcome::Declined).count();
    }
    assert!(struck > 0, "no signal of those that are waited for was dropped");
}
