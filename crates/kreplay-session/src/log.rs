//! Lines on stderr, where the settings ask for them.

use std::io::Write;

use kreplay_engine::{DispatchRecord, Outcome};

/// Writes one line. A closed or full stderr is not the program's problem, so errors are dropped.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "kreplay: {text}");
}

/// Writes the line of a dispatch.
pub(crate) fn dispatch_line(record: &DispatchRecord) {
    line(&dispatch(record));
}

/// The one line of a dispatch: `key=value` pairs in a fixed order; times in milliseconds.
fn dispatch(record: &DispatchRecord) -> String {
    let (outcome, reason) = match &record.outcome {
        Outcome::Replayed => ("replayed", "-"),
        Outcome::Counted => ("counted", "-"),
        Outcome::Declined { reason, .. } => ("declined", reason.name()),
    };
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    let (phases, bytes) = (&record.phases, &record.bytes);
    format!(
        "dispatch={} kernel={:?} outcome={outcome} reason={reason} passes={}/{} footprint={} write_set={} captured={} \
         restored={} drain_ms={:.3} capture_ms={:.3} passes_ms={:.3} compare_ms={:.3} restore_ms={:.3} verify_ms={:.3} \
         commit_ms={:.3} divergent={}",
        record.id.0,
        record.kernel.name,
        record.passes_done,
        record.passes_asked,
        bytes.footprint,
        bytes.write_set,
        bytes.captured_device + bytes.captured_host,
        bytes.restored_device + bytes.restored_host,
        ms(phases.drain),
        ms(phases.capture),
        ms(phases.passes),
        ms(phases.compare),
        ms(phases.restore),
        ms(phases.verify),
        ms(phases.commit),
        record.divergence.is_some(),
    )
}
