//! Graphs of the fake driver: descriptions only; a test runs what they stand for itself.

use super::driver::{functions, put};
use super::world;
use crate::tables::graph_structs::{
    AllocationNodeParams, CopyNodeParams, EdgeData, KernelNodeParams, SetNodeParams, memory_kind, node_kind,
};
use crate::tables::{Context, Function};
use std::ffi::{c_char, c_void};

const INVALID_VALUE: i32 = 1;

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A kernel with these arguments of 8 bytes.
    Kernel { function: u64, arguments: Vec<u64> },
    /// A copy of one row between these; the program's memory where `to_host`, else the device's.
    Copy { to: u64, from: u64, bytes: usize, from_host: bool, to_host: bool },
    /// A memset of bytes.
    Set { to: u64, value: u8, count: usize },
    /// The nodes of another graph.
    Graph(u64),
    /// An allocation of these bytes there.
    Allocation { base: u64, bytes: usize },
    /// A free of what is there.
    Free(u64),
    /// Anything else, by its kind.
    Other(u32),
}

fn handle() -> u64 {
    let mut world = world();
    world.next_handle += 0x10;
    0xD000_0000 + world.next_handle
}

/// A new graph.
pub(crate) fn add_graph() -> u64 {
    let graph = handle();
    world().graphs.insert(graph, Vec::new());
    graph
}

/// Adds a node to a graph, after others.
pub(crate) fn add_node(graph: u64, node: Node, after: &[u64]) -> u64 {
    let added = handle();
    let mut world = world();
    world.nodes.insert(added, (node, after.to_vec()));
    // The driver gives nodes in any order: the last one first.
    world.graphs.entry(graph).or_default().insert(0, added);
    added
}

/// The address of a function of these, or null.
pub(super) fn find(name: &str) -> *mut c_void {
    match name {
        "cuGraphGetNodes" => cuGraphGetNodes as *mut c_void,
        "cuGraphNodeGetDependencies_v2" => cuGraphNodeGetDependencies_v2 as *mut c_void,
        "cuGraphNodeGetType" => cuGraphNodeGetType as *mut c_void,
        "cuGraphKernelNodeGetParams_v2" => cuGraphKernelNodeGetParams_v2 as *mut c_void,
        "cuGraphMemcpyNodeGetParams" => cuGraphMemcpyNodeGetParams as *mut c_void,
        "cuGraphMemsetNodeGetParams" => cuGraphMemsetNodeGetParams as *mut c_void,
        "cuGraphChildGraphNodeGetGraph" => cuGraphChildGraphNodeGetGraph as *mut c_void,
        "cuGraphMemAllocNodeGetParams" => cuGraphMemAllocNodeGetParams as *mut c_void,
        "cuGraphMemFreeNodeGetParams" => cuGraphMemFreeNodeGetParams as *mut c_void,
        "cuStreamIsCapturing" => cuStreamIsCapturing as *mut c_void,
        "cuFuncGetName" => cuFuncGetName as *mut c_void,
        _ => std::ptr::null_mut(),
    }
}

fn list(found: &[u64], nodes: *mut u64, count: *mut usize) -> i32 {
    if !nodes.is_null() {
        for (at, node) in found.iter().enumerate() {
            put(nodes.wrapping_add(at), *node);
        }
    }
    put(count, found.len());
    0
}

fn node(handle: u64) -> Option<Node> {
    world().nodes.get(&handle).map(|(node, _)| node.clone())
}

/// The parameters of a kernel node, which own their arguments: they are never freed, as the driver's live with the node.
pub(crate) fn kernel_params(function: u64, arguments: &[u64]) -> KernelNodeParams {
    let values: &'static mut [u64] = Box::leak(arguments.to_vec().into_boxed_slice());
    let pointers: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
    KernelNodeParams {
        function: Function(function as *mut c_void),
        grid: [2, 1, 1],
        block: [32, 1, 1],
        shared: 0,
        arguments: Box::leak(pointers.into_boxed_slice()).as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kernel: Function::NULL,
        context: Context::NULL,
    }
}

