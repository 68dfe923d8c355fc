//! A kernel, over its dispatches.

use std::collections::BTreeMap;

use kreplay_store::way_name;
use serde::Serialize;

use super::parts::PhasesUs;
use crate::by_kernel::{KernelTotals, ValueTotals};

#[derive(Serialize)]
pub(super) struct Kernel<'a> {
    kernel: &'a str,
    chip: &'a str,
    dispatches: u64,
    replayed: u64,
    counted: u64,
    declined: u64,
    divergent: u64,
    reasons: &'a BTreeMap<String, u64>,
    passes: u64,
    footprint_bytes_max: u64,
    write_set_bytes_max: u64,
    phases_us: PhasesUs,
    counters: Vec<KernelCounter<'a>>,
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
            reasons: &kernel.reasons,
            passes: kernel.passes,
            footprint_bytes_max: kernel.footprint_bytes_max,
            write_set_bytes_max: kernel.write_set_bytes_max,
            phases_us: PhasesUs::of(&kernel.phases),
            counters: kernel.values.iter().map(|value| KernelCounter::of(value, kernel.simulated)).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct KernelCounter<'a> {
    name: &'a str,
    pass: Option<u32>,
    unit: &'a str,
    simulated: bool,
    derived: bool,
    instance: u32,
    way: Option<&'static str>,
    bound: Option<f64>,
    dispatches: u64,
    mean: f64,
    min: f64,
    max: f64,
}

impl<'a> KernelCounter<'a> {
    pub(super) fn of(value: &'a ValueTotals, simulated: bool) -> Self {
        KernelCounter {
            name: &value.counter.name,
            pass: value.pass,
            unit: &value.counter.unit,
            simulated,
            derived: value.derived,
            instance: value.instance,
            way: value.way.map(way_name),
            bound: value.bound,
            dispatches: value.dispatches,
            mean: value.mean,
            min: value.min,
            max: value.max,
        }
    }
}
