//! The contexts of the process that were seen, and what is known of each.

use super::context::ContextState;
use crate::agent::{CONTEXTS, CONTEXTS_MADE};
use crate::tables::Context;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

/// By context. Their number is told to [`CONTEXTS`], which is where counters look: they know no interceptor.
#[derive(Default)]
pub(super) struct Contexts(RwLock<HashMap<Context, Arc<ContextState>>>);

impl Contexts {
    /// What is known of a context, if it was seen.
    pub(super) fn get(&self, context: Context) -> Option<Arc<ContextState>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&context).cloned()
    }

    /// The same; `make` tells what is known of one that was not seen before. It runs while nobody else reads or adds any.
    pub(super) fn get_or_make(&self, context: Context, make: impl FnOnce() -> ContextState) -> Arc<ContextState> {
        self.change(|contexts| Arc::clone(contexts.entry(context).or_insert_with(|| Arc::new(make()))))
    }

    /// Forgets a context; what was known of it.
    pub(super) fn remove(&self, context: Context) -> Option<Arc<ContextState>> {
        self.change(|contexts| contexts.remove(&context))
    }

    /// What is known of each.
    pub(super) fn all(&self) -> Vec<Arc<ContextState>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Every change of the contexts goes through here, so that their number is never another.
    fn change<T>(&self, change: impl FnOnce(&mut HashMap<Context, Arc<ContextState>>) -> T) -> T {
        let mut contexts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = contexts.len();
        let result = change(&mut contexts);
        CONTEXTS.store(contexts.len(), Ordering::Relaxed);
        // Who sees that more were made sees how many there are.
        CONTEXTS_MADE.fetch_add(contexts.len().saturating_sub(before) as u64, Ordering::Release);
        result
    }
}
