//! One launch after another: each has a kernel window.

use crate::fault::{Fault, Told};
use crate::state::State;
use std::error::Error;

impl State {
    /// Launches once under a fault.
    pub(crate) fn launch(&mut self, passes: u64) -> Result<Told, Box<dyn Error>> {
        let fault = Fault::OF_LAUNCHES[self.random(Fault::OF_LAUNCHES.len() as u64) as usize];
        // The program's own pass, the last, ends by the program's signal: nobody could tell that from a broken program.
        let pass = self.random(if fault == Fault::DropSignal { passes - 1 } else { passes });
        let (nth, kernel) = (pass + 1, self.kernel.object);
        let (_, address) = self.guarded();
        let at = format!("n={nth},kernel={kernel}");
        match fault {
            Fault::None => {}
            Fault::Missed => self.switches.inject(&format!("missed-write:{at}"))?,
            Fault::Escaped => self.switches.inject(&format!("escaped-write:{at},address={address}"))?,
            Fault::ForeignInside => {
                self.switches.inject(&format!("foreign-write:{at},address={address},bytes=11223344"))?;
            }
            Fault::ForeignBetween => self.write_unseen()?,
            Fault::NoMemory => self.switches.inject("alloc-fail:n=1,pool=vram,count=all")?,
            Fault::Moved => self.move_data()?,
            Fault::CorruptCopy => {
                // Between windows it is memory like any other.
                self.copy_wrong()?;
                let found = self.copied.read(&self.gpu)?;
                if found == self.copied.expected {
                    return Err("the copy came right".into());
                }
                self.copied.expected = found;
            }
            Fault::QueueError => self.switches.inject(&format!("queue-error:{at}"))?,
            Fault::DropSignal => self.switches.inject(&format!("drop-signal:{at}"))?,
        }
        let launch = self.submit(&self.data)?;
        self.gpu.wait(launch)?;
        self.switches.clear();
        self.data.advance();
        Ok(Told { launches: 1, fault, pass, right: self.is_right()? })
    }
}
