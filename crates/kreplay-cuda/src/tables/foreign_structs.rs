//! Parameters of functions by which memory gets to other processes, devices and graphics interfaces, or from them, as callbacks see
//! them. Sizes and offsets: CUDA 13.0's headers.

use super::Stream;
use super::abi::plain_struct;
use std::ffi::c_void;

plain_struct! {
    /// A result by pointer, then an address: `cuIpcGetMemHandle`, `cuMemPoolExportPointer`, and the first parameters of
    /// `cuMemGetHandleForAddressRange`.
    ExportPointerParams: 16 {
        result @ 0: *mut c_void,
        pointer @ 8: u64,
    }
}

plain_struct! {
    /// `cuMemGetHandleForAddressRange`, up to the range.
    AddressRangeParams: 24 {
        result @ 0: *mut c_void,
        pointer @ 8: u64,
        bytes @ 16: usize,
    }
}

plain_struct! {
    /// `cuMemExportToShareableHandle`, up to the handle of physical memory.
    ExportHandleParams: 16 {
        result @ 0: *mut c_void,
        handle @ 8: u64,
    }
}

plain_struct! {
    /// A handle of physical memory by pointer: `cuMemCreate`, `cuMemImportFromShareableHandle`, `cuMulticastCreate`.
    MakeHandleParams: 8 {
        handle @ 0: *const u64,
    }
}

plain_struct! {
    /// `cuMemRetainAllocationHandle`.
    RetainHandleParams: 16 {
        handle @ 0: *const u64,
        pointer @ 8: u64,
    }
}

plain_struct! {
    /// `cuMulticastBindMem`, up to the handle of what is bound.
    BindMemoryParams: 24 {
        multicast @ 0: u64,
        offset @ 8: usize,
        handle @ 16: u64,
    }
}

plain_struct! {
    /// `cuMulticastBindAddr`, up to the range.
    BindAddressParams: 32 {
        multicast @ 0: u64,
        offset @ 8: usize,
        pointer @ 16: u64,
        bytes @ 24: usize,
    }
}

plain_struct! {
    /// `cuPointerSetAttribute`.
    PointerAttributeParams: 24 {
        value @ 0: *const u32,
        attribute @ 8: u32,
        pointer @ 16: u64,
    }
}

plain_struct! {
    /// `cuGraphicsResourceGetMappedPointer_v2`; `cuGLMapBufferObject_v2` names a buffer of 32 bits instead of the resource.
    MappedPointerParams: 24 {
        pointer @ 0: *const u64,
        bytes @ 8: *const usize,
        resource @ 16: u64,
    }
}

plain_struct! {
    /// `cuGraphicsUnmapResources`.
    UnmapResourcesParams: 24 {
        count @ 0: u32,
        resources @ 8: *const u64,
        stream @ 16: Stream,
    }
}

plain_struct! {
    /// `cuGraphicsResourceGetMappedEglFrame`, up to the resource.
    EglFrameParams: 16 {
        frame @ 0: *const EglFrame,
        resource @ 8: u64,
    }
}

plain_struct! {
    /// `CUeglFrame` up to its type (1: planes are memory, not arrays).
    EglFrame: 56 {
        planes @ 0: [u64; 3],
        width @ 24: u32,
        height @ 28: u32,
        depth @ 32: u32,
        pitch @ 36: u32,
        plane_count @ 40: u32,
        channels @ 44: u32,
        kind @ 48: u32,
    }
}

plain_struct! {
    /// `cuEGLStreamConsumerReleaseFrame`, up to the resource.
    ReleaseFrameParams: 16 {
        connection @ 0: *mut c_void,
        resource @ 8: u64,
    }
}
