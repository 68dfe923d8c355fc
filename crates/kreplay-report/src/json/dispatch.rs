//! A dispatch.

use kreplay_store::{DispatchRow, outcome_name, window_kind_name};
use serde::Serialize;

use super::counter::Counter;
use super::parts::{ByteDetail, PhasesUs, microseconds};

#[derive(Serialize)]
pub(super) struct Dispatch<'a> {
    id: u64,
    process: i64,
    agent: u64,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    stream: u64,
    thread: u64,
    argument_bytes: Option<u32>,
    start_us: f64,
    end_us: f64,
    outcome: &'static str,
    reason: Option<&'a str>,
    detail: &'a str,
    passes: u32,
    passes_asked: u32,
    window: Option<u64>,
    window_kind: Option<&'static str>,
    footprint_bytes: u64,
    write_set_bytes: u64,
    restored_bytes: u64,
    captured_bytes: u64,
    bytes: ByteDetail,
    write_set: Vec<[u64; 2]>,
    write_set_cut: bool,
    divergent: bool,
    divergence: Option<Divergence>,
    audit_surprise_bytes: Option<u64>,
    notes: &'a [String],
    phases_us: PhasesUs,
    counters: Vec<Counter<'a>>,
}

impl<'a> Dispatch<'a> {
    pub(super) fn of(row: &'a DispatchRow) -> Self {
        Dispatch {
            id: row.number,
            process: row.process,
            agent: row.agent,
            kernel: &row.kernel,
            grid: row.grid,
            block: row.block,
            stream: row.stream,
            thread: row.thread,
            argument_bytes: row.argument_bytes,
            start_us: microseconds(row.start_ns),
            end_us: microseconds(row.end_ns),
            outcome: outcome_name(row.outcome),
            reason: row.reason.as_deref(),
            detail: &row.detail,
            passes: row.passes_done,
            passes_asked: row.passes_asked,
            window: row.window,
            window_kind: row.window_kind.map(window_kind_name),
            footprint_bytes: row.bytes.footprint,
            write_set_bytes: row.bytes.write_set,
            restored_bytes: row.bytes.restored.total(),
            captured_bytes: row.bytes.captured.total(),
            bytes: ByteDetail::of(&row.bytes),
            write_set: row.write_set.iter().map(|range| [range.base, range.bytes]).collect(),
            write_set_cut: row.write_set_cut,
            divergent: row.divergence.is_some(),
            divergence: row.divergence.as_ref().map(Divergence::of),
            audit_surprise_bytes: row.audit.as_ref().map(|audit| audit.surprise_bytes),
            notes: &row.notes,
            phases_us: PhasesUs::of(&row.phases),
            counters: row.readings.iter().map(|reading| Counter::of_dispatch(reading, row.simulated)).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Divergence {
    escaped: bool,
    pass: Option<u32>,
    base: u64,
    range_bytes: u64,
    bytes: u64,
}

impl Divergence {
    pub(super) fn of(found: &kreplay_protocol::Divergence) -> Self {
        Divergence {
            escaped: found.kind == kreplay_protocol::DivergenceKind::Escaped,
            pass: found.pass,
            base: found.range.base,
            range_bytes: found.range.bytes,
            bytes: found.bytes,
        }
    }
}
