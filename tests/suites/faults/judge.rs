//! What the program tells of each launch, or window of several, and what must be true of it.

use kreplay_protocol::Outcome;
use kreplay_store::DispatchRow;
use std::collections::BTreeMap;

/// One line of the program: a launch, or a window of several.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) launches: usize,
    pub(crate) fault: String,
    pass: u32,
    right: bool,
}

pub(crate) fn parse(line: &str) -> Tried {
    let words: Vec<&str> = line.split(' ').collect();
    let ["launches", launches, "fault", fault, "pass", pass, "memory", memory] = words[..] else {
        panic!("not what it tells: {line}")
    };
    let launches = launches.parse().expect("so many launches");
    Tried { launches, fault: fault.to_owned(), pass: pass.parse().expect("a pass is a number"), right: memory == "ok" }
}

pub(crate) fn kinds(tried: &[Tried]) -> BTreeMap<&str, u32> {
    let mut kinds = BTreeMap::new();
    tried.iter().for_each(|tried| *kinds.entry(tried.fault.as_str()).or_default() += 1);
    kinds
}

/// What must be true of a launch, or of a window of several, and its records.
pub(crate) fn judge(tried: &Tried, rows: &[DispatchRow], own: u32) -> Result<(), &'static str> {
    let own = tried.pass == own;
    let noticed = rows.iter().all(|row| row.divergence.is_some());
    let suspected = rows.iter().any(|row| row.divergence.is_some());
    let replayed = rows.iter().all(|row| row.outcome == Outcome::Replayed);
    let declined = rows.iter().all(|row| row.outcome == Outcome::Declined && row.reason.is_some());
    let failed = declined && rows.iter().all(|row| row.reason.as_deref() == Some("pass_failed"));
    match tried.fault.as_str() {
        // The GPU does right: everything must be right, and nothing may be noticed.
        "None" | "ForeignBetween" | "Moved" => clean(tried, suspected, replayed),
        // A pass did other work. In the program's own that is what the program gets; it must still be noticed. In any
        // other pass the program must not notice.
        "Missed" | "Escaped" | "ForeignInside" => differs(tried, noticed, own),
        // Between windows it is as if another had written; within one the replays do what the program meant.
        "CorruptCopy" if rows.len() == 1 => clean(tried, suspected, replayed),
        "CorruptCopy" => differs(tried, noticed, own),
        // Either what was retained was enough, or the dispatch declined; memory is right in any case.
        "NoMemory" => harmless(tried, suspected, replayed || declined),
        // The pass that the queue ended in is lost, and the program's own launch goes to the program's queue.
        "QueueError" if rows.len() == 1 => harmless(tried, suspected, failed || own && replayed),
        "QueueError" => harmless(tried, suspected, failed || replayed),
        // Nobody waits for the signal of a replay. What has one of ours waits in vain until the deadline.
        "DropSignal" if rows.len() == 1 => clean(tried, suspected, replayed),
        "DropSignal" => harmless(tried, suspected, failed || replayed),
        _ => Err("an unknown fault"),
    }
}

fn clean(tried: &Tried, suspected: bool, replayed: bool) -> Result<(), &'static str> {
    if !tried.right {
        Err("memory is wrong without a fault of the GPU")
    } else if suspected || !replayed {
        Err("a launch without a fault of the GPU was not replayed cleanly")
    } else {
        Ok(())
    }
}

fn differs(tried: &Tried, noticed: bool, own: bool) -> Result<(), &'static str> {
    if !noticed {
        Err("a fault was not noticed")
    } else if tried.right == own {
        Err("memory is not what the program's own launches left")
    } else {
        Ok(())
    }
}

fn harmless(tried: &Tried, suspected: bool, ended_well: bool) -> Result<(), &'static str> {
    if tried.right && !suspected && ended_well { Ok(()) } else { Err("a fault that costs a replay at most did harm") }
}
