//! Which call of the program a thread is in: a window that ends within one says which.

use crate::ClosingReason;
use std::cell::Cell;

thread_local! {
    static CALL: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// While it lives this thread is in a call of the program's.
#[derive(Debug)]
pub struct InCall {
    before: Option<&'static str>,
}

impl InCall {
    /// In the call of this name.
    pub fn new(name: &'static str) -> Self {
        Self { before: CALL.replace(Some(name)) }
    }
}

impl Drop for InCall {
    fn drop(&mut self) {
        CALL.set(self.before);
    }
}

/// The call that a window was closed in, where the reason alone does not say enough.
pub(crate) fn closing(reason: ClosingReason) -> Option<&'static str> {
    use ClosingReason::{Foreign, Freed, Memory, Unloaded, Unrecordable};
    matches!(reason, Foreign | Freed | Memory | Unloaded | Unrecordable).then(|| CALL.get()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_nest_and_only_some_reasons_name_one() {
        assert_eq!(closing(ClosingReason::Freed), None);
        let outer = InCall::new("outer");
        drop(InCall::new("inner"));
        assert_eq!(closing(ClosingReason::Freed), Some("outer"));
        assert_eq!(closing(ClosingReason::Full), None);
        drop(outer);
        assert_eq!(closing(ClosingReason::Freed), None);
    }
}
