//! A GPU that misbehaves on purpose: kreplay must notice each fault, keep the program's memory as one real run would
//! have left it, and hang never. At least a thousand dispatches in kernel windows and as many in batch windows.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use kreplay_protocol::Outcome;
use kreplay_store::DispatchRow;
use kreplay_tests::{Profile, binary};

/// Launches of one run of the program.
const LAUNCHES: u64 = 170;

/// One line of the program.
#[derive(Debug)]
struct Launch {
    fault: String,
    pass: u32,
    right: bool,
}

fn parse(line: &str) -> Launch {
    let words: Vec<&str> = line.split(' ').collect();
    let ["launch", _, "fault", fault, "pass", pass, "memory", memory] = words[..] else {
        panic!("not a launch: {line}")
    };
    Launch { fault: fault.to_owned(), pass: pass.parse().expect("a pass is a number"), right: memory == "ok" }
}

/// Runs the program in kernel windows and judges each of its launches. The last pass is the program's own.
fn judged(passes: u32, seed: u64, options: &[&str]) {
    let arguments = [passes.to_string(), LAUNCHES.to_string(), seed.to_string()];
    judged_as(passes, passes - 1, &arguments, Profile::new().window("kernel").options(options.iter().copied()));
}

/// Runs the program in batch windows and judges each of its launches. Counters count replays only, so a launch runs once
/// more than it has passes; the first run is the program's own.
fn judged_in_batches(passes: u32, seed: u64, options: &[&str]) {
    let arguments = [(passes + 1).to_string(), LAUNCHES.to_string(), seed.to_string(), "1".to_owned()];
    judged_as(passes, 0, &arguments, Profile::new().window("batch").options(options.iter().copied()));
}

/// `own` is the run of a launch that is the program's own.
fn judged_as(passes: u32, own: u32, arguments: &[String], profile: Profile) {
    let profile = profile.passes(passes);
    let profiled = profile.run(&binary("misbehaving"), arguments.iter().map(String::as_str));
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let launches: Vec<Launch> = profiled.ended.stdout.lines().map(parse).collect();
    let dispatches = profiled.dispatches_of("advance");
    assert_eq!(launches.len() as u64, LAUNCHES);
    assert_eq!(dispatches.len(), launches.len(), "a dispatch has one record");
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (place, (launch, row)) in launches.iter().zip(&dispatches).enumerate() {
        if let Err(why) = judge(launch, row, own) {
            panic!("launch {place}: {why}: {launch:?}\n{row:#?}");
        }
        *seen.entry(&launch.fault).or_default() += 1;
    }
    assert_eq!(seen.len(), 7, "every kind of fault was tried: {seen:?}");
}

/// What must be true of a launch and its record.
fn judge(launch: &Launch, row: &DispatchRow, own: u32) -> Result<(), &'static str> {
    let own = launch.pass == own;
    let noticed = row.divergence.is_some();
    let replayed = row.outcome == Outcome::Replayed;
    match launch.fault.as_str() {
        // The GPU does right: everything must be right, and nothing may be noticed.
        "None" | "ForeignBetween" | "Moved" => {
            if !launch.right {
                Err("memory is wrong without a fault of the GPU")
            } else if noticed || !replayed {
                Err("a launch without a fault of the GPU was not replayed cleanly")
            } else {
                Ok(())
            }
        }
        // A pass did other work. In the program's own that is what the program gets; it must still be noticed. In any
        // other pass the program must not notice.
        "Missed" | "Escaped" | "ForeignInside" => {
            if !noticed {
                Err("a fault was not noticed")
            } else if launch.right == own {
                Err("memory is not what the program's own launch left")
            } else {
                Ok(())
            }
        }
        // Either what was retained was enough, or the dispatch declined; memory is right in any case.
        "NoMemory" => {
            let declined = row.outcome == Outcome::Declined && row.reason.is_some();
            if launch.right && !noticed && (replayed || declined) {
                Ok(())
            } else {
                Err("a failed allocation did harm")
            }
        }
        _ => Err("an unknown fault"),
    }
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
