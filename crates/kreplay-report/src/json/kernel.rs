//! A kernel, over its dispatches.

use std::collections::BTreeMap;

use serde::Serialize;

use super::counter::Counter;
use super::parts::PhasesUs;
use crate::by_kernel::KernelTotals;

#[derive(Serialize)]
pub(super) struct Kernel<'a> {
    kernel: &'a str,
    chip: &'a str,
    dispatches: u64,
    replayed: u64,
    counted: u64,
    declined: u64,
    divergent: u64,
    without_values: u64,
    reasons: &'a BTreeMap<String, u64>,
    passes: u64,
    footprint_bytes_max: u64,
    write_set_bytes_max: u64,
    phases_us: PhasesUs,
    counters: Vec<Counter<'a>>,
}

impl<'a> Kernel<'a> {
    pub(super) fn of(kernel: &'a KernelTotals) -> Self {
        Kernel {
            kernel: &kernel.kernel,
            chip: &kernel.chip,
            dispatches: kernel.dispatches,
            replayed: kernel.replayed,
            counted: kernel.counted,
            declined: kernel.declined,
            divergent: kernel.divergent,
            without_values: kernel.without_values,
            reasons: &kernel.reasons,
            passes: kernel.passes,
            footprint_bytes_max: kernel.footprint_bytes_max,
            write_set_bytes_max: kernel.write_set_bytes_max,
            phases_us: PhasesUs::of(&kernel.phases),
            counters: kernel.values.iter().map(|value| Counter::of_kernel(value, kernel.simulated)).collect(),
        }
    }
}
