//! Which dispatches are profiled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use kreplay_engine::{Filter, KernelInfo};
use kreplay_protocol::Filters;
use regex_lite::Regex;

use crate::SessionError;

/// Most kernels whose answer is kept. A program that loads more than this pays for a match again.
const KEPT: usize = 64 << 10;

/// Selects by the kernel's name, then by how many have matched so far in this process.
pub struct NameFilter {
    include: Option<Regex>,
    exclude: Option<Regex>,
    skip: u64,
    count: Option<u64>,
    matched: AtomicU64,
    alive: Arc<AtomicBool>,
    /// Whether the name of the kernel with this key matched. Keys are used again after an unload, hence the name.
    known: RwLock<HashMap<u64, (Arc<str>, bool)>>,
}

impl NameFilter {
    /// A filter that selects nothing once `alive` is false.
    ///
    /// # Errors
    /// [`SessionError::BadFilter`] when a pattern is not a regular expression.
    pub fn new(filters: &Filters, alive: Arc<AtomicBool>) -> Result<Self, SessionError> {
        let compile = |pattern: &Option<String>| match pattern {
            None => Ok(None),
            Some(pattern) => Regex::new(pattern)
                .map(Some)
                .map_err(|error| SessionError::BadFilter { pattern: pattern.clone(), why: error.to_string() }),
        };
        Ok(Self {
            include: compile(&filters.kernel)?,
            exclude: compile(&filters.exclude)?,
            skip: filters.skip,
            count: filters.count,
            matched: AtomicU64::new(0),
            alive,
            known: RwLock::default(),
        })
    }

    fn matches(&self, kernel: &KernelInfo) -> bool {
        if self.include.is_none() && self.exclude.is_none() {
            return true;
        }
        if let Some((name, matched)) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&kernel.key)
            && (Arc::ptr_eq(name, &kernel.name) || *name == kernel.name)
        {
            return *matched;
        }
        let matched = self.include.as_ref().is_none_or(|include| include.is_match(&kernel.name))
            && !self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(&kernel.name));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(kernel.key, (Arc::clone(&kernel.name), matched));
        matched
    }
}

impl Filter for NameFilter {
    fn select(&self, kernel: &KernelInfo) -> bool {
        if !self.alive.load(Ordering::Relaxed) || !self.matches(kernel) {
            return false;
        }
        let before = self.matched.fetch_add(1, Ordering::Relaxed);
        before >= self.skip && self.count.is_none_or(|count| before - self.skip < count)
    }

    fn never(&self, kernel: &KernelInfo) -> bool {
        !self.matches(kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(filters: Filters) -> NameFilter {
        NameFilter::new(&filters, Arc::new(AtomicBool::new(true))).unwrap()
    }

    fn kernel(key: u64, name: &str) -> KernelInfo {
        KernelInfo { key, name: name.into() }
    }

    #[test]
    fn no_filter_selects_all() {
        assert!(filter(Filters::default()).select(&kernel(1, "a")));
    }

    #[test]
    fn include_and_exclude_are_both_asked() {
        let filter =
            filter(Filters { kernel: Some("scale|add".into()), exclude: Some("_tail$".into()), ..Filters::default() });
        assert!(filter.select(&kernel(1, "vector_scale")));
        assert!(!filter.select(&kernel(2, "vector_scale_tail")));
        assert!(!filter.select(&kernel(3, "copy")));
        assert!(filter.select(&kernel(1, "vector_scale")));
    }

    #[test]
    fn skip_and_count_see_only_matching_dispatches() {
        let filter = filter(Filters { kernel: Some("k".into()), exclude: None, skip: 2, count: Some(3) });
        let mut selected = Vec::new();
        for turn in 0..10 {
            assert!(!filter.select(&kernel(1, "other")));
            if filter.select(&kernel(2, "k")) {
                selected.push(turn);
            }
        }
        assert_eq!(selected, [2, 3, 4]);
    }

    #[test]
    fn a_key_that_is_used_again_is_asked_again() {
        let filter = filter(Filters { kernel: Some("old".into()), ..Filters::default() });
        assert!(filter.select(&kernel(7, "old")));
        assert!(!filter.select(&kernel(7, "new")));
    }

    #[test]
    fn what_a_name_rules_out_is_never_selected() {
        let filter = filter(Filters { kernel: Some("k".into()), exclude: None, skip: 1, count: Some(1) });
        assert!(filter.never(&kernel(1, "other")) && !filter.never(&kernel(2, "k")));
        // Asking that is not a launch that matched.
        assert_eq!([(); 3].map(|()| filter.select(&kernel(2, "k"))), [false, true, false]);
        assert!(!filter.never(&kernel(2, "k")), "it is for the name alone to say");
    }

    #[test]
    fn nothing_is_selected_without_a_command() {
        let alive = Arc::new(AtomicBool::new(true));
        let filter = NameFilter::new(&Filters::default(), Arc::clone(&alive)).unwrap();
        assert!(filter.select(&kernel(1, "a")));
        alive.store(false, Ordering::Relaxed);
        assert!(!filter.select(&kernel(1, "a")));
    }

    #[test]
    fn a_bad_pattern_is_named() {
        let filters = Filters { exclude: Some("(".into()), ..Filters::default() };
        let error = NameFilter::new(&filters, Arc::default()).err().expect("an unclosed group was accepted");
        assert!(error.to_string().contains("\"(\""), "{error}");
    }
}
