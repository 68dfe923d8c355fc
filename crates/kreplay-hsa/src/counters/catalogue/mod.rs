//! What AMD's chips can count.

mod chips;
mod memory;
mod metrics;
mod sequencer;
mod sets;
mod soft;
mod system;

use super::expression::Expression;

use super::planner::pack;
use super::sampling::prices;
use kreplay_engine::{CounterInfo, Plan, PlanError, PlannedCounter, PlannedPass, Request, Way, near_names};
use std::sync::Arc;
use std::time::Duration;

pub use chips::Block;

/// The block under which metrics stand in lists and plans.
pub const DERIVED: &str = "derived";

/// A counter of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// AMD's name.
    pub name: &'static str,
    /// The block that counts it.
    pub block: &'static str,
    /// The event's number in the block.
    pub event: u32,
    /// The unit of its value.
    pub unit: &'static str,
    /// What it counts.
    pub description: &'static str,
}

/// A metric: an expression over counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// The unit of its value.
    pub unit: &'static str,
    /// What it says.
    pub description: &'static str,
    /// How it is computed, as it is written.
    pub formula: &'static str,
    /// The same, to compute with.
    pub expression: Expression,
}

/// Names under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Counters and metrics.
    pub members: Vec<&'static str>,
}

/// What one chip can count, in a stable order: counters by block and event, metrics and sets as they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    chip: &'static str,
    blocks: Vec<Block>,
    counters: Vec<Counter>,
    metrics: Vec<Metric>,
    sets: Vec<Set>,
    /// Whether counters can be sampled: on the software GPU.
    sampled: bool,
}

impl Catalogue {
    /// The catalogue of a chip, by the name that HSA gives its agent (`gfx90a`, also with features after a colon). With
    /// `simulated`, only what the software GPU offers, which is a gfx90a. `None` for a chip whose counters are not
    /// known.
    pub fn of(agent: &str, simulated: bool) -> Option<Self> {
        let chip = chips::find(agent)?;
        if simulated && chip.name != soft::CHIP {
            return None;
        }
        let mut counters: Vec<Counter> = sequencer::ROWS
            .iter()
            .chain(system::ROWS)
            .chain(memory::ROWS)
            .filter_map(|row| row.on(chip.column))
            .filter(|counter| !simulated || soft::OFFERED.contains(&counter.name))
            .collect();
        let mut blocks = chip.blocks.to_vec();
        if simulated {
            counters.extend_from_slice(soft::OWN);
            blocks.push(soft::BLOCK);
        }
        let mut metrics = metrics::of(chip.column);
        metrics.retain(|metric| !simulated || soft::meaningful(metric));
        let mut catalogue = Self { chip: chip.name, blocks, counters, metrics, sets: Vec::new(), sampled: simulated };
        catalogue.settle();
        Some(catalogue)
    }

