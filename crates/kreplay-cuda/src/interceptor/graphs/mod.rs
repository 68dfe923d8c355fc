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
use node::Work;
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of every graph that can be launched.
#[derive(Default)]
pub(super) struct Graphs(HashMap<GraphExec, Plan>);

/// A graph's nodes in an order that they may run in, one at a time.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
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

    fn step(&mut self, node: GraphNode) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.node == node)
    }

    /// What is within a node for a child graph is replaced by these. `None` when nothing is there that could be.
    fn replace(&mut self, node: GraphNode, steps: Vec<Step>) -> Option<()> {
        let inside = |step: &Step| step.within.contains(&node);
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

    fn has_kernels(&self) -> bool {
        self.steps.iter().any(|step| step.enabled && matches!(step.work, Work::Kernel { .. }))
    }
}
