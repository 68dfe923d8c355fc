//! Graph launches: many kernels and memory operations that the program submits as one.
//!
//! In a batch window pass 0 is the program's own graph launch, whole. The replays run the nodes one by one, in an order
//! that keeps to the graph's edges, and are counted node by node; so every counted pass is a replay.

use super::group::{Member, Part};
use super::open_batch::OpenBatch;
use super::{Engine, Refusal, RunGuard};
use crate::{Agent, ClosingReason, Decline, DispatchId, DispatchInfo, Phases};
use std::sync::Arc;
use std::time::Duration;

/// A node of a graph that is launched.
pub enum GraphNode<'a, W> {
    /// A kernel: a dispatch of its own.
    Kernel(Member<'a, W>),
    /// A memory operation that can be done again: the closure makes what does it, or `None` when it cannot after all.
    Operation {
        /// Its kind, in words: `memset`, `copy`, …
        kind: &'static str,
        /// Host memory that is kept for it, in bytes.
        bytes: u64,
        /// Makes what the agent can submit again.
        record: Box<dyn FnOnce() -> Option<W> + 'a>,
    },
    /// What nobody can run again; its kind, in words: `host function`, `conditional`, …
    Unrecordable(&'static str),
}

impl<A: Agent> Engine<A> {
    /// A graph is about to be launched: hold the guard until it was. `nodes` are all of its nodes that do anything, in a
    /// serial order that keeps to its edges. Those that do nothing (empty nodes, events) are left out.
    ///
    /// A batch window records the nodes; each kernel that is selected is a dispatch. A graph with a node that cannot be
    /// recorded runs as it is, outside of windows; then its selected kernels decline with `graph_launch`, and the detail
    /// names the node's kind.
    pub fn dispatch_graph(self: &Arc<Self>, nodes: Vec<GraphNode<'_, A::Work>>) -> RunGuard<A> {
        let start = self.process.elapsed();
        let selected: Vec<Option<DispatchId>> = nodes
            .iter()
            .map(|node| match node {
                GraphNode::Kernel(member) => self.select(&member.info.kernel),
                GraphNode::Operation { .. } | GraphNode::Unrecordable(_) => None,
            })
            .collect();
        let dispatches: Vec<(DispatchId, DispatchInfo)> = nodes
            .iter()
            .zip(&selected)
            .filter_map(|(node, selected)| match node {
                GraphNode::Kernel(member) => selected.map(|id| (id, member.info.clone())),
                _ => None,
            })
            .collect();
        if dispatches.is_empty() && self.open_batch_now() != OpenBatch::Recording {
            return self.graph_outside();
        }
        match self.record_graph(start, nodes, &selected) {
            Ok(guard) => guard,
            Err(refusal) => {
                for (id, info) in &dispatches {
                    let refusal = Refusal::new(refusal.reason, &refusal.detail);
                    self.declined(*id, start, info, self.plan.passes.len() as u32, Phases::default(), refusal);
                }
                self.graph_outside()
            }
        }
    }

    /// The guard of a graph launch that no window holds.
    fn graph_outside(&self) -> RunGuard<A> {
        // A window that counts in line could not tell the graph's kernels from its own.
        self.unseen(self.apart(ClosingReason::Launch))
    }

    fn record_graph(
        self: &Arc<Self>,
        start: Duration,
        nodes: Vec<GraphNode<'_, A::Work>>,
        selected: &[Option<DispatchId>],
    ) -> Result<RunGuard<A>, Refusal> {
        let refused = |detail: String| Refusal::new(Decline::GraphLaunch, detail);
        if self.gate.entered() {
            return Err(Decline::Reentrant.into());
        }
        if !self.batches() {
            return Err(refused("graphs are replayed in batch windows only, and these are not in use".into()));
        }
        let kept = nodes.iter().map(|node| if let GraphNode::Operation { bytes, .. } = node { *bytes } else { 0 });
        let (kept, most) = (kept.fold(0, u64::saturating_add), self.process.settings.batch.bytes);
        if kept > most {
            // Before anything is copied.
            return Err(refused(format!("it copies {kept} bytes from the host, and a window keeps {most}")));
        }
        let mut passes = None;
        let mut parts = Vec::with_capacity(nodes.len());
        for (node, selected) in nodes.into_iter().zip(selected) {
            let member = match node {
                GraphNode::Unrecordable(kind) => {
                    return Err(refused(format!("a {kind} node cannot be recorded")));
                }
                GraphNode::Operation { kind, bytes, record } => {
                    let work = record().ok_or_else(|| refused(format!("a {kind} node cannot be recorded")))?;
                    parts.push(Part::Operation(work, bytes));
                    continue;
                }
                GraphNode::Kernel(member) => member,
            };
            let kernel = Arc::clone(&member.info.kernel.name);
            let alone = |reason: Decline| refused(format!("the kernel node {kernel} declines: {reason}"));
            if let Some(reason) = self.unrecordable(&member.info) {
                return Err(alone(reason));
            }
            if member.info.traits.own_window {
                return Err(refused(format!("the kernel node {kernel} needs a window of its own")));
            }
            if selected.is_some() {
                let judged = self.judge(&member.info).map_err(|refusal| match refusal.reason {
                    Decline::AgentLost => refusal,
                    reason => alone(reason),
                })?;
                let wanted = self.replays(judged).filter(|judged| passes.is_none_or(|passes| passes == *judged));
                passes =
                    Some(wanted.ok_or_else(|| refused("not all of its kernels are replayed equally often".into()))?);
            }
            let work = (member.record)().map_err(alone)?;
            parts.push(Part::Launch(work, member.info, *selected));
        }
        self.fits_together(&parts).map_err(refused)?;
        self.record_together(start, parts, passes)
    }
}
