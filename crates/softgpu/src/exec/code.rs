//! Decoded code, kept across dispatches.
//!
//! Code is decoded once an address, page by page. Code memory can be freed and filled anew, so a page carries the words it
//! was decoded from, and a worker that enters it for the first time in a dispatch compares them with memory.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use super::memory::MapCache;
use super::stats::Class;
use crate::contract::Fault;
use crate::isa::{self, Inst};

/// Bytes of a page of code.
pub(super) const PAGE: u64 = 4096;
const WORDS: usize = PAGE as usize / 4;
/// Pages kept; when there are more, all are dropped and decoded again as needed.
const LIMIT: usize = 16 * 1024;

/// One decoded instruction and what the counters call it.
pub(super) struct Slot {
    pub(super) inst: Inst,
    pub(super) class: Class,
    /// A vector instruction whose sources need no modifier, SDWA or DPP.
    pub(super) plain: bool,
}

/// A page of code.
pub(super) struct Page {
    /// Its words and the one after it; `None` where memory is not mapped.
    words: Vec<Option<u32>>,
    slots: Vec<OnceLock<Result<Slot, String>>>,
}

static PAGES: LazyLock<Mutex<HashMap<u64, Arc<Page>>>> = LazyLock::new(|| Mutex::new(HashMap::new()));

/// Pages that a worker has entered in this dispatch.
#[derive(Default)]
pub(super) struct CodeView {
    pages: HashMap<u64, Arc<Page>>,
}

impl CodeView {
    /// The page at `base`.
    pub(super) fn page(&mut self, base: u64, maps: &mut MapCache<'_>) -> Arc<Page> {
        if let Some(page) = self.pages.get(&base) {
            return page.clone();
        }
        let words: Vec<Option<u32>> =
            (0..=WORDS as u64).map(|n| maps.read_u32(base.wrapping_add(4 * n)).ok()).collect();
        let mut all = PAGES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let known = all.get(&base).filter(|page| page.words == words).cloned();
        let page = known.unwrap_or_else(|| {
            if all.len() >= LIMIT {
                all.clear();
            }
            let slots = (0..WORDS).map(|_| OnceLock::new()).collect();
            let page = Arc::new(Page { words, slots });
            all.insert(base, page.clone());
            page
        });
        self.pages.insert(base, page.clone());
        page
    }
}

impl Page {
    /// The instruction at `pc`, which lies in this page.
    #[inline(always)]
    pub(super) fn at(&self, pc: u64) -> Result<&Slot, Fault> {
        let n = (pc % PAGE / 4) as usize;
        match self.slots[n].get() {
            Some(Ok(slot)) => Ok(slot),
            _ => self.decode(n, pc),
        }
    }

    #[cold]
    fn decode(&self, n: usize, pc: u64) -> Result<&Slot, Fault> {
        let Some(first) = self.words[n] else { return Err(Fault::BadProgramCounter { pc }) };
        let second = self.words[n + 1];
        let slot = self.slots[n].get_or_init(|| {
            let words = [first, second.unwrap_or(0)];
            match isa::decode(&words[..1 + usize::from(second.is_some())]) {
                Ok(inst) => Ok(Slot { plain: is_plain(&inst), class: Class::of(&inst), inst }),
                Err(error) => Err(error.to_string()),
            }
        });
        slot.as_ref().map_err(|what| Fault::UnknownInstruction {
            pc,
            words: [first, second.unwrap_or(0), self.words.get(n + 2).copied().flatten().unwrap_or(0)],
            what: what.clone(),
        })
    }
}

fn is_plain(inst: &Inst) -> bool {
    !matches!(inst.form, isa::Form::Sdwa | isa::Form::Dpp) && inst.neg == 0 && inst.abs == 0 && inst.opsel == 0
}
