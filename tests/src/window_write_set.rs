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
    // The last window is closed at the program's end, with kreplay's own work.
    let Some(own) = oracle.iter().rev().find(|line| line.kernel_object != 0).map(|line| line.queue) else { return 0 };
    let mut runs = oracle.split(|line| line.queue == own).filter(|run| !run.is_empty());
    let compared = windows.len();
    for (number, rows) in windows {
        let run = runs
            .find(|run| holds(run, &rows))
            .unwrap_or_else(|| panic!("the oracle saw no run of the {} kernels of window {number}", rows.len()));
        if let Some(why) = difference(rows[0], run) {
            panic!("window {number}, which begins with {}: {why}", rows[0].kernel);
        }
    }
    compared
}

/// Whether the run has launches of all these grids.
fn holds(run: &[OracleLine], rows: &[&DispatchRow]) -> bool {
    let mut grids: Vec<[u32; 3]> = run.iter().filter(|line| line.kernel_object != 0).map(|line| line.grid).collect();
    rows.iter().all(|row| {
        let at = grids.iter().position(|grid| *grid == items(row));
        at.map(|at| grids.swap_remove(at)).is_some()
    })
}

/// What is in one and not in the other, if anything. `first` is the row that has the window's write set.
fn difference(first: &DispatchRow, run: &[OracleLine]) -> Option<String> {
    if first.write_set_cut {
        return Some("the write set in the file is cut short".to_owned());
    }
    let born = first.notes.iter().find_map(|note| {
        let rest = note.strip_prefix("the write set is the whole window's; ")?;
        rest.split(' ').next()?.parse::<usize>().ok()
    });
    let Some(born) = born else { return Some("the first dispatch does not have the window's write set".to_owned()) };
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
