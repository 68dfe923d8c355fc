//! Whether the shadow is believed (`--shadow trusted`).

/// Windows at the start that all look at everything.
const FIRST_AUDITS: u64 = 8;
/// Later, one window in so many does.
const AUDIT_EVERY: u64 = 32;

/// How far one window believes the shadow and the write set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// Not at all: the default.
    Nothing,
    /// Looks at everything, and would notice what believing would have missed.
    Audit,
    /// Only stale ranges are copied, only the write set is put back.
    Shadow,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    windows: u64,
    off: bool,
}

impl Trust {
    /// For the next window of a run that asked for trust.
    pub(crate) fn next(&mut self) -> Belief {
        if self.off {
            return Belief::Nothing;
        }
        self.windows += 1;
        let audit = self.windows <= FIRST_AUDITS || self.windows.is_multiple_of(AUDIT_EVERY);
        if audit { Belief::Audit } else { Belief::Shadow }
    }

    /// An audit found what believing would have missed. Returns whether that is news.
    pub(crate) fn turn_off(&mut self) -> bool {
        !std::mem::replace(&mut self.off, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_come_first_and_then_at_a_rate_until_a_surprise() {
        let mut trust = Trust::default();
        let beliefs: Vec<_> = (0..64).map(|_| trust.next()).collect();
        assert!(beliefs[..8].iter().all(|belief| *belief == Belief::Audit));
        assert_eq!(beliefs[8..].iter().filter(|belief| **belief == Belief::Audit).count(), 2);
        assert!(trust.turn_off() && !trust.turn_off());
        assert_eq!(trust.next(), Belief::Nothing);
    }
}
