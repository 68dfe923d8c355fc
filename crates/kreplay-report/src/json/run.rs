//! What the file says of the run as a whole.

use kreplay_store::{way_name, window_kind_name};
use serde::Serialize;

use super::parts::{ByteDetail, PhasesUs, microseconds};
use crate::Overview;

#[derive(Serialize)]
pub(super) struct Run<'a> {
    kreplay_version: &'a str,
    command: &'a [String],
    directory: &'a str,
    host: &'a str,
    settings: &'a serde_json::Value,
    start_unix_ns: i64,
    end_unix_ns: Option<i64>,
    state: &'static str,
    exit_code: Option<i32>,
    exit_signal: Option<i32>,
    simulated: bool,
    dispatches: u64,
    replayed: u64,
    counted: u64,
    declined: u64,
    divergent: u64,
    without_values: u64,
    not_selected: u64,
    missing_records: u64,
    phases_us: PhasesUs,
    processes: Vec<Process<'a>>,
    agents: Vec<Agent<'a>>,
    plans: Vec<PlanPass<'a>>,
    windows: Vec<Window<'a>>,
    warnings: Vec<Warning<'a>>,
}

impl<'a> Run<'a> {
    pub(super) fn of(overview: &'a Overview) -> Self {
        let (run, totals) = (&overview.run, &overview.totals);
        Run {
            kreplay_version: &run.kreplay_version,
            command: &run.command,
            directory: &run.directory,
            host: &run.host,
            settings: &run.settings,
            start_unix_ns: run.start_unix_ns,
            end_unix_ns: run.end_unix_ns,
            state: run.state.name(),
            exit_code: run.exit_code,
            exit_signal: run.exit_signal,
            simulated: overview.any_simulated(),
            dispatches: totals.dispatches,
            replayed: totals.replayed,
            counted: totals.counted,
            declined: totals.declined,
            divergent: totals.divergent,
            without_values: totals.without_values,
            not_selected: totals.not_selected,
            missing_records: overview.missing_records(),
            phases_us: PhasesUs::of(&totals.phases),
            processes: overview.processes.iter().map(Process::of).collect(),
            agents: overview.agents.iter().map(Agent::of).collect(),
            plans: overview.plan_passes.iter().map(PlanPass::of).collect(),
            windows: overview.windows.iter().map(Window::of).collect(),
            warnings: overview.warnings.iter().map(Warning::of).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Process<'a> {
    id: i64,
    pid: u32,
    parent_pid: u32,
    exe: &'a str,
    argv: &'a [String],
    start_unix_ns: i64,
    state: &'static str,
    records: u64,
    records_made: Option<u64>,
    lost_records: Option<u64>,
    not_selected: Option<u64>,
}

impl<'a> Process<'a> {
    pub(super) fn of(row: &'a kreplay_store::ProcessRow) -> Self {
        Process {
            id: row.id,
            pid: row.pid,
            parent_pid: row.parent_pid,
            exe: &row.exe,
            argv: &row.argv,
            start_unix_ns: row.start_unix_ns,
            state: row.state.name(),
            records: row.records,
            records_made: row.records_made,
            lost_records: row.lost_records,
            not_selected: row.not_selected,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Agent<'a> {
    process: i64,
    id: u64,
    name: &'a str,
    chip: &'a str,
    backend: &'a str,
    simulated: bool,
    memory_bytes: Option<u64>,
}

impl<'a> Agent<'a> {
    pub(super) fn of(row: &'a kreplay_store::AgentRow) -> Self {
        Agent {
            process: row.process,
            id: row.number,
            name: &row.name,
            chip: &row.chip,
            backend: &row.backend,
            simulated: row.simulated,
            memory_bytes: row.memory_bytes,
        }
    }
}

#[derive(Serialize)]
pub(super) struct PlanPass<'a> {
    process: i64,
    agent: u64,
    plan: u32,
    pass: u32,
    way: &'static str,
    price_us: f64,
    counters: Vec<&'a str>,
}

impl<'a> PlanPass<'a> {
    pub(super) fn of(row: &'a kreplay_store::PlanPassRow) -> Self {
        PlanPass {
            process: row.process,
            agent: row.agent,
            plan: row.plan,
            pass: row.pass,
            way: way_name(row.way),
            price_us: microseconds(row.price_ns),
            counters: row.counters.iter().map(|counter| counter.name.as_str()).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Window<'a> {
    process: i64,
    id: u64,
    agent: u64,
    kind: &'static str,
    dispatches: u32,
    operations: u32,
    closed_by: &'a str,
    footprint_bytes: u64,
    write_set_bytes: u64,
    restored_bytes: u64,
    captured_bytes: u64,
    bytes: ByteDetail,
    phases_us: PhasesUs,
    clock_mhz: Option<u32>,
}

impl<'a> Window<'a> {
    pub(super) fn of(row: &'a kreplay_store::WindowRow) -> Self {
        Window {
            process: row.process,
            id: row.number,
            agent: row.agent,
            kind: window_kind_name(row.kind),
            dispatches: row.dispatches,
            operations: row.operations,
            closed_by: &row.closed_by,
            footprint_bytes: row.bytes.footprint,
            write_set_bytes: row.bytes.write_set,
            restored_bytes: row.bytes.restored.total(),
            captured_bytes: row.bytes.captured.total(),
            bytes: ByteDetail::of(&row.bytes),
            phases_us: PhasesUs::of(&row.phases),
            clock_mhz: row.clock_mhz,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Warning<'a> {
    process: i64,
    code: &'a str,
    text: &'a str,
    dispatches: u64,
}

impl<'a> Warning<'a> {
    pub(super) fn of(row: &'a kreplay_store::WarningRow) -> Self {
        Warning { process: row.process, code: &row.code, text: &row.text, dispatches: row.dispatches }
    }
}
