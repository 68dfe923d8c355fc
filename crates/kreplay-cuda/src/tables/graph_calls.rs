//! Questions about CUDA graphs. All of these only read descriptions that the driver keeps on the host.

use super::driver_structs::LaunchAttribute;
use super::graph_structs::{AllocationNodeParams, CopyNodeParams, EdgeData, KernelNodeParams, SetNodeParams};
use super::{CudaError, Driver, Function, Graph, GraphNode, Stream};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Calls an optional function of the table; a driver that does not have it answers so.
macro_rules! ask {
    ($self:ident, $function:ident($($arg:expr),*)) => {
        match $self.table().$function {
            // SAFETY: outputs are locals with room for what is asked, and the driver checks the handles.
            Some(function) => $self.check(stringify!($function), unsafe { function($($arg),*) }),
            None => Err(super::driver_calls::absent(stringify!($function))),
        }
    };
}

impl Driver {
    /// Whether work that is submitted to a stream is captured instead of run. May be asked within a capture.
    pub(crate) fn is_capturing(&self, stream: Stream) -> Result<bool, CudaError> {
        let mut status = 0;
        ask!(self, cuStreamIsCapturing(stream, &mut status))?;
        Ok(status != 0)
    }

    /// The nodes of a graph, in no particular order.
    pub(crate) fn graph_nodes(&self, graph: Graph) -> Result<Vec<GraphNode>, CudaError> {
        let mut count = 0;
        ask!(self, cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count))?;
        let mut nodes = vec![GraphNode::NULL; count];
        if count > 0 {
            ask!(self, cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count))?;
        }
        nodes.truncate(count);
        Ok(nodes)
    }

    /// The nodes that a node comes after.
    pub(crate) fn node_dependencies(&self, node: GraphNode) -> Result<Vec<GraphNode>, CudaError> {
        let (mut count, none) = (0, std::ptr::null_mut());
        ask!(self, cuGraphNodeGetDependencies_v2(node, none, std::ptr::null_mut(), &mut count))?;
        let mut nodes = vec![GraphNode::NULL; count];
        let mut edges = vec![EdgeData { bytes: [0; 8] }; count];
        if count > 0 {
            ask!(self, cuGraphNodeGetDependencies_v2(node, nodes.as_mut_ptr(), edges.as_mut_ptr(), &mut count))?;
        }
        nodes.truncate(count);
        Ok(nodes)
    }

    /// See [`super::graph_structs::node_kind`].
    pub(crate) fn node_kind(&self, node: GraphNode) -> Result<u32, CudaError> {
        let mut kind = u32::MAX;
        ask!(self, cuGraphNodeGetType(node, &mut kind))?;
        Ok(kind)
    }

    /// What a kernel node launches. Its argument bytes belong to the node.
    pub(crate) fn kernel_node(&self, node: GraphNode) -> Result<KernelNodeParams, CudaError> {
        let mut params = MaybeUninit::zeroed();
        ask!(self, cuGraphKernelNodeGetParams_v2(node, params.as_mut_ptr()))?;
        // SAFETY: numbers and handles, for which zeroes are values; the driver has filled them in.
        Ok(unsafe { params.assume_init() })
    }

    /// A launch attribute of a kernel node; `None` where it has no value.
    pub(crate) fn node_attribute(&self, node: GraphNode, id: u32) -> Option<LaunchAttribute> {
        let mut value = [0u64; 8];
        ask!(self, cuGraphKernelNodeGetAttribute(node, id, value.as_mut_ptr())).ok()?;
        (value != [0; 8]).then_some(LaunchAttribute { id, padding: 0, value })
    }

    /// What a copy node copies.
    pub(crate) fn copy_node(&self, node: GraphNode) -> Result<CopyNodeParams, CudaError> {
        let mut params = MaybeUninit::zeroed();
        ask!(self, cuGraphMemcpyNodeGetParams(node, params.as_mut_ptr()))?;
        // SAFETY: as in `kernel_node`.
        Ok(unsafe { params.assume_init() })
    }

    /// What a memset node sets.
    pub(crate) fn set_node(&self, node: GraphNode) -> Result<SetNodeParams, CudaError> {
        let mut params = MaybeUninit::zeroed();
        ask!(self, cuGraphMemsetNodeGetParams(node, params.as_mut_ptr()))?;
        // SAFETY: as in `kernel_node`.
        Ok(unsafe { params.assume_init() })
    }

    /// Where the memory of an allocation's node lies, and its bytes. The address is the node's for good.
    pub(crate) fn allocation_node(&self, node: GraphNode) -> Result<(u64, u64), CudaError> {
        let mut params = MaybeUninit::<AllocationNodeParams>::zeroed();
        ask!(self, cuGraphMemAllocNodeGetParams(node, params.as_mut_ptr()))?;
        // SAFETY: as in `kernel_node`.
        let params = unsafe { params.assume_init() };
        Ok((params.pointer, params.bytes as u64))
    }

    /// What a free's node frees.
    pub(crate) fn free_node(&self, node: GraphNode) -> Result<u64, CudaError> {
        let mut pointer = 0;
        ask!(self, cuGraphMemFreeNodeGetParams(node, &mut pointer))?;
        Ok(pointer)
    }

    /// The graph within a child graph's node.
    pub(crate) fn child_graph(&self, node: GraphNode) -> Result<Graph, CudaError> {
        let mut graph = Graph::NULL;
        ask!(self, cuGraphChildGraphNodeGetGraph(node, &mut graph))?;
        Ok(graph)
    }

    /// The name of a function, or of a kernel of a library.
    pub(crate) fn function_name(&self, function: Function) -> Result<String, CudaError> {
        let mut name = std::ptr::null();
        let asked = ask!(self, cuFuncGetName(&mut name, function));
        asked.or_else(|_| ask!(self, cuKernelGetName(&mut name, function)))?;
        if name.is_null() {
            return Err(super::driver_calls::absent("cuFuncGetName"));
        }
        // SAFETY: the driver's string, which lives as long as the function.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}
