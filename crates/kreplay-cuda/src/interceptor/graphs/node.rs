//! What a node does, in a form that can be done again.

use super::super::call::Call;
use super::super::code::FunctionInfo;
use super::super::copies::{Copied, Place, Ranges, copies, sets};
use crate::agent::{CudaWork, Launch};
use crate::tables::driver_structs::{LaunchAttribute, attribute};
use crate::tables::graph_structs::{CopyNodeParams, KernelNodeParams, SetNodeParams};
use crate::tables::{Context, Driver, Function, GraphNode, Stream};
use std::sync::Arc;

/// See the module.
pub(super) enum Work {
    /// Launches a kernel.
    Kernel { function: Arc<FunctionInfo>, launch: Launch },
    /// Changes device memory from device memory alone.
    Device(Vec<CudaWork>),
    /// Copies what the host has there when the graph is launched: to, from, bytes.
    Upload(Vec<(u64, u64, u64)>),
    /// Copies to these ranges of the host: done once, by the program.
    ToHost(Ranges),
    /// What nobody can do again, in words.
    Unrecordable(&'static str),
}

impl From<Copied> for Work {
    fn from(copied: Copied) -> Self {
        match copied {
            Copied::Device(works) => Self::Device(works),
            Copied::Upload(rows) => Self::Upload(rows),
            Copied::ToHost(ranges) => Self::ToHost(ranges),
        }
    }
}

/// What is asked about the program while a graph is looked at.
pub(super) struct Known<'a> {
    pub(super) driver: &'a Driver,
    pub(super) context: Context,
    pub(super) function: &'a dyn Fn(Function) -> Arc<FunctionInfo>,
    pub(super) place: &'a dyn Fn(u64) -> Place,
}

/// Attributes that a launch keeps; the others order it among launches.
const KEPT: [u32; 6] = [
    attribute::COOPERATIVE,
    attribute::CLUSTER_DIMENSION,
    attribute::CLUSTER_POLICY,
    attribute::PRIORITY,
    attribute::MEMORY_DOMAIN,
    attribute::PREFERRED_CLUSTER,
];

/// The attributes of a kernel node.
///
/// # Errors
/// Why it cannot be run again.
pub(super) fn attributes(driver: &Driver, node: GraphNode) -> Result<Vec<LaunchAttribute>, &'static str> {
    if driver.node_attribute(node, attribute::DEVICE_UPDATABLE_NODE).is_some_and(|found| found.value[0] as u32 != 0) {
        return Err("device-updatable kernel");
    }
    Ok(KEPT.iter().filter_map(|id| driver.node_attribute(node, *id)).collect())
}

/// A kernel node's launch.
///
/// # Errors
/// Why it cannot be run again.
pub(super) fn kernel(
    known: &Known<'_>,
    params: &KernelNodeParams,
    attributes: Vec<LaunchAttribute>,
) -> Result<Work, &'static str> {
    if !params.context.is_null() && params.context != known.context {
        return Err("kernel of another context");
    }
    let handle = if params.function.is_null() { params.kernel } else { params.function };
    if handle.is_null() {
        return Err("kernel without a function");
    }
    let function = (known.function)(handle);
    let call = Call {
        function: handle,
        grid: params.grid,
        block: params.block,
        shared: params.shared,
        stream: Stream::NULL,
        arguments: params.arguments,
        extra: params.extra,
        attributes,
    };
    let Some((arguments, form)) = call.packed_arguments(known.driver, &function) else {
        return Err("kernel with unknown arguments");
    };
    Ok(Work::Kernel { function, launch: call.launch(arguments, form) })
}

/// The driver takes a copy without rows for nothing. Of a node none was seen, and what it would do is not known.
const NO_ROWS: &str = "copy or memset without rows";

/// What a copy node does.
///
/// # Errors
/// Why it cannot be done again.
pub(super) fn copy(known: &Known<'_>, params: &CopyNodeParams) -> Result<Work, &'static str> {
    if params.height == 0 || params.depth == 0 {
        return Err(NO_ROWS);
    }
    copies(params, known.place).map(Work::from)
}

/// What a memset node does.
///
/// # Errors
/// Why it cannot be done again.
pub(super) fn set(known: &Known<'_>, params: &SetNodeParams) -> Result<Work, &'static str> {
    if params.height == 0 {
        return Err(NO_ROWS);
    }
    sets(params, known.place).map(Work::from)
}
