//! Structures of the driver, and the parameters of its functions as callbacks see them.

use super::abi::plain_struct;
use super::{Context, Function, MemoryPool, Stream};
use std::ffi::c_void;

plain_struct! {
    /// `CUlaunchConfig`.
    LaunchConfig: 56 {
        grid @ 0: [u32; 3],
        block @ 12: [u32; 3],
        shared @ 24: u32,
        stream @ 32: Stream,
        attributes @ 40: *const LaunchAttribute,
        attribute_count @ 48: u32,
    }
}

plain_struct! {
    /// `CUlaunchAttribute`: an id, and a value of 64 bytes whose meaning the id gives.
    LaunchAttribute: 72 {
        id @ 0: u32,
        padding @ 4: u32,
        value @ 8: [u64; 8],
    }
}

/// Ids of launch attributes.
pub(crate) mod attribute {
    /// The launch is cooperative.
    pub(crate) const COOPERATIVE: u32 = 2;
    /// Blocks of a cluster.
    pub(crate) const CLUSTER_DIMENSION: u32 = 4;
    /// How clusters are placed.
    pub(crate) const CLUSTER_POLICY: u32 = 5;
    /// Programmatic stream serialisation.
    pub(crate) const PROGRAMMATIC_SERIALIZATION: u32 = 6;
    /// Programmatic event.
    pub(crate) const PROGRAMMATIC_EVENT: u32 = 7;
    /// The launch's priority.
    pub(crate) const PRIORITY: u32 = 8;
    /// The domain of its memory synchronisation.
    pub(crate) const MEMORY_DOMAIN: u32 = 10;
    /// Blocks of a cluster, where they fit.
    pub(crate) const PREFERRED_CLUSTER: u32 = 11;
    /// An event at the launch's completion.
    pub(crate) const COMPLETION_EVENT: u32 = 12;
    /// A node of a device-side graph update.
    pub(crate) const DEVICE_UPDATABLE_NODE: u32 = 13;
}

plain_struct! {
    /// Parameters of `cuLaunchKernel`.
    LaunchKernelParams: 64 {
        function @ 0: Function,
        grid @ 8: [u32; 3],
        block @ 20: [u32; 3],
        shared @ 32: u32,
        stream @ 40: Stream,
        arguments @ 48: *mut *mut c_void,
        extra @ 56: *mut *mut c_void,
    }
}

plain_struct! {
    /// Parameters of `cuLaunchKernelEx`.
    LaunchKernelExParams: 32 {
        config @ 0: *const LaunchConfig,
        function @ 8: Function,
        arguments @ 16: *mut *mut c_void,
        extra @ 24: *mut *mut c_void,
    }
}

plain_struct! {
    /// Parameters of `cuLaunchCooperativeKernel`.
    LaunchCooperativeParams: 56 {
        function @ 0: Function,
        grid @ 8: [u32; 3],
        block @ 20: [u32; 3],
        shared @ 32: u32,
        stream @ 40: Stream,
        arguments @ 48: *mut *mut c_void,
    }
}

plain_struct! {
    /// `cuMemAlloc_v2`.
    MemAllocParams: 16 {
        pointer @ 0: *const u64,
        bytes @ 8: usize,
    }
}

plain_struct! {
    /// `cuMemAllocPitch_v2`.
    MemAllocPitchParams: 40 {
        pointer @ 0: *const u64,
        pitch @ 8: *const usize,
        width @ 16: usize,
        height @ 24: usize,
        element @ 32: u32,
    }
}

plain_struct! {
    /// `cuMemAllocManaged`.
    MemAllocManagedParams: 24 {
        pointer @ 0: *const u64,
        bytes @ 8: usize,
        flags @ 16: u32,
    }
}

plain_struct! {
    /// `cuMemAllocAsync`.
    MemAllocAsyncParams: 24 {
        pointer @ 0: *const u64,
        bytes @ 8: usize,
        stream @ 16: Stream,
    }
}

plain_struct! {
    /// `cuMemAllocFromPoolAsync`.
    MemAllocFromPoolParams: 32 {
        pointer @ 0: *const u64,
        bytes @ 8: usize,
        pool @ 16: *mut c_void,
        stream @ 24: Stream,
    }
}

plain_struct! {
    /// `cuMemPoolDestroy`, and the first parameter of `cuMemPoolTrimTo`.
    PoolParams: 8 {
        pool @ 0: MemoryPool,
    }
}

plain_struct! {
    /// `cuMemPoolSetAttribute` and `cuMemPoolGetAttribute`.
    PoolAttributeParams: 24 {
        pool @ 0: MemoryPool,
        attribute @ 8: u32,
        value @ 16: *mut u64,
    }
}

plain_struct! {
    /// `cuMemFree_v2`, and the first parameter of `cuMemFreeAsync`, `cuIpcCloseMemHandle`, `cuMemFreeHost` and
    /// `cuMemHostUnregister`.
    FreeParams: 8 {
        pointer @ 0: u64,
    }
}

