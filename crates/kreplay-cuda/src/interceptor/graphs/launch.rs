//! The launch of a graph.

use super::super::call::{note_stream, stream_of};
use super::super::context::Driven;
use super::super::launch::bare;
use super::super::operations::upload;
use super::super::peers::Beside;
use super::super::pending::{Pending, push};
use super::super::{Interceptor, locked};
use super::Plan;
use super::node::Work;
use crate::agent::{CONTEXTS, CudaWork};
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::GraphLaunchParams;
use crate::tables::{Context, GraphExec, Stream};
use kreplay_engine::{
    Arguments, Decision, Decline, DispatchInfo, Geometry, GraphNode, Member, Region, RegionKind, Traits, Writers,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Interceptor {
    /// *Enter* of a graph launch: its kernels are dispatches, and are recorded one by one.
    pub(in crate::interceptor) fn graph_enter(&self, data: &CallbackData, per_thread: bool) {
        // SAFETY: CUPTI hands the parameters of this function.
        let parameters = unsafe { data.parameters.cast::<GraphLaunchParams>().read() };
        note_stream(parameters.stream, per_thread);
        let stream = stream_of(parameters.stream, per_thread);
        // It is no dispatch where it goes into a capture.
        if self.capturing() && self.is_captured_stream(stream) {
            return;
        }
        let exec = GraphExec(parameters.graph);
        self.graph_allocates(data.context, exec);
        let state = self.context(data.context);
        let (driven, unwaited) = self.engine_now(&state);
        // Of one that nothing is known of, or nothing but that it cannot be recorded, or not now.
        let reason = unwaited.unwrap_or(Decline::GraphLaunch);
        let info = DispatchInfo { stream: stream.raw(), ..bare("CUDA graph".into(), exec.raw(), reason) };
        // Nothing is open beside a capture, and nobody may be waited for where the loader is held.
        let beside = if unwaited.is_none() { self.beside_graph(data.context, stream, exec) } else { Beside::default() };
        let Some(driven) = driven else {
            let selected = unwaited.and_then(|_| self.process.select(state.agent_id(self), &info.kernel));
            return self.without_engine(data, &state, (selected, &info, unwaited), beside);
        };
        let nodes = || {
            let settled = self.graph_sources_settled(exec);
            self.nodes(driven, exec, stream.raw(), settled)
        };
        let nodes = if unwaited.is_none() { nodes() } else { None };
        let guard = match nodes {
            Some(nodes) => driven.engine.dispatch_graph(nodes),
            None => match driven.engine.dispatch(&info, || Err(reason)) {
                Decision::Run(guard) | Decision::Recorded(guard) => guard,
                // It declines, so it has no window.
                Decision::Window(_) => return,
            },
        };
        driven.agent.note_graph();
        if unwaited.is_none() {
            state.has_waited();
        }
        push(data.correlation_id, Pending::run(guard, beside));
    }

    /// What a graph allocates is memory from its launch on, until it is freed: of the graphs' own, which nobody can put back.
    fn graph_allocates(&self, context: Context, exec: GraphExec) {
        let allocated = locked(&self.graphs).0.get(&exec).map(|plan| plan.allocated.clone()).unwrap_or_default();
        for range in allocated.into_iter().filter(|range| range.base != 0 && range.bytes != 0) {
            let known = locked(&self.live).is_at(range.base);
            if !known {
                self.born(Some(context), Region { range, kind: RegionKind::Untracked, writers: Writers::Others });
            }
        }
    }

    /// What keeps windows out of other contexts whose memory a graph may write.
    fn beside_graph(&self, context: Context, stream: Stream, exec: GraphExec) -> Beside {
        if CONTEXTS.load(Ordering::Relaxed) < 2 {
            return Beside::default();
        }
        let arguments = locked(&self.graphs).0.get(&exec).and_then(Plan::arguments);
        match arguments {
            Some(arguments) => self.beside_peers(context, stream, &arguments),
            None => self.beside_all(context, Some(stream)),
        }
    }

    /// Waits until nothing is on its way to what the graph copies from the host. `false` when that takes too long.
    fn graph_sources_settled(&self, exec: GraphExec) -> bool {
        let sources: Vec<(u64, u64)> = {
            let graphs = locked(&self.graphs);
            let steps = graphs.0.get(&exec).map_or(&[][..], |plan| &plan.steps);
            let rows = steps.iter().filter_map(|step| match &step.work {
                Work::Upload(rows) if step.enabled => Some(rows),
                _ => None,
            });
            rows.flatten().map(|(_, from, bytes)| (*from, *bytes)).collect()
        };
        sources.into_iter().all(|(from, bytes)| self.host_settled(from, bytes))
    }

    /// What a graph does, for the engine. `settled`: what it copies from the host is there by now.
    fn nodes(
        &self,
        driven: &Driven,
        exec: GraphExec,
        stream: u64,
        settled: bool,
    ) -> Option<Vec<GraphNode<'static, CudaWork>>> {
        let graphs = locked(&self.graphs);
        let plan = graphs.0.get(&exec)?;
        let refused = plan.steps.iter().any(|step| matches!(step.work, Work::Unrecordable(_)));
        if refused && !plan.has_kernels() {
            return None;
        }
        let mut nodes = Vec::with_capacity(plan.steps.len());
        for step in plan.steps.iter().filter(|step| step.enabled) {
            match &step.work {
                Work::Kernel { function, launch } => {
                    let unrestorable = self.unrestorable(driven, function, Some(&launch.arguments));
                    let info = DispatchInfo {
                        kernel: function.kernel.clone(),
                        geometry: Geometry { groups: launch.grid, items: launch.block },
                        stream,
                        arguments: Arguments::Known(Arc::clone(&launch.arguments)),
                        traits: Traits { unrestorable, collective: function.collective, ..Traits::default() },
                    };
                    let work = CudaWork::Launch(launch.clone());
                    nodes.push(GraphNode::Kernel(Member {
                        info,
                        operation: false,
                        record: Box::new(move || Ok(work)),
                    }));
                }
                Work::Device(works) => nodes.extend(works.iter().cloned().map(within)),
                Work::Upload(_) if !settled => {
                    nodes.push(GraphNode::Unrecordable("copy from the host of what is still being written there"));
                }
                // What is there now is what the launch copies, unless the program changes it before the copy comes.
                Work::Upload(rows) => {
                    nodes.extend(rows.iter().map(|(to, from, bytes)| upload_of(*to, *from, *bytes)));
                }
                Work::ToHost(ranges) => ranges.iter().for_each(|(base, bytes)| self.host_written(*base, *bytes)),
                Work::Unrecordable(kind) => nodes.push(GraphNode::Unrecordable(kind)),
            }
        }
        Some(nodes)
    }
}

/// An operation that needs nothing but device memory.
fn within(work: CudaWork) -> GraphNode<'static, CudaWork> {
    let kind = match work {
        CudaWork::Fill { .. } | CudaWork::FillRows(_) => "memset",
        _ => "copy",
    };
    GraphNode::Operation { kind, bytes: work.bytes(), record: Box::new(move || Some(work)) }
}

/// A copy from the host, whose bytes are saved once it is known that they are wanted.
fn upload_of(to: u64, from: u64, bytes: u64) -> GraphNode<'static, CudaWork> {
    GraphNode::Operation { kind: "copy", bytes, record: Box::new(move || upload(to, from, bytes)) }
}
