//! Several launches and a copy, then the end of a batch window.

use crate::fault::{Fault, Told};
use crate::state::State;
use demo::Module;
use std::error::Error;

/// Most launches of a window.
const MOST: u64 = 4;

/// What kreplay has the GPU do at a window's end besides the replays, about: snapshots, comparisons, copies.
const STEPS: u64 = 8;

impl State {
    /// A window under a fault.
    pub(crate) fn window(&mut self, passes: u64, only: Option<Fault>) -> Result<Told, Box<dyn Error>> {
        let ender = Module::load(&self.gpu)?;
        let drawn = Fault::OF_WINDOWS[self.random(Fault::OF_WINDOWS.len() as u64) as usize];
        let fault = only.unwrap_or(drawn);
        let launches = 2 + self.random(MOST - 1);
        // The launch that it is meant for, the pass, and the launch behind the copy: the first one opens the window.
        let (faulty, pass, copy) = (self.random(launches), self.random(passes), 1 + self.random(launches - 1));
        self.begin(fault, pass * launches + faulty + 1)?;
        for launch in 0..launches {
            if launch == copy && fault == Fault::CorruptCopy {
                self.copy_wrong()?;
            } else if launch == copy {
                self.copy()?;
            }
            // What is copied is changed by launches too, but for the faulty one: the copy could cover what it did.
            let other = launch != faulty && self.random(2) == 1;
            let submitted = self.submit(if other { &self.copied } else { &self.data })?;
            self.gpu.wait(submitted)?;
            (if other { &mut self.copied } else { &mut self.data }).advance();
        }
        let before = self.read()?;
        self.begin_late(fault, passes * launches)?;
        ender.unload(&self.gpu);
        self.switches.clear();
        if before != self.read()? {
            return Err("the end of a window changed memory".into());
        }
        Ok(Told { launches, fault, pass: if fault == Fault::CorruptCopy { 0 } else { pass }, right: self.is_right()? })
    }

    /// What goes wrong from the window's beginning on, with its launches counted from 1 through all passes.
    fn begin(&mut self, fault: Fault, nth: u64) -> Result<(), Box<dyn Error>> {
        let (_, address) = self.guarded();
        let at = format!("n={nth},kernel={}", self.kernel.object);
        match fault {
            Fault::None | Fault::CorruptCopy | Fault::QueueError | Fault::DropSignal => Ok(()),
            Fault::Missed => self.switches.inject(&format!("missed-write:{at}")),
            Fault::Escaped => self.switches.inject(&format!("escaped-write:{at},address={address}")),
            Fault::ForeignInside => {
                self.switches.inject(&format!("foreign-write:{at},address={address},bytes=11223344"))
            }
            Fault::ForeignBetween => self.write_unseen(),
            Fault::NoMemory => self.switches.inject("alloc-fail:n=1,pool=vram,count=all"),
            Fault::Moved => self.move_data(),
        }
    }

    /// What goes wrong once the program's own run is over: in a replay, or in a step of kreplay's own. In the program's own run it
    /// would be a broken program.
    fn begin_late(&mut self, fault: Fault, replayed: u64) -> Result<(), Box<dyn Error>> {
        let nth = 1 + self.random(replayed + STEPS);
        match fault {
            Fault::QueueError => self.switches.inject(&format!("queue-error:n={nth}")),
            Fault::DropSignal => self.switches.inject(&format!("drop-signal:n={nth}")),
            _ => Ok(()),
        }
    }
}
