//! Numbers for names: each kernel and counter is described to the command once.

use std::collections::HashMap;
use std::sync::Arc;

use kreplay_engine as engine;
use kreplay_protocol::{Counter, FromLibrary, Kernel, bounded_text};

/// What this connection has described so far.
#[derive(Default)]
pub(crate) struct Interned {
    kernels: HashMap<Arc<str>, u32>,
    counters: HashMap<CounterKey, u32>,
    plans: u32,
    /// The plan of each agent.
    pub(crate) agent_plans: HashMap<u64, u32>,
}

#[derive(PartialEq, Eq, Hash)]
struct CounterKey {
    name: Arc<str>,
    unit: Arc<str>,
}

impl Interned {
    /// The number of a kernel; `describe` is called first when it is new.
    pub(crate) fn kernel(&mut self, name: &Arc<str>, mut describe: impl FnMut(FromLibrary)) -> u32 {
        if let Some(number) = self.kernels.get(name) {
            return *number;
        }
        let number = next(self.kernels.len());
        describe(FromLibrary::Kernel(Kernel { number, name: bounded_text(name) }));
        self.kernels.insert(Arc::clone(name), number);
        number
    }

    /// The number of a counter of a plan.
    pub(crate) fn planned(&mut self, counter: &engine::PlannedCounter, describe: impl FnMut(FromLibrary)) -> u32 {
        let key = CounterKey { name: Arc::clone(&counter.name), unit: Arc::clone(&counter.unit) };
        self.counter(key, &counter.block, describe)
    }

    /// The number of the counter of a reading.
    pub(crate) fn read(&mut self, reading: &engine::Reading, describe: impl FnMut(FromLibrary)) -> u32 {
        let key = CounterKey { name: Arc::clone(&reading.counter), unit: Arc::clone(&reading.unit) };
        self.counter(key, "", describe)
    }

    fn counter(&mut self, key: CounterKey, block: &str, mut describe: impl FnMut(FromLibrary)) -> u32 {
        if let Some(number) = self.counters.get(&key) {
            return *number;
        }
        let number = next(self.counters.len());
        describe(FromLibrary::Counter(Counter {
            number,
            name: bounded_text(&key.name),
            unit: bounded_text(&key.unit),
            block: bounded_text(block),
        }));
        self.counters.insert(key, number);
        number
    }

    /// A number for a new plan.
    pub(crate) fn plan(&mut self) -> u32 {
        let number = self.plans;
        self.plans = self.plans.saturating_add(1);
        number
    }
}

fn next(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
