//! JSON: an interface, described in `docs/file.md`.

use std::collections::BTreeMap;
use std::io::Write;

use kreplay_protocol::{Bytes, Phases, Value};
use kreplay_store::{DispatchRow, Reader, ReadingRow, outcome_name, way_name, window_kind_name};
use serde::Serialize;

use crate::by_kernel::{COMBINED, KernelTotals, ValueTotals};
use crate::{Overview, ReportError};

/// Version of the JSON and CSV forms. It is raised when a field changes its meaning or goes; new fields may come
/// without that.
pub const JSON_VERSION: u32 = 1;

/// Dispatches one by one. They are written as they are read, so that a long file needs little memory.
pub(crate) fn dispatches(reader: &Reader, overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{{\"version\": {JSON_VERSION},\n\"run\": ")?;
    serde_json::to_writer(&mut *out, &Run::of(overview))?;
    write!(out, ",\n\"dispatches\": [")?;
    let mut separator = "\n";
    reader.for_each_dispatch(|dispatch| {
        out.write_all(separator.as_bytes())?;
        separator = ",\n";
        serde_json::to_writer(&mut *out, &Dispatch::of(&dispatch)).map_err(ReportError::from)
    })?;
    writeln!(out, "\n]}}")?;
    Ok(())
}

/// Kernels.
pub(crate) fn kernels(kernels: &[KernelTotals], overview: &Overview, out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{{\"version\": {JSON_VERSION},\n\"run\": ")?;
    serde_json::to_writer(&mut *out, &Run::of(overview))?;
    write!(out, ",\n\"combined\": ")?;
    serde_json::to_writer(&mut *out, COMBINED)?;
    write!(out, ",\n\"kernels\": [")?;
    let mut separator = "\n";
    for kernel in kernels {
        out.write_all(separator.as_bytes())?;
        separator = ",\n";
        serde_json::to_writer(&mut *out, &Kernel::of(kernel))?;
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}

#[derive(Serialize)]
struct Run<'a> {
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
    fn of(overview: &'a Overview) -> Self {
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
struct Process<'a> {
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
    fn of(row: &'a kreplay_store::ProcessRow) -> Self {
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
struct Agent<'a> {
    process: i64,
    id: u64,
    name: &'a str,
    chip: &'a str,
    backend: &'a str,
    simulated: bool,
    memory_bytes: Option<u64>,
}

impl<'a> Agent<'a> {
    fn of(row: &'a kreplay_store::AgentRow) -> Self {
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
struct PlanPass<'a> {
    process: i64,
    agent: u64,
    plan: u32,
    pass: u32,
    way: &'static str,
    price_us: f64,
    counters: Vec<&'a str>,
}

impl<'a> PlanPass<'a> {
    fn of(row: &'a kreplay_store::PlanPassRow) -> Self {
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
struct Window<'a> {
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
}

impl<'a> Window<'a> {
    fn of(row: &'a kreplay_store::WindowRow) -> Self {
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
        }
    }
}

#[derive(Serialize)]
struct Warning<'a> {
    process: i64,
    code: &'a str,
    text: &'a str,
    dispatches: u64,
}

impl<'a> Warning<'a> {
    fn of(row: &'a kreplay_store::WarningRow) -> Self {
        Warning { process: row.process, code: &row.code, text: &row.text, dispatches: row.dispatches }
    }
}

#[derive(Serialize)]
struct Dispatch<'a> {
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
    fn of(row: &'a DispatchRow) -> Self {
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
            counters: row.readings.iter().map(|reading| Counter::of(reading, row.simulated)).collect(),
        }
    }
}

#[derive(Serialize)]
struct Divergence {
    escaped: bool,
    pass: Option<u32>,
    base: u64,
    range_bytes: u64,
    bytes: u64,
}

impl Divergence {
    fn of(found: &kreplay_protocol::Divergence) -> Self {
        Divergence {
            escaped: found.kind == kreplay_protocol::DivergenceKind::Escaped,
            pass: found.pass,
            base: found.range.base,
            range_bytes: found.range.bytes,
            bytes: found.bytes,
        }
    }
}

#[derive(Serialize)]
struct Counter<'a> {
    name: &'a str,
    pass: Option<u32>,
    value: Number,
    unit: &'a str,
    simulated: bool,
    derived: bool,
    instance: u32,
    way: Option<&'static str>,
    bound: Option<f64>,
}

impl<'a> Counter<'a> {
    fn of(row: &'a ReadingRow, simulated: bool) -> Self {
        Counter {
            name: &row.counter.name,
            pass: row.pass,
            value: match row.value {
                Value::Count(count) => Number::Count(count),
                Value::Real(real) => Number::Real(real),
            },
            unit: &row.counter.unit,
            simulated,
            derived: row.derived,
            instance: row.instance,
            way: row.way.map(way_name),
            bound: row.bound,
        }
    }
}

/// A JSON number; infinities and what is no number become `null`.
enum Number {
    Count(u64),
    Real(f64),
}

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Number::Count(count) => serializer.serialize_u64(*count),
            Number::Real(real) => serializer.serialize_f64(*real),
        }
    }
}

