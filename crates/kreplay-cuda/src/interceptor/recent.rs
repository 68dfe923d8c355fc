//! What a thread launched lately, so that a launch that is not selected takes no lock and shares no count with other threads
//! but those of the engine.

use super::code::FunctionInfo;
use super::context::ContextState;
use crate::tables::{Context, Function};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Functions that a thread remembers; a power of two.
const SLOTS: usize = 64;

/// Goes up whenever a handle may come to mean something else.
static EPOCH: AtomicU64 = AtomicU64::new(1);

/// The epoch before something is looked up, for [`keep`].
pub(super) fn epoch() -> u64 {
    EPOCH.load(Ordering::Acquire)
}

/// Handles may be used again: a context or a module is about to go, or another interceptor begins.
pub(super) fn forget() {
    EPOCH.fetch_add(1, Ordering::AcqRel);
}

struct Recent {
    epoch: u64,
    state: Option<Arc<ContextState>>,
    functions: [Option<(Function, Arc<FunctionInfo>)>; SLOTS],
}

thread_local! {
    static RECENT: RefCell<Recent> =
        const { RefCell::new(Recent { epoch: 0, state: None, functions: [const { None }; SLOTS] }) };
}

fn slot(function: Function) -> usize {
    // Handles are addresses: their low bits say nothing.
    let raw = function.raw();
    ((raw >> 4) ^ (raw >> 12)) as usize % SLOTS
}

/// Calls `work` with what is known of a function that this thread has launched in this context; `None` when it has not, or
/// not lately. `work` must not launch.
pub(super) fn with<T>(
    context: Context,
    function: Function,
    work: impl FnOnce(&Arc<ContextState>, &Arc<FunctionInfo>) -> T,
) -> Option<T> {
    RECENT
        .try_with(|recent| {
            let recent = recent.try_borrow().ok()?;
            let state = recent.state.as_ref().filter(|state| state.context == context)?;
            let (known, info) = recent.functions[slot(function)].as_ref()?;
            (*known == function && recent.epoch == epoch()).then(|| work(state, info))
        })
        .ok()
        .flatten()
}

/// Remembers a function, looked up after `epoch` was read.
pub(super) fn keep(epoch: u64, state: &Arc<ContextState>, info: &Arc<FunctionInfo>) {
    let _ = RECENT.try_with(|recent| {
        let Ok(mut recent) = recent.try_borrow_mut() else { return };
        if recent.epoch != epoch || recent.state.as_ref().is_none_or(|known| known.context != state.context) {
            recent.functions.fill(None);
            recent.state = Some(Arc::clone(state));
            recent.epoch = epoch;
        }
        let function = info.handle();
        recent.functions[slot(function)] = Some((function, Arc::clone(info)));
    });
}
