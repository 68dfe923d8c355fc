//! A finished dispatch as one line, for logs.

use crate::{DispatchRecord, Outcome};
use std::fmt;

/// `dispatch=7 kernel=scale outcome=replayed passes=3/3 …`: key and value pairs, in a stable order; times in
/// microseconds, sizes in bytes. Keys that say nothing (no reason, no divergence) are left out. A name with blanks is
/// quoted.
impl fmt::Display for DispatchRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dispatch={} agent={} kernel={}", self.id.0, self.agent.0, quoted(&self.kernel.name))?;
        match &self.outcome {
            Outcome::Replayed => f.write_str(" outcome=replayed")?,
            Outcome::Counted => f.write_str(" outcome=counted")?,
            Outcome::Declined { reason, .. } => write!(f, " outcome=declined reason={reason}")?,
        }
        write!(f, " passes={}/{}", self.passes_done, self.passes_asked)?;
        let bytes = &self.bytes;
        for (key, value) in [
            ("footprint", bytes.footprint),
            ("write_set", bytes.write_set),
            ("captured_device", bytes.captured_device),
            ("captured_host", bytes.captured_host),
            ("restored_device", bytes.restored_device),
            ("restored_host", bytes.restored_host),
            ("compared", bytes.compared),
            ("host_high_water", bytes.host_high_water),
        ] {
            write!(f, " {key}={value}")?;
        }
        let phases = &self.phases;
        for (key, time) in [
            ("drain", phases.drain),
            ("capture", phases.capture),
            ("passes", phases.passes),
            ("compare", phases.compare),
            ("restore", phases.restore),
            ("verify", phases.verify),
            ("commit", phases.commit),
        ] {
            write!(f, " {key}_us={}", time.as_micros())?;
        }
        if let Some(divergence) = &self.divergence {
            let pass = divergence.pass.map_or("unknown".into(), |pass| pass.to_string());
            let kind = if divergence.escaped { "escaped" } else { "output" };
            write!(f, " divergence={kind} divergent_pass={pass} divergent_range={:#x}", divergence.range.base)?;
            write!(f, "+{} divergent_bytes={}", divergence.range.bytes, divergence.bytes)?;
        }
        Ok(())
    }
}

fn quoted(name: &str) -> String {
    if name.contains(|c: char| c == '"' || c.is_whitespace() || c.is_control()) {
        format!("{name:?}")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use crate::*;
    use std::time::Duration;

    #[test]
    fn a_dispatch_is_one_line() {
        let record = DispatchRecord {
            id: DispatchId(7),
            agent: AgentId(1),
            kernel: KernelInfo { key: 1, name: "void scale<float>(float*, int)".into() },
            geometry: Geometry::default(),
            stream: 0,
            argument_bytes: None,
            thread: 1,
            window: Some(WindowId(3)),
            outcome: Outcome::Replayed,
            passes_asked: 3,
            passes_done: 3,
            divergence: Some(Divergence { pass: Some(2), range: Range::new(0x1000, 64), escaped: true, bytes: 64 }),
            audit: None,
            phases: Phases { capture: Duration::from_micros(12), ..Phases::default() },
            bytes: Bytes { footprint: 4096, ..Bytes::default() },
            write_set: None,
            start: Duration::ZERO,
            notes: vec![],
        };
        let line = record.to_string();
        assert!(
            line.starts_with(
                "dispatch=7 agent=1 kernel=\"void scale<float>(float*, int)\" outcome=replayed passes=3/3"
            )
        );
        assert!(
            line.contains(" footprint=4096 ") && line.contains(" capture_us=12 ") && !line.contains('\n'),
            "{line}"
        );
        assert!(line.ends_with("divergence=escaped divergent_pass=2 divergent_range=0x1000+64 divergent_bytes=64"));
        let outcome = Outcome::Declined { reason: Decline::NoBacking, detail: "no\nroom".into() };
        let declined = DispatchRecord { outcome, divergence: None, ..record }.to_string();
        assert!(declined.contains("outcome=declined reason=no_backing") && !declined.contains('\n'));
    }
}
