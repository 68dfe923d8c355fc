//! Following graphs from their instantiation to their end.

use super::super::{Interceptor, locked};
use super::node::{Known, Work, copy, kernel, set};
use super::walk::{reads_what_it_writes, walk, walk_within};
use super::{Plan, Step, UNKNOWN};
use crate::tables::callback::CallbackData;
use crate::tables::graph_structs::*;
use crate::tables::{Function, Graph, GraphExec, GraphNode};
use std::ffi::c_void;

/// What a call does to a graph that can be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interceptor) enum Change {
    /// Makes it.
    Instantiate,
    /// Gives it the parameters of another graph of the same shape.
    Update,
    /// Changes a kernel node; `true`: by the first version of its structure.
    Kernel(bool),
    /// Changes a copy node.
    Copy,
    /// Changes a memset node.
    Set,
    /// Changes a child graph.
    Child,
    /// Changes a node by a description of any kind.
    Any,
    /// Leaves a node out, or takes it in again.
    Enable,
}

impl Interceptor {
    /// *Exit* of a call that changes a graph, when it succeeded.
    pub(in crate::interceptor) fn graph_changed(&self, data: &CallbackData, change: Change) {
        let p = data.parameters;
        match change {
            Change::Instantiate => {
                // SAFETY: CUPTI hands the parameters of the function that the change belongs to.
                let p = unsafe { p.cast::<InstantiateParams>().read() };
                if p.exec.is_null() {
                    return;
                }
                // SAFETY: the driver has just written its result there.
                let exec = unsafe { p.exec.read() };
                let plan = self.walk(data, p.graph);
                locked(&self.graphs).0.insert(exec, plan);
            }
            Change::Update => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<ExecGraphParams>().read() };
                let plan = self.walk(data, p.graph);
                locked(&self.graphs).0.entry(p.exec).or_default().update(plan);
            }
            Change::Enable => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<EnableNodeParams>().read() };
                if let Some(plan) = locked(&self.graphs).0.get_mut(&p.exec) {
                    plan.enable(p.node, p.enabled != 0);
                }
            }
            Change::Child => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<ExecNodeParams>().read() };
                self.child_changed(data, &p);
            }
            Change::Kernel(_) | Change::Copy | Change::Set | Change::Any => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<ExecNodeParams>().read() };
                // Made before the lock is taken: the driver is asked, and so is what is known of memory.
                let work = self.with_known(data, |known| changed_work(known, change, p.params));
                self.change(p.exec, p.node, |step| {
                    match (&step.work, work?) {
                        // Attributes stay what they were.
                        (Work::Kernel { launch: before, .. }, Work::Kernel { function, mut launch }) => {
                            launch.attributes.clone_from(&before.attributes);
                            step.work = Work::Kernel { function, launch };
                        }
                        (_, work) => step.work = work,
                    }
                    Ok(())
                });
            }
        }
    }

    /// *Enter* of `cuGraphExecDestroy`.
    pub(in crate::interceptor) fn graph_destroyed(&self, data: &CallbackData) {
        // SAFETY: the function has the graph first.
        let exec = unsafe { data.parameters.cast::<GraphExec>().read() };
        locked(&self.graphs).0.remove(&exec);
    }

    fn child_changed(&self, data: &CallbackData, p: &ExecNodeParams) {
        let around = locked(&self.graphs).0.get(&p.exec).and_then(|plan| plan.around(p.node));
        // For this kind of node the third parameter is a graph.
        let graph = Graph(p.params.cast_mut());
        let steps = match around {
            Some(around) if !self.capturing() => self.with_known(data, |known| walk_within(known, graph, &around)),
            _ => None,
        };
        let mut graphs = locked(&self.graphs);
        let Some(plan) = graphs.0.get_mut(&p.exec) else { return };
        if steps.and_then(|steps| plan.replace(p.node, steps)).is_none() {
            plan.refuse("changed child graph");
        }
        if reads_what_it_writes(&plan.steps) {
            plan.refuse("copy from the host of what the graph copied there");
        }
    }

    fn walk(&self, data: &CallbackData, graph: Graph) -> Plan {
        // Functions may have to be loaded, which nothing may do while a stream is captured; and what their modules hold is told to
        // the engine.
        if self.capturing() || self.context(data.context).drive(self).is_none() {
            return Plan::unrecordable("undescribed");
        }
        self.with_known(data, |known| walk(known, graph))
    }

    fn with_known<T>(&self, data: &CallbackData, work: impl FnOnce(&Known<'_>) -> T) -> T {
        let _depth = crate::agent::Depth::enter();
        let state = self.context(data.context);
        let function = |function: Function| {
            let name = || self.driver.function_name(function).map_or_else(|_| "unknown kernel".into(), Into::into);
            state.functions.get(&state, &self.driver, function, name)
        };
        let place = |address| self.place(data.context, address);
        work(&Known { driver: &self.driver, context: data.context, function: &function, place: &place })
    }

    fn change(&self, exec: GraphExec, node: GraphNode, change: impl FnOnce(&mut Step) -> Result<(), &'static str>) {
        let mut graphs = locked(&self.graphs);
        let Some(plan) = graphs.0.get_mut(&exec) else { return };
        let changed = plan.step(node).ok_or(UNKNOWN).and_then(change);
        if let Err(why) = changed {
            plan.refuse(why);
        }
    }
}

/// What a node does from now on.
fn changed_work(known: &Known<'_>, change: Change, params: *const c_void) -> Result<Work, &'static str> {
    if params.is_null() {
        return Err("changed and undescribed");
    }
    match change {
        Change::Kernel(false) => {
            // SAFETY: the program hands a structure of this kind to the driver, which has read it.
            kernel(known, &unsafe { params.cast::<KernelNodeParams>().read() }, Vec::new())
        }
        Change::Kernel(true) => {
            // SAFETY: as above.
            let p = unsafe { params.cast::<KernelNodeParamsV1>().read() };
            kernel(known, &p.into(), Vec::new())
        }
        // SAFETY: as above.
        Change::Copy => copy(known, &unsafe { params.cast::<CopyNodeParams>().read() }),
        // SAFETY: as above.
        Change::Set => set(known, &unsafe { params.cast::<SetNodeParams>().read() }),
        Change::Any => {
            // SAFETY: as above: every description begins with its kind, in a structure of 256 bytes.
            let p = unsafe { params.cast::<AnyNodeParams>().read() };
            match p.kind {
                node_kind::KERNEL => kernel(known, &p.kernel, Vec::new()),
                _ => Err("changed"),
            }
        }
        Change::Instantiate | Change::Update | Change::Child | Change::Enable => Err("changed"),
    }
}
