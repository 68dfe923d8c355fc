//! The words that stand in the file for the protocol's enums.

use kreplay_protocol::{AuditKind, DivergenceKind, Outcome, Way, WindowKind};

/// The word for an outcome in files and outputs.
pub fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Replayed => "replayed",
        Outcome::Counted => "counted",
        Outcome::Declined => "declined",
        Outcome::NotSelected => "not_selected",
    }
}

pub(crate) fn outcome(name: &str) -> Option<Outcome> {
    [Outcome::Replayed, Outcome::Counted, Outcome::Declined, Outcome::NotSelected]
        .into_iter()
        .find(|outcome| outcome_name(*outcome) == name)
}

/// The word for a kind of window in files and outputs.
pub fn window_kind_name(kind: WindowKind) -> &'static str {
    match kind {
        WindowKind::Kernel => "kernel",
        WindowKind::Batch => "batch",
    }
}

pub(crate) fn window_kind(name: &str) -> Option<WindowKind> {
    [WindowKind::Kernel, WindowKind::Batch].into_iter().find(|kind| window_kind_name(*kind) == name)
}

/// The word for a way of counting in files and outputs.
pub fn way_name(way: Way) -> &'static str {
    match way {
        Way::Ranges => "ranges",
        Way::Sampling => "sampling",
        Way::Timing => "timing",
    }
}

pub(crate) fn way(name: &str) -> Option<Way> {
    [Way::Ranges, Way::Sampling, Way::Timing].into_iter().find(|way| way_name(*way) == name)
}

pub(crate) fn divergence_name(kind: DivergenceKind) -> &'static str {
    match kind {
        DivergenceKind::Output => "output",
        DivergenceKind::Escaped => "escaped",
    }
}

pub(crate) fn divergence(name: &str) -> Option<DivergenceKind> {
    [DivergenceKind::Output, DivergenceKind::Escaped].into_iter().find(|kind| divergence_name(*kind) == name)
}

pub(crate) fn audit_name(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Shadow => "shadow",
        AuditKind::Reach => "reach",
    }
}

pub(crate) fn audit(name: &str) -> Option<AuditKind> {
    [AuditKind::Shadow, AuditKind::Reach].into_iter().find(|kind| audit_name(*kind) == name)
}