    /// The names of the chips that are known.
    pub fn chips() -> impl Iterator<Item = &'static str> {
        chips::CHIPS.iter().map(|chip| chip.name)
    }

    /// The chip.
    pub fn chip(&self) -> &'static str {
        self.chip
    }

    /// The counters.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The metrics whose counters are all there.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// The sets that hold anything.
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The counter of this name.
    pub fn counter(&self, name: &str) -> Option<&Counter> {
        self.counters.iter().find(|counter| counter.name == name)
    }

    /// The metric of this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The block of this name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Keeps what the device really has: `probe` answers, for a block, with its slots and instances, or `None` when it
    /// cannot be counted; then `offered` for each counter.
    pub fn probe(&mut self, probe: impl Fn(&Block) -> Option<Block>, offered: impl Fn(&Counter, &Block) -> bool) {
        self.blocks = self.blocks.iter().filter_map(probe).collect();
        let blocks = std::mem::take(&mut self.blocks);
        self.counters.retain(|counter| {
            blocks.iter().find(|block| block.name == counter.block).is_some_and(|block| offered(counter, block))
        });
        self.blocks = blocks;
        self.settle();
    }

    /// Drops metrics and sets that cannot be had with the counters that are there.
    fn settle(&mut self) {
        let counters = &self.counters;
        let has = |name: &str| counters.iter().any(|counter| counter.name == name);
        self.metrics.retain(|metric| {
            metric.expression.names().into_iter().all(|name| has(name) || metrics::CONSTANTS.contains(&name))
        });
        self.sets = sets::of(&self.counters, &self.metrics);
    }

    /// Everything that can be asked for: counters, then metrics.
    pub fn list(&self) -> Vec<CounterInfo> {
        let info = |name: &str, block: &str, unit: &str, description: &str| CounterInfo {
            name: name.into(),
            block: block.into(),
            unit: unit.into(),
            description: description.into(),
        };
        let counters = self.counters.iter().map(|c| info(c.name, c.block, c.unit, c.description));
        let metrics = self.metrics.iter().map(|m| info(m.name, DERIVED, m.unit, m.description));
        counters.chain(metrics).collect()
    }

    /// Says whether the device's counters can be sampled: then the planner chooses the cheaper way.
    pub fn set_sampled(&mut self, sampled: bool) {
        self.sampled = sampled;
    }

    /// Packs a request into the fewest passes. The counters that a metric needs are counted and reported too. A metric
    /// stands in the pass that completes it. A repeated request is the whole plan again. A request without names takes
    /// only times.
    ///
    /// # Errors
    /// [`PlanError::Unknown`] for the first name that is not here.
    pub fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        let (counters, metrics) = self.resolve(&request.names)?;
        let blocks: Vec<u32> = counters.iter().map(|counter| self.block_id(counter)).collect();
        let together: Vec<Vec<usize>> = metrics
            .iter()
            .map(|metric| {
                let names = metric.expression.names();
                (0..counters.len()).filter(|at| names.contains(&counters[*at].name)).collect()
            })
            .collect();
        let slots = |id| self.blocks.iter().find(|block| block.id == id).map_or(1, |block| block.slots);
        let (places, groups) = pack(&blocks, slots, &together);
        let mut group = vec![Vec::new(); groups.max(1) as usize];
        for (counter, place) in counters.iter().zip(&places) {
            group[*place as usize].push(planned(counter.name, counter.block, counter.unit));
        }
        for (metric, needed) in metrics.iter().zip(&together) {
            let last = needed.iter().map(|at| places[*at]).max().unwrap_or(0);
            group[last as usize].push(planned(metric.name, DERIVED, metric.unit));
        }
        let way = match groups {
            0 => Way::Timing,
            _ if self.sampled => prices::cheapest(groups, request.dispatches),
            _ => Way::Ranges,
        };
        // Without a choice nothing was measured: all passes cost the same, so the fewest are the cheapest.
        let price = if self.sampled { prices::each(way, groups, request.dispatches) } else { Duration::ZERO };
        let repeat = request.repeat.max(1) as usize;
        let passes = std::iter::repeat_n(&group, repeat).flatten().zip(0..).map(|(counters, index)| PlannedPass {
            index,
            counters: counters.clone(),
            way,
            price,
        });
        Ok(Plan { passes: passes.collect() })
    }

    fn block_id(&self, counter: &Counter) -> u32 {
        self.block(counter.block).map_or(u32::MAX, |block| block.id)
    }

    /// The counters and metrics that names stand for, each once, in the request's order.
    fn resolve(&self, names: &[String]) -> Result<(Vec<Counter>, Vec<&Metric>), PlanError> {
        let mut counters: Vec<Counter> = Vec::new();
        let mut metrics: Vec<&Metric> = Vec::new();
        for name in names {
            let single = [name.as_str()];
            let members = self.sets.iter().find(|set| set.name == name).map_or(&single[..], |set| &set.members);
            for member in members {
                let needed: Vec<Counter> = if let Some(metric) = self.metric(member) {
                    if !metrics.iter().any(|known| known.name == metric.name) {
                        metrics.push(metric);
                    }
                    metric.expression.names().into_iter().filter_map(|name| self.counter(name)).copied().collect()
                } else if let Some(counter) = self.counter(member) {
                    vec![*counter]
                } else {
                    return Err(PlanError::Unknown { name: name.clone(), near: near_names(name, self.names()) });
                };
                for counter in needed {
                    if !counters.contains(&counter) {
                        counters.push(counter);
                    }
                }
            }
        }
        Ok((counters, metrics))
    }

    /// Every name that a request may hold.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let counters = self.counters.iter().map(|counter| counter.name);
        let metrics = self.metrics.iter().map(|metric| metric.name);
        counters.chain(metrics).chain(self.sets.iter().map(|set| set.name))
    }
}

fn planned(name: &str, block: &str, unit: &str) -> PlannedCounter {
    PlannedCounter { name: Arc::from(name), block: Arc::from(block), unit: Arc::from(unit) }
}

/// One counter on the chips that have it.
struct Row {
    name: &'static str,
    block: &'static str,
    /// Event numbers by chip column; [`NO`] where the chip has no such event.
    events: [u16; 3],
    unit: &'static str,
    description: &'static str,
}

/// No such event.
const NO: u16 = u16::MAX;

impl Row {
    fn on(&self, column: usize) -> Option<Counter> {
        let event = self.events[column];
        (event != NO).then_some(Counter {
            name: self.name,
            block: self.block,
            event: u32::from(event),
            unit: self.unit,
            description: self.description,
        })
    }
}

const fn row(
    name: &'static str,
    block: &'static str,
    events: [u16; 3],
    unit: &'static str,
    description: &'static str,
) -> Row {
    Row { name, block, events, unit, description }
}

#[cfg(test)]
#[path = "../catalogue_tests.rs"]
mod tests;