#[derive(Serialize)]
struct Kernel<'a> {
    kernel: &'a str,
    chip: &'a str,
    dispatches: u64,
    replayed: u64,
    counted: u64,
    declined: u64,
    divergent: u64,
    reasons: &'a BTreeMap<String, u64>,
    passes: u64,
    footprint_bytes_max: u64,
    write_set_bytes_max: u64,
    phases_us: PhasesUs,
    counters: Vec<KernelCounter<'a>>,
}

impl<'a> Kernel<'a> {
    fn of(kernel: &'a KernelTotals) -> Self {
        Kernel {
            kernel: &kernel.kernel,
            chip: &kernel.chip,
            dispatches: kernel.dispatches,
            replayed: kernel.replayed,
            counted: kernel.counted,
            declined: kernel.declined,
            divergent: kernel.divergent,
            reasons: &kernel.reasons,
            passes: kernel.passes,
            footprint_bytes_max: kernel.footprint_bytes_max,
            write_set_bytes_max: kernel.write_set_bytes_max,
            phases_us: PhasesUs::of(&kernel.phases),
            counters: kernel.values.iter().map(|value| KernelCounter::of(value, kernel.simulated)).collect(),
        }
    }
}

#[derive(Serialize)]
struct KernelCounter<'a> {
    name: &'a str,
    pass: Option<u32>,
    unit: &'a str,
    simulated: bool,
    derived: bool,
    instance: u32,
    way: Option<&'static str>,
    bound: Option<f64>,
    dispatches: u64,
    mean: f64,
    min: f64,
    max: f64,
}

impl<'a> KernelCounter<'a> {
    fn of(value: &'a ValueTotals, simulated: bool) -> Self {
        KernelCounter {
            name: &value.counter.name,
            pass: value.pass,
            unit: &value.counter.unit,
            simulated,
            derived: value.derived,
            instance: value.instance,
            way: value.way.map(way_name),
            bound: value.bound,
            dispatches: value.dispatches,
            mean: value.mean,
            min: value.min,
            max: value.max,
        }
    }
}

#[derive(Serialize)]
struct ByteDetail {
    captured_device: u64,
    captured_host: u64,
    restored_device: u64,
    restored_host: u64,
    compared: u64,
    staging_high_water: u64,
    device_held: u64,
}

impl ByteDetail {
    fn of(bytes: &Bytes) -> Self {
        ByteDetail {
            captured_device: bytes.captured.device,
            captured_host: bytes.captured.host,
            restored_device: bytes.restored.device,
            restored_host: bytes.restored.host,
            compared: bytes.compared,
            staging_high_water: bytes.staging_high_water,
            device_held: bytes.device_held,
        }
    }
}

#[derive(Serialize)]
struct PhasesUs {
    drain: f64,
    capture: f64,
    passes: f64,
    compare: f64,
    restore: f64,
    verify: f64,
    commit: f64,
}

impl PhasesUs {
    fn of(phases: &Phases) -> Self {
        PhasesUs {
            drain: microseconds(phases.drain),
            capture: microseconds(phases.capture),
            passes: microseconds(phases.passes),
            compare: microseconds(phases.compare),
            restore: microseconds(phases.restore),
            verify: microseconds(phases.verify),
            commit: microseconds(phases.commit),
        }
    }
}

/// Nanoseconds as microseconds.
pub(crate) fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}
