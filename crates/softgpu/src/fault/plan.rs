//! The faults that are put in, and how many events each has seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use super::spec::{FaultKind, FaultSpec, Pool, SamplingFault};
use crate::memory::MemoryKind;

#[derive(Debug)]
struct Armed {
    spec: FaultSpec,
    seen: AtomicU64,
}

impl Armed {
    /// Counts one matching event; whether the fault happens at it.
    fn strike(&self) -> bool {
        let nth = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        nth >= self.spec.n && nth - self.spec.n < self.spec.count
    }
}

/// What happens to one dispatch.
#[derive(Clone, Debug, Default)]
pub struct Hit {
    /// The completion signal is dropped.
    pub drop_signal: bool,
    /// It spins.
    pub spin: bool,
    /// Its stores to one chunk of this size are undone.
    pub missed_write: Option<u64>,
    /// One byte more changes: there, or at a place to be chosen.
    pub escaped_write: Option<Option<u64>>,
    /// Somebody writes before it.
    pub foreign_writes: Vec<(u64, Vec<u8>)>,
    /// It becomes a queue error with this code.
    pub queue_error: Option<u64>,
}

impl Hit {
    /// Whether the dispatch's writes must be recorded for it.
    #[must_use]
    pub fn needs_recorder(&self) -> bool {
        self.missed_write.is_some() || self.escaped_write.is_some()
    }
}

/// All faults of a device.
#[derive(Debug, Default)]
pub struct Faults {
    any: AtomicBool,
    cleared: AtomicU64,
    armed: RwLock<Vec<Armed>>,
}

impl Faults {
    /// Puts faults in; each counts from now.
    pub fn inject(&self, specs: Vec<FaultSpec>) {
        let mut armed = self.armed.write().unwrap_or_else(PoisonError::into_inner);
        armed.extend(specs.into_iter().map(|spec| Armed { spec, seen: AtomicU64::new(0) }));
        self.any.store(!armed.is_empty(), Ordering::Release);
    }

    /// Takes all faults out.
    pub fn clear(&self) {
        self.any.store(false, Ordering::Release);
        self.cleared.fetch_add(1, Ordering::Release);
        self.armed.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// How often faults were taken out: a dispatch that spins looks at it, and goes on when it changes.
    #[must_use]
    pub fn cleared(&self) -> u64 {
        self.cleared.load(Ordering::Acquire)
    }

    /// Whether an allocation of this kind fails now.
    #[must_use]
    pub fn allocation(&self, kind: MemoryKind) -> bool {
        let matches = |pool| match kind {
            MemoryKind::Vram => matches!(pool, Pool::Any | Pool::Vram),
            MemoryKind::Host => matches!(pool, Pool::Any | Pool::Host),
            MemoryKind::Scratch | MemoryKind::Registered | MemoryKind::Imported => false,
        };
        self.fold(|armed, fails: &mut bool| {
            if matches!(armed.spec.kind, FaultKind::AllocFail(pool) if matches(pool)) {
                *fails |= armed.strike();
            }
        })
    }

    /// Whether this copy is to go wrong.
    #[must_use]
    pub fn copy(&self) -> bool {
        self.fold(|armed, corrupt: &mut bool| {
            if armed.spec.kind == FaultKind::CorruptCopy {
                *corrupt |= armed.strike();
            }
        })
    }

    /// Whether this goes wrong with the samples now.
    #[must_use]
    pub fn sampling(&self, fault: SamplingFault) -> bool {
        self.fold(|armed, wrong: &mut bool| {
            if armed.spec.kind == FaultKind::Sampling(fault) {
                *wrong |= armed.strike();
            }
        })
    }

    /// What happens to this dispatch.
    #[must_use]
    pub fn dispatch(&self, kernel_object: u64) -> Hit {
        self.fold(|armed, hit: &mut Hit| {
            let spec = &armed.spec;
            let other = matches!(spec.kind, FaultKind::AllocFail(_) | FaultKind::CorruptCopy | FaultKind::Sampling(_));
            if other || spec.kernel.is_some_and(|k| k != kernel_object) || !armed.strike() {
                return;
            }
            match &spec.kind {
                FaultKind::DropSignal => hit.drop_signal = true,
                FaultKind::Spin => hit.spin = true,
                FaultKind::MissedWrite(chunk) => hit.missed_write = Some(*chunk),
                FaultKind::EscapedWrite(address) => hit.escaped_write = Some(*address),
                FaultKind::ForeignWrite { address, bytes } => hit.foreign_writes.push((*address, bytes.clone())),
                FaultKind::QueueError(code) => hit.queue_error = Some(*code),
                FaultKind::AllocFail(_) | FaultKind::CorruptCopy | FaultKind::Sampling(_) => {}
            }
        })
    }

    fn fold<T: Default>(&self, mut f: impl FnMut(&Armed, &mut T)) -> T {
        let mut result = T::default();
        if self.any.load(Ordering::Acquire) {
            let armed = self.armed.read().unwrap_or_else(PoisonError::into_inner);
            armed.iter().for_each(|a| f(a, &mut result));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Faults {
        let faults = Faults::default();
        faults.inject(FaultSpec::parse_list(text).unwrap());
        faults
    }

    #[test]
    fn the_nth_of_its_kernel_is_hit() {
        let faults = faults("spin:n=2,kernel=7;drop-signal:n=3,count=2");
        let hits: Vec<_> =
            [7, 8, 7, 7, 8].map(|k| faults.dispatch(k)).iter().map(|h| (h.spin, h.drop_signal)).collect();
        assert_eq!(hits, [(false, false), (false, false), (true, true), (false, true), (false, false)]);
        faults.clear();
        assert!(!faults.dispatch(7).spin);
    }

    #[test]
    fn allocations_fail_by_pool_and_for_ever() {
        let faults = faults("alloc-fail:n=2,pool=vram,count=all");
        let fails: Vec<_> =
            [MemoryKind::Vram, MemoryKind::Host, MemoryKind::Vram, MemoryKind::Vram, MemoryKind::Scratch]
                .map(|k| faults.allocation(k))
                .into();
        assert_eq!(fails, [false, false, true, true, false]);
        assert!(!faults.copy());
    }
}
