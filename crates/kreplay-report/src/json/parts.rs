//! What several objects are made of.

use kreplay_protocol::{Bytes, Phases};
use serde::Serialize;

/// A JSON number; infinities and what is no number become `null`.
pub(super) enum Number {
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
pub(super) struct ByteDetail {
    captured_device: u64,
    captured_host: u64,
    restored_device: u64,
    restored_host: u64,
    compared: u64,
    staging_high_water: u64,
    device_held: u64,
}

impl ByteDetail {
    pub(super) fn of(bytes: &Bytes) -> Self {
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
pub(super) struct PhasesUs {
    drain: f64,
    capture: f64,
    passes: f64,
    compare: f64,
    restore: f64,
    verify: f64,
    commit: f64,
}

impl PhasesUs {
    pub(super) fn of(phases: &Phases) -> Self {
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
