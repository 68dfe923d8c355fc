//! The write oracle's records: the exact write set of each completed dispatch.
//!
//! With `SOFTGPU_ORACLE=FILE`, one line a dispatch:
//! ```text
//! {"dispatch":id,"queue":q,"kernel_object":K,"kernarg":A,"completion_signal":S,"grid":[x,y,z],
//!  "stored":[[address,bytes],…],"changed":[[address,bytes],…],"pages":[[address,before,after],…]}
//! ```
//! `stored` is where stores and atomics went, `changed` the bytes among them whose value is another than before the
//! dispatch. Both are coalesced and in order. `pages` has hashes of each page that was stored to. A copy or fill of an SDMA
//! queue into device memory has a line too, with 0 as its dispatch and kernel object. A program in the same process can also switch recording on and take records
//! from memory (`softgpu_oracle_*` of the thunk library). Recording never changes what a program sees.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{ConfigError, trace};
use crate::memory::{Page, Range, WriteSet};

/// Records kept in memory; the oldest go first.
const KEPT: usize = 4096;

/// One completed dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The dispatch's number.
    pub dispatch: u64,
    /// The queue's number.
    pub queue: u64,
    /// Its kernel.
    pub kernel_object: u64,
    /// Its arguments.
    pub kernarg: u64,
    /// Its completion signal's handle.
    pub completion_signal: u64,
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// What it wrote.
    pub writes: WriteSet,
}

/// Where records go.
#[derive(Debug)]
pub struct Oracle {
    file: Option<Mutex<File>>,
    keep: AtomicBool,
    kept: Mutex<VecDeque<Record>>,
}

impl Oracle {
    /// Opens the file, if there is one.
    ///
    /// # Errors
    /// [`ConfigError::File`].
    pub fn new(path: Option<&Path>) -> Result<Self, ConfigError> {
        let file = path.map(trace::open).transpose()?.map(Mutex::new);
        Ok(Self { file, keep: AtomicBool::new(false), kept: Mutex::default() })
    }

    /// Whether dispatches are to be recorded.
    #[must_use]
    pub fn on(&self) -> bool {
        self.file.is_some() || self.keep.load(Ordering::Relaxed)
    }

    /// Whether records go to a file.
    #[must_use]
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Takes in what a copy or fill of an SDMA queue wrote. It goes to the file only.
    pub fn record_copy(&self, queue: u64, writes: WriteSet) {
        let Some(file) = &self.file else { return };
        let (kernel_object, kernarg, completion_signal) = (0, 0, 0);
        let record = Record { dispatch: 0, queue, kernel_object, kernarg, completion_signal, grid: [0; 3], writes };
        let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line(&record).as_bytes());
    }

    /// Switches keeping records in memory on or off; off forgets them.
    pub fn keep(&self, on: bool) {
        self.keep.store(on, Ordering::Relaxed);
        if !on {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The newest record of a kernel object (of any, for 0), which is then forgotten.
    #[must_use]
    pub fn take(&self, kernel_object: u64) -> Option<Record> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().rposition(|r| kernel_object == 0 || r.kernel_object == kernel_object)?;
        kept.remove(at)
    }

    /// Takes a record in.
    pub fn record(&self, record: Record) {
        if let Some(file) = &self.file {
            // A full disk must not stop the program.
            let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line(&record).as_bytes());
        }
        self.record_kept(record);
    }

    /// Keeps a record in memory, where records are kept: also for one that was taken and cannot be used.
    pub fn record_kept(&self, record: Record) {
        if self.keep.load(Ordering::Relaxed) {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == KEPT {
                kept.pop_front();
            }
            kept.push_back(record);
        }
    }
}

fn line(r: &Record) -> String {
    let [x, y, z] = r.grid;
    let mut line = format!(
        "{{\"dispatch\":{},\"queue\":{},\"kernel_object\":{},\"kernarg\":{},\"completion_signal\":{},\"grid\":[{x},{y},{z}]",
        r.dispatch, r.queue, r.kernel_object, r.kernarg, r.completion_signal
    );
    for (name, ranges) in [("stored", &r.writes.stored), ("changed", &r.writes.changed)] {
        let _ = write!(line, ",\"{name}\":[");
        for (i, Range { address, bytes }) in ranges.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(line, "{comma}[{address},{bytes}]");
        }
        line.push(']');
    }
    line.push_str(",\"pages\":[");
    for (i, Page { address, before, after }) in r.writes.pages.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(line, "{comma}[{address},{before},{after}]");
    }
    line.push_str("]}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kernel_object: u64, dispatch: u64) -> Record {
        let r = |address, bytes| Range { address, bytes };
        let pages = vec![Page { address: 4096, before: 1, after: 2 }];
        let writes = WriteSet { stored: vec![r(4096, 8), r(5000, 1)], changed: vec![r(4097, 2)], pages };
        Record { dispatch, queue: 3, kernel_object, kernarg: 5, completion_signal: 6, grid: [7, 8, 9], writes }
    }

    #[test]
    fn a_line_has_every_field() {
        assert_eq!(
            line(&record(4, 2)),
            "{\"dispatch\":2,\"queue\":3,\"kernel_object\":4,\"kernarg\":5,\"completion_signal\":6,\"grid\":[7,8,9],\
             \"stored\":[[4096,8],[5000,1]],\"changed\":[[4097,2]],\"pages\":[[4096,1,2]]}\n"
        );
    }

    #[test]
    fn the_newest_of_a_kernel_is_taken() {
        let oracle = Oracle::new(None).unwrap();
        oracle.record(record(4, 1));
        assert!(!oracle.on() && oracle.take(0).is_none());
        oracle.keep(true);
        for (kernel, dispatch) in [(4, 2), (5, 3), (4, 4)] {
            oracle.record(record(kernel, dispatch));
        }
        assert_eq!(oracle.take(5).unwrap().dispatch, 3);
        assert_eq!(oracle.take(0).unwrap().dispatch, 4);
        assert_eq!(oracle.take(4).unwrap().dispatch, 2);
        assert!(oracle.take(4).is_none());
    }
}
