//! Walking a graph.

use super::node::{Known, Work, attributes, copy, kernel, set};
use super::{Plan, Step};
use crate::tables::graph_structs::node_kind;
use crate::tables::{CudaError, Graph, GraphNode};
use kreplay_engine::Range;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// Graphs within graphs deeper than this are not looked into.
const DEEPEST: usize = 16;

/// What a graph does, in an order that its edges allow. What cannot be done again is a step too, so that the graph's kernels
/// are still known.
pub(super) fn walk(known: &Known<'_>, graph: Graph) -> Plan {
    let mut plan = Plan::default();
    if nodes(known, graph, &mut plan.steps, &[]).is_err() {
        plan.refuse("undescribed");
    }
    if reads_what_it_writes(&plan.steps) {
        plan.refuse("copy from the host of what the graph copied there");
    }
    let allocates =
        |step: &Step| matches!(step.work, Work::Unrecordable(why) if why == node_kind::name(node_kind::ALLOCATION));
    if plan.steps.iter().any(allocates) {
        plan.allocated = allocated(known, graph).unwrap_or_default();
    }
    plan
}

/// Memory that a graph allocates and does not free itself. Graphs within it have none.
fn allocated(known: &Known<'_>, graph: Graph) -> Result<Vec<Range>, CudaError> {
    let (driver, mut allocated, mut freed) = (known.driver, Vec::new(), Vec::new());
    for node in driver.graph_nodes(graph)? {
        match driver.node_kind(node)? {
            node_kind::ALLOCATION => {
                let (base, bytes) = driver.allocation_node(node)?;
                allocated.push(Range::new(base, bytes));
            }
            node_kind::FREE => freed.push(driver.free_node(node)?),
            _ => {}
        }
    }
    allocated.retain(|range| !freed.contains(&range.base));
    Ok(allocated)
}

/// What a graph does that is within these nodes; `None` when the driver does not describe it.
pub(super) fn walk_within(known: &Known<'_>, graph: Graph, within: &[GraphNode]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    nodes(known, graph, &mut steps, within).ok().map(|()| steps)
}

fn nodes(known: &Known<'_>, graph: Graph, steps: &mut Vec<Step>, within: &[GraphNode]) -> Result<(), CudaError> {
    let driver = known.driver;
    let around: Arc<[GraphNode]> = within.into();
    for node in in_order(known, graph)? {
        let work = match driver.node_kind(node)? {
            node_kind::KERNEL => {
                let params = driver.kernel_node(node)?;
                attributes(driver, node).and_then(|attributes| kernel(known, &params, attributes))
            }
            node_kind::COPY => copy(known, &driver.copy_node(node)?),
            node_kind::SET => set(known, &driver.set_node(node)?),
            node_kind::GRAPH if within.len() < DEEPEST => {
                nodes(known, driver.child_graph(node)?, steps, &[within, &[node]].concat())?;
                continue;
            }
            node_kind::EMPTY => continue,
            kind => Err(node_kind::name(kind)),
        };
        let work = work.unwrap_or_else(Work::Unrecordable);
        steps.push(Step { node, within: Arc::clone(&around), enabled: true, work });
    }
    Ok(())
}

/// The nodes of a graph, each after those that it depends on; else in the order of the driver.
fn in_order(known: &Known<'_>, graph: Graph) -> Result<Vec<GraphNode>, CudaError> {
    let nodes = known.driver.graph_nodes(graph)?;
    let places: HashMap<GraphNode, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut waits = vec![0usize; nodes.len()];
    let mut followers = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for before in known.driver.node_dependencies(*node)? {
            if let Some(before) = places.get(&before) {
                waits[at] += 1;
                followers[*before].push(at);
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        waits.iter().enumerate().filter(|(_, waits)| **waits == 0).map(|(at, _)| Reverse(at)).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(nodes[at]);
        for follower in &followers[at] {
            waits[*follower] -= 1;
            if waits[*follower] == 0 {
                ready.push(Reverse(*follower));
            }
        }
    }
    Ok(order)
}

/// Whether something is copied to the device that the graph itself copied to the host: it is not there yet when the launch is
/// recorded.
pub(super) fn reads_what_it_writes(steps: &[Step]) -> bool {
    let written: Vec<(u64, u64)> = steps
        .iter()
        .filter_map(|step| if let Work::ToHost(ranges) = &step.work { Some(ranges) } else { None })
        .flatten()
        .copied()
        .collect();
    let read =
        steps.iter().filter_map(|step| if let Work::Upload(rows) = &step.work { Some(rows) } else { None }).flatten();
    read.into_iter()
        .any(|(_, from, bytes)| written.iter().any(|(base, length)| *from < base + length && *base < from + bytes))
}
