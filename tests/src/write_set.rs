//! The write set in a profile against the software GPU's own.

use std::collections::{BTreeMap, BTreeSet};

use kreplay_protocol::Outcome;
use kreplay_store::DispatchRow;

use crate::OracleLine;

/// Bytes of a chunk, as the engine uses by default.
const CHUNK: u64 = 4096;

/// Compares the write set of every replayed dispatch with what the oracle saw in its pass 0, chunk by chunk. Gives the
/// number of dispatches compared.
///
/// The oracle does not know kernels by name: each name's dispatches are found as the descriptor that ran with the same
/// grids, each as often as the dispatch had passes, in the same order.
///
/// # Panics
/// When a chunk differs, or a kernel is not found.
pub fn compare_write_sets(dispatches: &[DispatchRow], oracle: &[OracleLine]) -> usize {
    let mut by_object: BTreeMap<u64, Vec<&OracleLine>> = BTreeMap::new();
    let mut order = Vec::new();
    for line in oracle {
        let lines = by_object.entry(line.kernel_object).or_default();
        if lines.is_empty() {
            order.push(line.kernel_object);
        }
        lines.push(line);
    }
    let mut names: Vec<&str> = Vec::new();
    for dispatch in dispatches {
        if !names.contains(&dispatch.kernel.as_str()) {
            names.push(&dispatch.kernel);
        }
    }
    let mut compared = 0;
    for name in names {
        let rows: Vec<&DispatchRow> = dispatches.iter().filter(|row| row.kernel == name).collect();
        let grids: Vec<[u32; 3]> = rows.iter().flat_map(|row| vec![items(row); passes(row)]).collect();
        let fits = |object: &&u64| {
            let lines = &by_object[*object];
            lines.len() == grids.len() && lines.iter().zip(&grids).all(|(line, grid)| line.grid == *grid)
        };
        // kreplay's own kernels run on the same GPU, and may by chance have run as often and as large.
        let candidates: Vec<u64> = order.iter().filter(fits).copied().collect();
        assert!(!candidates.is_empty(), "the oracle saw no kernel run as often and as large as {name}");
        let mut why = String::new();
        let found = candidates.into_iter().find(|object| match match_up(&rows, &by_object[object]) {
            Ok(()) => true,
            Err(difference) => {
                why = difference;
                false
            }
        });
        let object = found.unwrap_or_else(|| panic!("{why}"));
        order.retain(|other| *other != object);
        compared += rows.iter().filter(|row| row.outcome == Outcome::Replayed).count();
    }
    compared
}

/// Finds each dispatch of a kernel among the runs that the oracle saw of one descriptor; or says what differs.
fn match_up(rows: &[&DispatchRow], lines: &[&OracleLine]) -> Result<(), String> {
    // A window has the agent for itself, so the passes of one dispatch lie side by side. Threads that launch the same
    // kernel at once may be numbered in another order than they ran in.
    let mut first = 0;
    let mut runs: Vec<Option<&OracleLine>> = Vec::new();
    for row in rows {
        runs.push(Some(lines[first]));
        first += passes(row);
    }
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.outcome == Outcome::Replayed) {
        let own = runs[place].is_some_and(|line| difference(row, line).is_none());
        let other = || runs.iter().position(|run| run.is_some_and(|line| difference(row, line).is_none()));
        let Some(found) = own.then_some(place).or_else(other) else {
            let why = runs[place].and_then(|line| difference(row, line)).unwrap_or_default();
            return Err(format!("{} dispatch {}: {why}", row.kernel, row.number));
        };
        runs[found] = None;
    }
    Ok(())
}

/// How often the dispatch ran.
fn passes(row: &DispatchRow) -> usize {
    row.passes_done.max(1) as usize
}

/// Work-items in each dimension.
pub(crate) fn items(row: &DispatchRow) -> [u32; 3] {
    std::array::from_fn(|axis| row.grid[axis] * row.block[axis])
}

/// What is in one and not in the other, if anything.
fn difference(row: &DispatchRow, line: &OracleLine) -> Option<String> {
    if row.write_set_cut {
        return Some("the write set in the file is cut short".to_owned());
    }
    let mut chunks = BTreeSet::new();
    for range in &row.write_set {
        let mut base = range.base;
        while base < range.base + range.bytes {
            let end = (base + CHUNK).min(range.base + range.bytes);
            if !line.changed.iter().any(|[address, bytes]| *address < end && address + bytes > base) {
                return Some(format!("the chunk {base:#x} is in the write set, but nothing in it changed"));
            }
            chunks.insert((base, end));
            base = end;
        }
    }
    for [address, bytes] in &line.changed {
        let mut at = *address;
        while at < address + bytes {
            let chunk = chunks.range(..=(at, u64::MAX)).next_back().filter(|(_, end)| at < *end);
            let Some((_, end)) = chunk else {
                return Some(format!("{at:#x} changed, but is not in the write set"));
            };
            at = *end;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(write_set: &[(u64, u64)]) -> DispatchRow {
        let write_set = write_set.iter().map(|&(base, bytes)| kreplay_protocol::Range { base, bytes }).collect();
        DispatchRow {
            process: 1,
            number: 1,
            agent: 1,
            simulated: true,
            kernel: "k".to_owned(),
            grid: [1; 3],
            block: [64, 1, 1],
            stream: 0,
            thread: 0,
            argument_bytes: None,
            start_ns: 0,
            end_ns: 0,
            outcome: Outcome::Replayed,
            reason: None,
            detail: String::new(),
            passes_asked: 2,
            passes_done: 2,
            window: Some(1),
            window_kind: None,
            write_set,
            write_set_cut: false,
            bytes: Default::default(),
            phases: Default::default(),
            divergence: None,
            audit: None,
            notes: Vec::new(),
            readings: Vec::new(),
        }
    }

    fn line(changed: &[[u64; 2]]) -> OracleLine {
        OracleLine { queue: 1, kernel_object: 7, grid: [64, 1, 1], changed: changed.to_vec(), pages: Vec::new() }
    }

    #[test]
    fn equal_write_sets_have_no_difference() {
        let written = line(&[[0x1004, 4], [0x1ffc, 8], [0x5000, 1]]);
        assert_eq!(difference(&row(&[(0x1000, 0x2000), (0x5000, 64)]), &written), None);
        assert_eq!(difference(&row(&[]), &line(&[])), None);
    }

    #[test]
    fn a_chunk_too_many_or_too_few_is_told() {
        let written = line(&[[0x1004, 4]]);
        assert!(difference(&row(&[(0x1000, 0x2000)]), &written).is_some_and(|why| why.contains("0x2000")));
        assert!(difference(&row(&[]), &written).is_some_and(|why| why.contains("0x1004")));
        let across = line(&[[0x1ffc, 8]]);
        assert!(difference(&row(&[(0x1000, 0x1000)]), &across).is_some_and(|why| why.contains("0x2000")));
    }

    #[test]
    fn kernels_are_found_by_their_grids_and_passes() {
        let mut other = line(&[]);
        other.kernel_object = 1;
        let oracle = [other.clone(), line(&[[0x1000, 4]]), line(&[[0x1000, 8]]), other.clone(), other];
        assert_eq!(compare_write_sets(&[row(&[(0x1000, 0x1000)])], &oracle), 1);
    }
}
