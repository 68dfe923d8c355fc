//! The write sets of batch windows in a profile against the software GPU's own.

use std::collections::{BTreeMap, BTreeSet};

use kreplay_protocol::{Outcome, WindowKind};
use kreplay_store::DispatchRow;

use crate::OracleLine;
use crate::write_set::items;

/// Bytes of a page of the oracle, and of a chunk as the engine uses by default.
const PAGE: u64 = 4096;

/// Compares the write set of every replayed batch window with what the oracle saw of the program's own run of it, page by
/// page: a page is in the write set if what the window left there is not what it found, and only then. Memory that was
/// born within the window is put back whole and has no such pages. Gives the number of windows compared.
///
/// The program's launches, copies and fills are told from kreplay's by their queues; between two windows kreplay has always
/// work on its own, so the program's lines between two of kreplay's are those of one window.
///
/// # Panics
/// When a page differs, or a window is not found.
pub fn compare_window_write_sets(dispatches: &[DispatchRow], oracle: &[OracleLine]) -> usize {
    let mut windows: BTreeMap<u64, Vec<&DispatchRow>> = BTreeMap::new();
    for row in dispatches.iter().filter(|row| row.window_kind == Some(WindowKind::Batch)) {
        if let Some(window) = row.window.filter(|_| row.outcome == Outcome::Replayed) {
            windows.entry(window).or_default().push(row);
        }
    }
    let Some(own) = own_queue(dispatches, oracle) else { return 0 };
    let mut runs = oracle.split(|line| line.queue == own).filter(|run| !run.is_empty());
    let compared = windows.len();
    for (number, rows) in windows {
        let run = runs
            .find(|run| holds(run, &rows))
            .unwrap_or_else(|| panic!("the oracle saw no run of the {} kernels of window {number}", rows.len()));
        // That of the launch which was recorded first; threads may have been given their numbers in another order.
        let first = rows.iter().find(|row| born(row).is_some()).unwrap_or(&rows[0]);
        if let Some(why) = difference(first, run) {
            panic!("window {number}, which begins with {}: {why}", first.kernel);
        }
    }
    compared
}

/// The queue of kreplay's own: each of the kernels that it runs again comes there more often than on the program's.
fn own_queue(dispatches: &[DispatchRow], oracle: &[OracleLine]) -> Option<u64> {
    // Not of copies and fills, most of which may have been made outside of windows.
    let grids: BTreeSet<[u32; 3]> = dispatches.iter().map(items).collect();
    let mut queues: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let launches = || oracle.iter().filter(|line| line.kernel_object != 0 && grids.contains(&line.grid));
    for line in launches() {
        queues.entry(line.kernel_object).or_default().insert(line.queue);
    }
    let mut again: BTreeMap<u64, usize> = BTreeMap::new();
    for line in launches().filter(|line| queues[&line.kernel_object].len() > 1) {
        *again.entry(line.queue).or_default() += 1;
    }
    again.into_iter().max_by_key(|(_, lines)| *lines).map(|(queue, _)| queue)
}

/// Whether the run has launches of all these grids.
fn holds(run: &[OracleLine], rows: &[&DispatchRow]) -> bool {
    let mut grids: Vec<[u32; 3]> = run.iter().filter(|line| line.kernel_object != 0).map(|line| line.grid).collect();
    rows.iter().all(|row| {
        let at = grids.iter().position(|grid| *grid == items(row));
        at.map(|at| grids.swap_remove(at)).is_some()
    })
}

/// Of the row that has the window's write set: how many of its ranges were born within.
fn born(row: &DispatchRow) -> Option<usize> {
    row.notes.iter().find_map(|note| {
        let rest = note.strip_prefix("the write set is the whole window's; ")?;
        rest.split(' ').next()?.parse().ok()
    })
}

/// What is in one and not in the other, if anything. `first` is the row that has the window's write set.
fn difference(first: &DispatchRow, run: &[OracleLine]) -> Option<String> {
    if first.write_set_cut {
        return Some("the write set in the file is cut short".to_owned());
    }
    let Some(born) = born(first) else { return Some("no dispatch has the window's write set".to_owned()) };
    let (written, born) = first.write_set.split_at(first.write_set.len() - born);
    // Regions begin at pages, but for variables of modules.
    let written: BTreeSet<u64> = written
        .iter()
        .flat_map(|range| (range.base & !(PAGE - 1)..range.base + range.bytes).step_by(PAGE as usize))
        .collect();
    let mut pages: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for [page, before, after] in run.iter().flat_map(|line| &line.pages) {
        pages.entry(*page).or_insert((*before, *after)).1 = *after;
    }
    let is_born = |page: u64| born.iter().any(|range| page < range.base + range.bytes && range.base < page + PAGE);
    let changed: BTreeSet<u64> = pages
        .into_iter()
        .filter(|(page, (before, after))| before != after && !is_born(*page))
        .map(|(page, _)| page)
        .collect();
    if let Some(page) = written.difference(&changed).next() {
        return Some(format!("the page {page:#x} is in the write set, but the window left it as it was"));
    }
    if let Some(page) = changed.difference(&written).next() {
        return Some(format!("the page {page:#x} changed, but is not in the write set"));
    }
    None
}
