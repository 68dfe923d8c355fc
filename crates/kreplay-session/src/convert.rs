//! The engine's records as messages.

use std::time::Duration;

use kreplay_engine as engine;
use kreplay_protocol as protocol;
use kreplay_protocol::{MAX_RANGES, bounded_text};

use crate::intern::Interned;

/// Nanoseconds, saturating.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn agent(description: &engine::AgentDescription, backend: &str, memory: Option<u64>) -> protocol::Agent {
    protocol::Agent {
        number: description.id.0,
        name: bounded_text(&description.name),
        chip: bounded_text(&description.chip),
        backend: backend.to_owned(),
        simulated: description.simulated,
        memory_bytes: memory,
    }
}

pub(crate) fn plan(
    number: u32,
    agent: engine::AgentId,
    plan: &engine::Plan,
    interned: &mut Interned,
    mut describe: impl FnMut(protocol::FromLibrary),
) -> protocol::Plan {
    let mut pass = |pass: &engine::PlannedPass| protocol::PlanPass {
        counters: pass.counters.iter().map(|counter| interned.planned(counter, &mut describe)).collect(),
        way: match pass.way {
            engine::Way::Ranges => protocol::Way::Ranges,
            engine::Way::Sampling => protocol::Way::Sampling,
            engine::Way::Timing => protocol::Way::Timing,
        },
        price_ns: nanoseconds(pass.price),
    };
    protocol::Plan { number, agent: agent.0, passes: plan.passes.iter().map(&mut pass).collect() }
}

pub(crate) fn dispatch(
    record: &engine::DispatchRecord,
    kernel: u32,
    plan: Option<u32>,
    epoch: Duration,
    now: Duration,
) -> protocol::Dispatch {
    let (outcome, reason, detail) = match &record.outcome {
        engine::Outcome::Replayed => (protocol::Outcome::Replayed, None, String::new()),
        engine::Outcome::Counted => (protocol::Outcome::Counted, None, String::new()),
        engine::Outcome::Declined { reason, detail } => {
            (protocol::Outcome::Declined, Some(reason.name().to_owned()), bounded_text(detail))
        }
    };
    let ranges = record.write_set.as_deref().unwrap_or_default();
    protocol::Dispatch {
        number: record.id.0,
        agent: record.agent.0,
        kernel,
        grid: record.geometry.groups,
        block: record.geometry.items,
        stream: record.stream,
        thread: record.thread,
        argument_bytes: record.argument_bytes,
        start_ns: nanoseconds(epoch.saturating_add(record.start)),
        end_ns: nanoseconds(now),
        outcome,
        reason,
        detail,
        plan,
        passes_asked: record.passes_asked,
        passes_done: record.passes_done,
        window: record.window.map(|window| window.0),
        write_set: ranges.iter().take(MAX_RANGES).map(|found| range(*found)).collect(),
        write_set_cut: ranges.len() > MAX_RANGES,
        bytes: bytes(&record.bytes),
        phases: phases(&record.phases),
        divergence: record.divergence.as_ref().map(divergence),
        audit: record.audit.map(audit),
        notes: record.notes.iter().take(16).map(|note| bounded_text(note)).collect(),
    }
}

fn audit(found: engine::Audit) -> protocol::Audit {
    let kind = match found.kind {
        engine::AuditKind::Shadow => protocol::AuditKind::Shadow,
        engine::AuditKind::Reach => protocol::AuditKind::Reach,
    };
    protocol::Audit { kind, surprise_bytes: found.surprise_bytes }
}

pub(crate) fn window(record: &engine::WindowRecord) -> protocol::Window {
    protocol::Window {
        number: record.id.0,
        agent: record.agent.0,
        kind: match record.kind {
            engine::WindowKind::Kernel => protocol::WindowKind::Kernel,
            engine::WindowKind::Batch => protocol::WindowKind::Batch,
        },
        dispatches: record.dispatches,
        operations: record.operations,
        closed_by: closed_by(record),
        bytes: bytes(&record.bytes),
        phases: phases(&record.phases),
        clock_mhz: record.clock_mhz,
    }
}

/// The reason, and the call behind it where one is known.
fn closed_by(record: &engine::WindowRecord) -> String {
    let reason = closing(record.closing);
    record.call.map_or_else(|| reason.to_owned(), |call| format!("{reason} ({call})"))
}

/// Stable names; they stand in files and outputs.
fn closing(reason: engine::ClosingReason) -> &'static str {
    match reason {
        engine::ClosingReason::Done => "done",
        engine::ClosingReason::Full => "full",
        engine::ClosingReason::Bytes => "bytes",
        engine::ClosingReason::Time => "time",
        engine::ClosingReason::Sparse => "sparse",
        engine::ClosingReason::Policy => "policy",
        engine::ClosingReason::Together => "together",
        engine::ClosingReason::Agent => "agent",
        engine::ClosingReason::Freed => "freed",
        engine::ClosingReason::Unloaded => "unloaded",
        engine::ClosingReason::Capture => "capture",
        engine::ClosingReason::Launch => "launch",
        engine::ClosingReason::Foreign => "foreign",
        engine::ClosingReason::Unrecordable => "unrecordable",
        engine::ClosingReason::Memory => "memory",
        engine::ClosingReason::Exit => "exit",
        engine::ClosingReason::Failed => "failed",
        // The enum may grow; a file then says that this library did not know the name.
        _ => "other",
    }
}

pub(crate) fn value(value: engine::Value) -> protocol::Value {
    match value {
        engine::Value::Count(count) => protocol::Value::Count(count),
        engine::Value::Real(real) => protocol::Value::Real(real),
    }
}

fn range(range: engine::Range) -> protocol::Range {
    protocol::Range { base: range.base, bytes: range.bytes }
}

fn bytes(bytes: &engine::Bytes) -> protocol::Bytes {
    protocol::Bytes {
        footprint: bytes.footprint,
        write_set: bytes.write_set,
        captured: protocol::TierBytes { device: bytes.captured_device, host: bytes.captured_host },
        restored: protocol::TierBytes { device: bytes.restored_device, host: bytes.restored_host },
        compared: bytes.compared,
        staging_high_water: bytes.host_high_water,
        device_held: bytes.device_held,
    }
}

fn phases(phases: &engine::Phases) -> protocol::Phases {
    protocol::Phases {
        drain: nanoseconds(phases.drain),
        capture: nanoseconds(phases.capture),
        passes: nanoseconds(phases.passes),
        compare: nanoseconds(phases.compare),
        restore: nanoseconds(phases.restore),
        verify: nanoseconds(phases.verify),
        commit: nanoseconds(phases.commit),
    }
}

fn divergence(divergence: &engine::Divergence) -> protocol::Divergence {
    protocol::Divergence {
        kind: if divergence.escaped { protocol::DivergenceKind::Escaped } else { protocol::DivergenceKind::Output },
        pass: divergence.pass,
        range: range(divergence.range),
        bytes: divergence.bytes,
    }
}
