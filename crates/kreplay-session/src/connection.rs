//! One process's connection: its link, what it has described, and its counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kreplay_engine::{AgentRecord, Outcome, WindowKind};
use kreplay_protocol::{FromLibrary, Summary, Warning, bounded_text, encode};

use crate::intern::Interned;
use crate::link::Link;

/// Most different warnings that are sent.
const WARNINGS: usize = 256;

pub(crate) struct Connection {
    pid: u32,
    link: Link,
    told: Mutex<Told>,
    pub(crate) not_selected: AtomicU64,
}

/// What was told so far. Held while a message is sent, so that descriptions go before what names them.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) interned: Interned,
    pub(crate) agents: Vec<AgentRecord>,
    warned: BTreeSet<String>,
    summary: Summary,
    declined: BTreeMap<&'static str, u64>,
    finished: bool,
}

impl Connection {
    pub(crate) fn new(pid: u32, link: Link) -> Self {
        Self { pid, link, told: Mutex::default(), not_selected: AtomicU64::new(0) }
    }

    /// The connection, unless `pid` is a child that was forked with it in its memory: the socket is its parent's, and another
    /// thread of the parent may have held a lock when it was forked, which nobody gives back in the child.
    pub(crate) fn of(&self, pid: u32) -> Option<&Connection> {
        (self.pid == pid).then_some(self)
    }

    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message after all that were sent before it.
    pub(crate) fn send(&self, message: &FromLibrary) {
        match encode(message) {
            Ok(frame) => {
                self.link.send(frame);
            }
            // All texts and lists are bounded, so this cannot happen; if it does, the command is told what is missing.
            Err(error) => {
                let text = bounded_text(&error.to_string());
                if let Ok(frame) = encode(&FromLibrary::Warning(Warning { code: "record_dropped".to_owned(), text })) {
                    self.link.send(frame);
                }
            }
        }
    }

    /// Sends a warning the first time that its code comes. Returns whether it was the first time.
    pub(crate) fn warn(&self, told: &mut Told, code: &str, text: &str) -> bool {
        if told.warned.len() >= WARNINGS || !told.warned.insert(code.to_owned()) {
            return false;
        }
        self.send(&FromLibrary::Warning(Warning { code: bounded_text(code), text: bounded_text(text) }));
        true
    }

    /// Sends the summary, waits until all is in the socket, and ends the connection. Only the first call does anything.
    pub(crate) fn finish(&self, alive: &AtomicBool) {
        let summary = {
            let mut told = self.told();
            if std::mem::replace(&mut told.finished, true) {
                return;
            }
            let mut summary = told.summary.clone();
            summary.declined = told.declined.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
            summary.not_selected = self.not_selected.load(Ordering::Relaxed);
            summary.lost_records = self.link.lost();
            summary
        };
        self.send(&FromLibrary::Summary(summary));
        self.link.flush();
        self.link.close();
        alive.store(false, Ordering::Relaxed);
    }
}

impl Told {
    pub(crate) fn count_dispatch(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Replayed => self.summary.replayed += 1,
            Outcome::Counted => self.summary.counted += 1,
            Outcome::Declined { reason, .. } => *self.declined.entry(reason.name()).or_default() += 1,
        }
    }

    pub(crate) fn count_window(&mut self, kind: WindowKind) {
        match kind {
            WindowKind::Kernel => self.summary.kernel_windows += 1,
            WindowKind::Batch => self.summary.batch_windows += 1,
        }
    }
}
