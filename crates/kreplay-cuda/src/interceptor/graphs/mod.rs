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
        self.steps.push(Step { node: GraphNode::NULL, enabled: true, work: Work::Unrecordable(why) });
    }

    fn step(&mut self, node: GraphNode) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.node == node)
    }

    fn has_kernels(&self) -> bool {
        self.steps.iter().any(|step| step.enabled && matches!(step.work, Work::Kernel { .. }))
    }
}
