//! CUDA graphs: what each holds, node by node, from its instantiation on.
//!
//! CUPTI reports the launch of a graph and nothing of its nodes. So a graph is walked when it is instantiated, while its
//! description is there (programs often destroy it right after), and the changes that are made to it later are followed. A
//! launch is then described to the engine as what its nodes do, one after another.

mod follow;
mod launch;
mod node;
mod walk;

pub(super) use follow::Change;

use crate::tables::{GraphExec, GraphNode};
use kreplay_engine::Range;
use node::Work;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Why a graph is not recorded that has other nodes than those that some were left out of.
const PERHAPS_DISABLED: &str = "perhaps disabled";

/// Why a graph is not recorded of which something was changed that was not seen before.
const UNKNOWN: &str = "changed and unknown";

/// What is known of every graph that can be launched.
#[derive(Default)]
pub(super) struct Graphs(HashMap<GraphExec, Plan>);

/// A graph's nodes in an order that they may run in, one at a time.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    /// Nodes that the program left out, as it named them. They stay left out when everything else is updated.
    disabled: HashSet<GraphNode>,
    /// Memory that it allocates and does not free: whoever comes after its launch may use it.
    allocated: Vec<Range>,
}

/// What a node does.
struct Step {
    node: GraphNode,
    /// The nodes of the graphs that it is within, from the outermost on.
    within: Arc<[GraphNode]>,
    enabled: bool,
    work: Work,
}

impl Plan {
    /// Of a graph that cannot be recorded, whatever it holds.
    fn unrecordable(why: &'static str) -> Self {
        let mut plan = Self::default();
        plan.refuse(why);
        plan
    }

    /// It cannot be recorded any more.
    fn refuse(&mut self, why: &'static str) {
        let work = Work::Unrecordable(why);
        self.steps.push(Step { node: GraphNode::NULL, within: Arc::default(), enabled: true, work });
    }

    /// Takes the parameters of another graph of the same shape. Which of its nodes are those that are left out is not told.
    fn update(&mut self, plan: Plan) {
        (self.steps, self.allocated) = (plan.steps, plan.allocated);
        if !self.disabled.is_empty() {
            self.refuse(PERHAPS_DISABLED);
        }
    }

    /// Leaves a node out, or takes it in again.
    fn enable(&mut self, node: GraphNode, enabled: bool) {
        if enabled {
            self.disabled.remove(&node);
        } else {
            self.disabled.insert(node);
        }
        match self.step(node) {
            Some(step) => step.enabled = enabled,
            None => self.refuse(UNKNOWN),
        }
    }

    fn step(&mut self, node: GraphNode) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.node == node)
    }

    /// What is within a node for a child graph is replaced by these. `None` when nothing is there that could be.
    fn replace(&mut self, node: GraphNode, steps: Vec<Step>) -> Option<()> {
        let inside = |step: &Step| step.within.contains(&node);
        if self.steps.iter().any(|step| inside(step) && !step.enabled) {
            self.refuse(PERHAPS_DISABLED);
        }
        let first = self.steps.iter().position(inside)?;
        let count = self.steps[first..].iter().take_while(|step| inside(step)).count();
        self.steps.splice(first..first + count, steps);
        Some(())
    }

    /// The nodes around what a node for a child graph holds, itself included.
    fn around(&self, node: GraphNode) -> Option<Arc<[GraphNode]>> {
        let within = &self.steps.iter().find(|step| step.within.contains(&node))?.within;
        let depth = within.iter().position(|around| *around == node)? + 1;
        Some(within[..depth].into())
    }

    /// The arguments of all its kernels, one after another; `None` where it may do what is not known. A word at a time is looked at, so each
    /// kernel's begin where one does.
    fn arguments(&self) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for step in self.steps.iter().filter(|step| step.enabled) {
            match &step.work {
                Work::Kernel { launch, .. } => {
                    all.extend_from_slice(&launch.arguments);
                    all.resize(all.len().next_multiple_of(8), 0);
                }
                Work::Device(_) | Work::Upload(_) | Work::ToHost(_) => {}
                Work::Unrecordable(_) => return None,
            }
        }
        Some(all)
    }

    fn has_kernels(&self) -> bool {
        self.steps.iter().any(|step| step.enabled && matches!(step.work, Work::Kernel { .. }))
    }
}
