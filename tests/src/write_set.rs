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
        let place = order.iter().position(|object| {
            let lines = &by_object[object];
            lines.len() == grids.len() && lines.iter().zip(&grids).all(|(line, grid)| line.grid == *grid)
        });
        let place = place.unwrap_or_else(|| panic!("the oracle saw no kernel run as often and as large as {name}"));
        let lines = &by_object[&order.remove(place)];
        let mut first = 0;
        for row in rows {
            if row.outcome == Outcome::Replayed {
                compare(row, lines[first]);
                compared += 1;
            }
            first += passes(row);
        }
    }
    compared
}

/// How often the dispatch ran.
fn passes(row: &DispatchRow) -> usize {
    row.passes_done.max(1) as usize
}

/// Work-items in each dimension.
fn items(row: &DispatchRow) -> [u32; 3] {
    std::array::from_fn(|axis| row.grid[axis] * row.block[axis])
}

fn compare(row: &DispatchRow, line: &OracleLine) {
    assert!(!row.write_set_cut, "{}: the write set in the file is cut short", row.kernel);
    let mut chunks = BTreeSet::new();
    for range in &row.write_set {
        let mut base = range.base;
        while base < range.base + range.bytes {
            let end = (base + CHUNK).min(range.base + range.bytes);
            assert!(
                line.changed.iter().any(|[address, bytes]| *address < end && address + bytes > base),
                "{} dispatch {}: the chunk {base:#x} is in the write set, but nothing in it changed",
                row.kernel,
                row.number
            );
            chunks.insert((base, end));
            base = end;
        }
    }
    for [address, bytes] in &line.changed {
        let mut at = *address;
        while at < address + bytes {
            let chunk = chunks.range(..=(at, u64::MAX)).next_back().filter(|(_, end)| at < *end);
            let (_, end) = chunk.unwrap_or_else(|| {
                panic!("{} dispatch {}: {at:#x} changed, but is not in the write set", row.kernel, row.number)
            });
            at = *end;
        }
    }
}
