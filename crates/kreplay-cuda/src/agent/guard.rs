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

/// Both of the above; dropped in this order: the context first.
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
    fn depth_nests_and_ends() {
        assert!(!inside());
        let outer = Depth::enter();
        drop(Depth::enter());
        assert!(inside());
        drop(outer);
        assert!(!inside());
    }
}
