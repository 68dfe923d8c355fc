//! Calls of the driver that are ours: the context they are made in, and how callbacks tell them from the program's.

use crate::tables::{Context, CudaError, Driver};
use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, calls of this thread are ours. CUPTI reports them like the program's; callbacks return at once.
#[derive(Debug)]
pub(crate) struct Depth(PhantomData<*const ()>);

impl Depth {
    /// Begins.
    pub(crate) fn enter() -> Self {
        DEPTH.with(|depth| depth.set(depth.get() + 1));
        Self(PhantomData)
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}

/// Whether this thread's calls are ours now.
pub(crate) fn inside() -> bool {
    DEPTH.with(Cell::get) > 0
}

/// While it lives, a context is this thread's.
#[derive(Debug)]
pub(crate) struct Current<'a> {
    driver: &'a Driver,
    pushed: bool,
}

impl<'a> Current<'a> {
    /// Makes `context` current, unless it is.
    pub(crate) fn enter(driver: &'a Driver, context: Context) -> Result<Self, CudaError> {
        let pushed = driver.current_context()? != context;
        if pushed {
            driver.push_context(context)?;
        }
        Ok(Self { driver, pushed })
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if self.pushed {
            // Fails only when the context is gone, and then there is nothing to pop.
            let _ = self.driver.pop_context();
        }
    }
}

/// While it lives, no context is this thread's: those that were are put aside.
#[derive(Debug)]
pub(crate) struct Apart<'a> {
    driver: &'a Driver,
    /// From the top.
    contexts: Vec<Context>,
}

impl<'a> Apart<'a> {
    pub(super) fn enter(driver: &'a Driver) -> Self {
        let mut contexts = Vec::new();
        while let Ok(context) = driver.current_context()
            && context != Context::NULL
            && driver.pop_context().is_ok()
        {
            contexts.push(context);
        }
        Self { driver, contexts }
    }
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        for context in self.contexts.drain(..).rev() {
            // Fails only when the context is gone.
            let _ = self.driver.push_context(context);
        }
    }
}

/// The first two; dropped in this order: the context first.
#[derive(Debug)]
pub(crate) struct Entered<'a> {
    _current: Current<'a>,
    _depth: Depth,
}

impl<'a> Entered<'a> {
    pub(super) fn new(depth: Depth, current: Current<'a>) -> Self {
        Self { _current: current, _depth: depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_contexts_come_back_in_their_order() {
        let driver = crate::fake::fake_driver();
        let (own, other) = (driver.current_context().expect("one"), Context(0x77 as *mut std::ffi::c_void));
        assert_ne!(own, Context::NULL);
        driver.push_context(other).expect("pushed");
        let apart = Apart::enter(&driver);
        assert_eq!(driver.current_context().expect("none"), Context::NULL);
        drop(apart);
        assert_eq!(driver.current_context().expect("the upper one"), other);
        driver.pop_context().expect("popped");
        assert_eq!(driver.current_context().expect("the lower one"), own);
    }

    #[test]
    fn depth_nests_and_ends() {
        assert!(!inside());
        let outer = Depth::enter();
        drop(Depth::enter());
        assert!(inside());
        drop(outer);
        assert!(!inside());
    }
}