functions! {
    fn cuStreamIsCapturing(stream: u64, status: *mut u32) {
        put(status, u32::from(world().captured.contains(&stream)));
        0
    }
    fn cuGraphGetNodes(graph: u64, nodes: *mut u64, count: *mut usize) {
        let found = world().graphs.get(&graph).cloned();
        found.map_or(INVALID_VALUE, |found| list(&found, nodes, count))
    }
    fn cuGraphNodeGetDependencies_v2(node: u64, nodes: *mut u64, _edges: *mut EdgeData, count: *mut usize) {
        let found = world().nodes.get(&node).map(|(_, after)| after.clone());
        found.map_or(INVALID_VALUE, |found| list(&found, nodes, count))
    }
    fn cuGraphNodeGetType(handle: u64, kind: *mut u32) {
        let Some(node) = node(handle) else { return INVALID_VALUE };
        put(kind, match node {
            Node::Kernel { .. } => node_kind::KERNEL,
            Node::Copy { .. } => node_kind::COPY,
            Node::Set { .. } => node_kind::SET,
            Node::Graph(_) => node_kind::GRAPH,
            Node::Allocation { .. } => node_kind::ALLOCATION,
            Node::Free(_) => node_kind::FREE,
            Node::Other(kind) => kind,
        });
        0
    }
    fn cuGraphKernelNodeGetParams_v2(handle: u64, params: *mut KernelNodeParams) {
        let Some(Node::Kernel { function, arguments }) = node(handle) else { return INVALID_VALUE };
        put(params, kernel_params(function, &arguments));
        0
    }
    fn cuGraphMemcpyNodeGetParams(handle: u64, params: *mut CopyNodeParams) {
        let Some(Node::Copy { to, from, bytes, from_host, to_host }) = node(handle) else { return INVALID_VALUE };
        // SAFETY: numbers and pointers, for which zeroes are values.
        let mut found: CopyNodeParams = unsafe { std::mem::zeroed() };
        let kind = |host| if host { memory_kind::HOST } else { memory_kind::DEVICE };
        (found.from_kind, found.to_kind) = (kind(from_host), kind(to_host));
        (found.from_host, found.from_device, found.to_host, found.to_device) = (from, from, to, to);
        (found.width, found.height, found.depth) = (bytes, 1, 1);
        put(params, found);
        0
    }
    fn cuGraphMemsetNodeGetParams(handle: u64, params: *mut SetNodeParams) {
        let Some(Node::Set { to, value, count }) = node(handle) else { return INVALID_VALUE };
        put(params, SetNodeParams { to, pitch: 0, value: u32::from(value), element: 1, width: count, height: 1 });
        0
    }
    fn cuGraphChildGraphNodeGetGraph(handle: u64, graph: *mut u64) {
        let Some(Node::Graph(child)) = node(handle) else { return INVALID_VALUE };
        put(graph, child);
        0
    }
    fn cuGraphMemAllocNodeGetParams(handle: u64, params: *mut AllocationNodeParams) {
        let Some(Node::Allocation { base, bytes }) = node(handle) else { return INVALID_VALUE };
        put(params, AllocationNodeParams { pool: [0; 11], access: std::ptr::null(), access_count: 0, bytes, pointer: base });
        0
    }
    fn cuGraphMemFreeNodeGetParams(handle: u64, pointer: *mut u64) {
        let Some(Node::Free(base)) = node(handle) else { return INVALID_VALUE };
        put(pointer, base);
        0
    }
    fn cuFuncGetName(name: *mut *const c_char, function: u64) {
        let found = world().functions.get(&function).map(|(name, _, _)| name.clone());
        let Some(found) = found.and_then(|found| std::ffi::CString::new(found).ok()) else { return INVALID_VALUE };
        put(name, found.into_raw().cast_const());
        0
    }
}
