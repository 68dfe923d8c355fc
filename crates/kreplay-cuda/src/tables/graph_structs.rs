//! Structures of CUDA graphs, and the parameters of functions about them as callbacks see them.

use super::abi::plain_struct;
use super::{Context, Function, Graph, GraphExec, GraphNode};
use std::ffi::c_void;

/// Kinds of nodes.
pub(crate) mod node_kind {
    pub(crate) const KERNEL: u32 = 0;
    pub(crate) const COPY: u32 = 1;
    pub(crate) const SET: u32 = 2;
    pub(crate) const GRAPH: u32 = 4;
    pub(crate) const EMPTY: u32 = 5;
    pub(crate) const ALLOCATION: u32 = 10;
    pub(crate) const FREE: u32 = 11;

    /// What a node of another kind is called.
    pub(crate) fn name(kind: u32) -> &'static str {
        match kind {
            KERNEL => "kernel",
            COPY => "copy",
            SET => "memset",
            3 => "host function",
            GRAPH => "child graph",
            EMPTY => "empty",
            6 => "event wait",
            7 => "event record",
            8 => "semaphore signal",
            9 => "semaphore wait",
            ALLOCATION => "memory allocation",
            FREE => "memory free",
            12 => "stream memory operation",
            13 => "conditional",
            _ => "unknown",
        }
    }
}

/// Kinds of memory in a copy's description.
pub(crate) mod memory_kind {
    pub(crate) const HOST: u32 = 1;
    pub(crate) const DEVICE: u32 = 2;
    pub(crate) const UNIFIED: u32 = 4;
}

plain_struct! {
    /// `CUDA_KERNEL_NODE_PARAMS_v2` (and `_v3`, the same layout). The first version ends before `kernel`.
    KernelNodeParams: 72 {
        function @ 0: Function,
        grid @ 8: [u32; 3],
        block @ 20: [u32; 3],
        shared @ 32: u32,
        arguments @ 40: *mut *mut c_void,
        extra @ 48: *mut *mut c_void,
        kernel @ 56: Function,
        context @ 64: Context,
    }
}

plain_struct! {
    /// `CUDA_KERNEL_NODE_PARAMS_v1`.
    KernelNodeParamsV1: 56 {
        function @ 0: Function,
        grid @ 8: [u32; 3],
        block @ 20: [u32; 3],
        shared @ 32: u32,
        arguments @ 40: *mut *mut c_void,
        extra @ 48: *mut *mut c_void,
    }
}

impl From<KernelNodeParamsV1> for KernelNodeParams {
    fn from(p: KernelNodeParamsV1) -> Self {
        Self {
            function: p.function,
            grid: p.grid,
            block: p.block,
            shared: p.shared,
            arguments: p.arguments,
            extra: p.extra,
            kernel: Function::NULL,
            context: Context::NULL,
        }
    }
}

plain_struct! {
    /// `CUDA_MEMCPY3D`.
    CopyNodeParams: 200 {
        from_x @ 0: usize,
        from_y @ 8: usize,
        from_z @ 16: usize,
        from_level @ 24: usize,
        from_kind @ 32: u32,
        from_host @ 40: u64,
        from_device @ 48: u64,
        from_array @ 56: *mut c_void,
        from_reserved @ 64: *mut c_void,
        from_pitch @ 72: usize,
        from_height @ 80: usize,
        to_x @ 88: usize,
        to_y @ 96: usize,
        to_z @ 104: usize,
        to_level @ 112: usize,
        to_kind @ 120: u32,
        to_host @ 128: u64,
        to_device @ 136: u64,
        to_array @ 144: *mut c_void,
        to_reserved @ 152: *mut c_void,
        to_pitch @ 160: usize,
        to_height @ 168: usize,
        width @ 176: usize,
        height @ 184: usize,
        depth @ 192: usize,
    }
}

plain_struct! {
    /// `CUDA_MEMSET_NODE_PARAMS`.
    SetNodeParams: 40 {
        to @ 0: u64,
        pitch @ 8: usize,
        value @ 16: u32,
        element @ 20: u32,
        width @ 24: usize,
        height @ 32: usize,
    }
}

plain_struct! {
    /// `CUDA_MEM_ALLOC_NODE_PARAMS`: properties of a pool, who may use the memory, and what was allocated.
    AllocationNodeParams: 120 {
        pool @ 0: [u64; 11],
        access @ 88: *const c_void,
        access_count @ 96: usize,
        bytes @ 104: usize,
        pointer @ 112: u64,
    }
}

plain_struct! {
    /// `CUgraphEdgeData`: what ports an edge goes between, and its type.
    EdgeData: 8 {
        bytes @ 0: [u8; 8],
    }
}

plain_struct! {
    /// All forms of `cuGraphInstantiate`, as far as they are the same.
    InstantiateParams: 16 {
        exec @ 0: *const GraphExec,
        graph @ 8: Graph,
    }
}

plain_struct! {
    /// `cuGraphExecUpdate` in both versions, as far as they are the same, and `cuGraphExecDestroy`.
    ExecGraphParams: 16 {
        exec @ 0: GraphExec,
        graph @ 8: Graph,
    }
}

plain_struct! {
    /// `cuGraphExecKernelNodeSetParams` in both versions, and its likes for other kinds of nodes.
    ExecNodeParams: 24 {
        exec @ 0: GraphExec,
        node @ 8: GraphNode,
        params @ 16: *const c_void,
    }
}

plain_struct! {
    /// `cuGraphNodeSetEnabled`.
    EnableNodeParams: 24 {
        exec @ 0: GraphExec,
        node @ 8: GraphNode,
        enabled @ 16: u32,
        padding @ 20: u32,
    }
}

plain_struct! {
    /// The beginning of `CUgraphNodeParams`: the kind, and a kernel's parameters where it is one.
    AnyNodeParams: 88 {
        kind @ 0: u32,
        reserved @ 4: [u32; 3],
        kernel @ 16: KernelNodeParams,
    }
}
