//! A GPU that misbehaves on purpose: kreplay must notice each fault, keep the program's memory as one real run would
//! have left it, and hang never. At least a thousand dispatches.
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

/// Runs the program and judges each of its launches.
fn judged(passes: u32, seed: u64, options: &[&str]) {
    let profile = Profile::new().passes(passes).options(options.iter().copied());
    let arguments = [passes.to_string(), LAUNCHES.to_string(), seed.to_string()];
    let profiled = profile.run(&binary("misbehaving"), arguments.iter().map(String::as_str));
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let launches: Vec<Launch> = profiled.ended.stdout.lines().map(parse).collect();
    let dispatches = profiled.dispatches_of("advance");
    assert_eq!(launches.len() as u64, LAUNCHES);
    assert_eq!(dispatches.len(), launches.len(), "a dispatch has one record");
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (place, (launch, row)) in launches.iter().zip(&dispatches).enumerate() {
        if let Err(why) = judge(launch, row, passes) {
            panic!("launch {place}: {why}: {launch:?}\n{row:#?}");
        }
        *seen.entry(&launch.fault).or_default() += 1;
    }
    assert_eq!(seen.len(), 7, "every kind of fault was tried: {seen:?}");
}

/// What must be true of a launch and its record.
fn judge(launch: &Launch, row: &DispatchRow, passes: u32) -> Result<(), &'static str> {
    let last = launch.pass + 1 == passes;
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
        // A pass did other work. In the last pass, the program's own, that is what the program gets; it must still be
        // noticed. In any other pass the program must not notice.
        "Missed" | "Escaped" | "ForeignInside" => {
            if !noticed {
                Err("a fault was not noticed")
            } else if launch.right == last {
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