plain_struct! {
    /// `cuMemHostAlloc` and `cuMemAllocHost_v2` (which has no flags), both with a pointer to the pointer.
    HostAllocParams: 16 {
        pointer @ 0: *const u64,
        bytes @ 8: usize,
    }
}

plain_struct! {
    /// `cuMemAllocHost` of old, whose size has 32 bits.
    OldHostAllocParams: 16 {
        pointer @ 0: *const u64,
        bytes @ 8: u32,
    }
}

plain_struct! {
    /// `cuMemHostRegister_v2`.
    HostRegisterParams: 24 {
        pointer @ 0: u64,
        bytes @ 8: usize,
        flags @ 16: u32,
    }
}

plain_struct! {
    /// `cuIpcOpenMemHandle_v2` from its last member: the handle of 64 bytes is passed by value before it.
    IpcOpenParams: 80 {
        pointer @ 0: *const u64,
        handle @ 8: [u64; 8],
        flags @ 72: u32,
    }
}

plain_struct! {
    /// `cuMemMap`.
    MemMapParams: 40 {
        pointer @ 0: u64,
        bytes @ 8: usize,
        offset @ 16: usize,
        handle @ 24: u64,
        flags @ 32: u64,
    }
}

plain_struct! {
    /// `cuMemUnmap`.
    MemUnmapParams: 16 {
        pointer @ 0: u64,
        bytes @ 8: usize,
    }
}

plain_struct! {
    /// `cuMemSetAccess`.
    MemSetAccessParams: 32 {
        pointer @ 0: u64,
        bytes @ 8: usize,
        access @ 16: *const AccessDescription,
        count @ 24: usize,
    }
}

plain_struct! {
    /// `CUmemAccessDesc`: who (kind 1 is a device, with its ordinal) and what (3 is read and write).
    AccessDescription: 12 {
        kind @ 0: u32,
        device @ 4: i32,
        flags @ 8: u32,
    }
}

plain_struct! {
    /// `cuExternalMemoryGetMappedBuffer`; the description's second word is the size.
    MappedBufferParams: 24 {
        pointer @ 0: *const u64,
        memory @ 8: *mut c_void,
        description @ 16: *const [u64; 2],
    }
}

plain_struct! {
    /// `cuModuleUnload`, `cuLibraryUnload`.
    UnloadParams: 8 {
        handle @ 0: *mut c_void,
    }
}

plain_struct! {
    /// `cuFuncSetAttribute`.
    FunctionAttributeParams: 16 {
        function @ 0: u64,
        attribute @ 8: i32,
        value @ 12: i32,
    }
}

plain_struct! {
    /// `cuKernelSetAttribute`.
    KernelAttributeParams: 24 {
        attribute @ 0: i32,
        value @ 4: i32,
        kernel @ 8: u64,
        device @ 16: i32,
    }
}

plain_struct! {
    /// A copy or set whose destination comes first: `cuMemcpyHtoD`, `cuMemcpyDtoD` and `cuMemcpy`, plain and
    /// asynchronous.
    CopyParams: 24 {
        to @ 0: u64,
        from @ 8: u64,
        bytes @ 16: usize,
    }
}

plain_struct! {
    /// `cuMemcpyPeer`.
    CopyPeerParams: 40 {
        to @ 0: u64,
        to_context @ 8: Context,
        from @ 16: u64,
        from_context @ 24: Context,
        bytes @ 32: usize,
    }
}

plain_struct! {
    /// `cuMemsetD8` and `cuMemsetD32`.
    SetParams: 24 {
        to @ 0: u64,
        value @ 8: u32,
        count @ 16: usize,
    }
}

plain_struct! {
    /// `cuMemsetD2D8`, `D2D16` and `D2D32`; the value is one, two or four bytes wide.
    SetRectangleParams: 40 {
        to @ 0: u64,
        pitch @ 8: usize,
        value @ 16: u32,
        width @ 24: usize,
        height @ 32: usize,
    }
}

plain_struct! {
    /// `CUDA_MEMCPY2D`, as `cuMemcpy2D` takes it by pointer.
    CopyRectangle: 128 {
        from_x @ 0: usize,
        from_y @ 8: usize,
        from_kind @ 16: u32,
        from_host @ 24: u64,
        from_device @ 32: u64,
        from_array @ 40: *mut c_void,
        from_pitch @ 48: usize,
        to_x @ 56: usize,
        to_y @ 64: usize,
        to_kind @ 72: u32,
        to_host @ 80: u64,
        to_device @ 88: u64,
        to_array @ 96: *mut c_void,
        to_pitch @ 104: usize,
        width @ 112: usize,
        height @ 120: usize,
    }
}

plain_struct! {
    /// Any function whose first parameter is a pointer or handle.
    FirstPointer: 8 {
        first @ 0: *mut c_void,
    }
}

plain_struct! {
    /// `cuSurfObjectCreate`.
    SurfaceCreateParams: 16 {
        object @ 0: *const u64,
        description @ 8: *const c_void,
    }
}

plain_struct! {
    /// `cuGraphLaunch`.
    GraphLaunchParams: 16 {
        graph @ 0: *mut c_void,
        stream @ 8: Stream,
    }
}
