//! The passes before the program's own.

use super::core::Method;
use super::open::{Open, Stage};
use crate::{Agent, AgentError, PassEnd};

impl<A: Agent> Open<A> {
    /// See [`super::Window::run_until_last`].
    pub(super) fn run_until_last(&mut self) {
        if !matches!(self.stage, Stage::Opened) {
            return;
        }
        self.watch.skip();
        let done = match self.method {
            Method::None => self.begin_last(0),
            Method::Full | Method::Observed => self.replay(),
        };
        match done {
            Ok(()) => self.stage = Stage::HandedBack,
            Err(error) => self.give_up(&error),
        }
    }

    fn replay(&mut self) -> Result<(), AgentError> {
        let captured = self.capture();
        self.lap(|phases| &mut phases.capture);
        captured?;
        let mut pass = 0;
        loop {
            self.pass(pass)?;
            if pass == 0 {
                let kernel = self.dispatch.info.kernel.clone();
                self.learn()?;
                self.audit_reach(&kernel);
            }
            self.check(pass)?;
            let next = pass + 1;
            // The last pass is the program's own.
            if !self.proceed(pass) || next + 1 >= self.dispatch.asked {
                break;
            }
            self.restore()?;
            pass = next;
        }
        // After one pass beside pass 0 there is no doubt whose write an escape is.
        let only = (self.passes_done == 2).then_some(1);
        self.repair(only)?;
        self.begin_last(pass + 1)
    }

    /// One pass of ours, counted if it is to be.
    fn pass(&mut self, pass: u32) -> Result<(), AgentError> {
        self.core.begin_counting(&self.dispatch.info, pass);
        self.counting.before(0);
        self.dirty = true;
        if let Some(work) = &self.dispatch.work {
            self.engine.agent.submit(work)?;
        }
        self.counting.after(0);
        self.counting.end();
        self.passes_done += 1;
        self.lap(|phases| &mut phases.passes);
        Ok(())
    }

    /// Begins the program's own pass. What was queued so far is done when this returns: the program's launch goes to a
    /// queue of its own.
    pub(super) fn begin_last(&mut self, pass: u32) -> Result<(), AgentError> {
        self.core.begin_counting(&self.dispatch.info, pass);
        self.counting.before(0);
        if self.counting.running() {
            self.agent().settle(self.deadline())?;
        }
        self.lap(|phases| &mut phases.passes);
        Ok(())
    }

    fn proceed(&self, pass: u32) -> bool {
        let end = PassEnd { pass, divergent: self.divergence.is_some() };
        self.engine.process.policy.proceed(&self.dispatch.info, end)
    }
}
