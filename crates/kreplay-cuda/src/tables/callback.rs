//! What CUPTI hands to a callback, and the numbers of the functions that the interceptor looks at. The numbers are the
//! same in CUPTI 12.6 to 13.5.

use super::abi::plain_struct;
use super::{Context, Stream};
use std::ffi::{c_char, c_void};

/// Callback domains.
pub(crate) mod domain {
    /// Functions of the driver.
    pub(crate) const DRIVER: u32 = 1;
    /// Contexts, streams, modules.
    pub(crate) const RESOURCE: u32 = 3;
}

/// Ids of the resource domain.
pub(crate) mod resource {
    /// A context was made.
    pub(crate) const CONTEXT_CREATED: u32 = 1;
    /// A context is about to go.
    pub(crate) const CONTEXT_DESTROY_STARTING: u32 = 2;
    /// A stream was made.
    pub(crate) const STREAM_CREATED: u32 = 3;
    /// A stream is about to go.
    pub(crate) const STREAM_DESTROY_STARTING: u32 = 4;
    /// Machine code was loaded.
    pub(crate) const MODULE_LOADED: u32 = 6;
}

/// Before the program's call.
pub(crate) const ENTER: u32 = 0;

plain_struct! {
    /// `CUpti_CallbackData`, of the driver domain.
    CallbackData: 72 {
        site @ 0: u32,
        function_name @ 8: *const c_char,
        parameters @ 16: *const c_void,
        returned @ 24: *const i32,
        symbol @ 32: *const c_char,
        context @ 40: Context,
        context_uid @ 48: u32,
        correlation_data @ 56: *mut u64,
        correlation_id @ 64: u32,
    }
}

plain_struct! {
    /// `CUpti_ResourceData`.
    ResourceData: 24 {
        context @ 0: Context,
        stream @ 8: Stream,
        description @ 16: *const c_void,
    }
}

plain_struct! {
    /// `CUpti_ModuleResourceData`.
    ModuleData: 24 {
        id @ 0: u32,
        bytes @ 8: usize,
        image @ 16: *const u8,
    }
}

/// Numbers of driver functions.
#[rustfmt::skip]
pub(crate) mod cbid {
    pub(crate) const LAUNCH: u32 = 115;
    pub(crate) const LAUNCH_GRID: u32 = 116;
    pub(crate) const LAUNCH_GRID_ASYNC: u32 = 117;
    pub(crate) const LAUNCH_KERNEL: u32 = 307;
    pub(crate) const LAUNCH_KERNEL_PTSZ: u32 = 442;
    pub(crate) const LAUNCH_COOPERATIVE: u32 = 477;
    pub(crate) const LAUNCH_COOPERATIVE_PTSZ: u32 = 478;
    pub(crate) const LAUNCH_COOPERATIVE_MULTI: u32 = 480;
    pub(crate) const LAUNCH_KERNEL_EX: u32 = 652;
    pub(crate) const LAUNCH_KERNEL_EX_PTSZ: u32 = 653;
    pub(crate) const GRAPH_LAUNCH: u32 = 514;
    pub(crate) const GRAPH_LAUNCH_PTSZ: u32 = 515;
    pub(crate) const GRAPH_INSTANTIATE: u32 = 513;
    pub(crate) const GRAPH_INSTANTIATE_V2: u32 = 578;
    pub(crate) const GRAPH_INSTANTIATE_WITH_FLAGS: u32 = 643;
    pub(crate) const GRAPH_INSTANTIATE_WITH_PARAMS: u32 = 656;
    pub(crate) const GRAPH_INSTANTIATE_WITH_PARAMS_PTSZ: u32 = 657;
    pub(crate) const GRAPH_EXEC_DESTROY: u32 = 516;
    pub(crate) const GRAPH_EXEC_UPDATE: u32 = 561;
    pub(crate) const GRAPH_EXEC_UPDATE_V2: u32 = 696;
    pub(crate) const GRAPH_EXEC_KERNEL: u32 = 538;
    pub(crate) const GRAPH_EXEC_KERNEL_V2: u32 = 692;
    pub(crate) const GRAPH_EXEC_COPY: u32 = 562;
    pub(crate) const GRAPH_EXEC_SET: u32 = 563;
    pub(crate) const GRAPH_EXEC_CHILD: u32 = 586;
    pub(crate) const GRAPH_EXEC_ANY: u32 = 714;
    pub(crate) const GRAPH_NODE_ENABLE: u32 = 650;

    pub(crate) const MEM_ALLOC: u32 = 243;
    pub(crate) const MEM_ALLOC_PITCH: u32 = 244;
    pub(crate) const MEM_FREE: u32 = 245;
    pub(crate) const MEM_ALLOC_MANAGED: u32 = 371;
    pub(crate) const MEM_HOST_ALLOC: u32 = 39;
    pub(crate) const MEM_HOST_ALLOC_V2: u32 = 271;
    pub(crate) const MEM_ALLOC_HOST: u32 = 294;
    pub(crate) const MEM_ALLOC_HOST_V1: u32 = 37;
    pub(crate) const MEM_FREE_HOST: u32 = 38;
    pub(crate) const MEM_HOST_REGISTER: u32 = 301;
    pub(crate) const MEM_HOST_REGISTER_V2: u32 = 379;
    pub(crate) const MEM_HOST_UNREGISTER: u32 = 302;
    pub(crate) const IPC_OPEN: u32 = 329;
    pub(crate) const IPC_OPEN_V2: u32 = 567;
    pub(crate) const IPC_CLOSE: u32 = 330;
    pub(crate) const IPC_GET: u32 = 328;
    pub(crate) const EXTERNAL_MAPPED_BUFFER: u32 = 486;
    pub(crate) const POINTER_SET_ATTRIBUTE: u32 = 378;
    pub(crate) const ADDRESS_RANGE_HANDLE: u32 = 674;
    pub(crate) const MEM_CREATE: u32 = 549;
    pub(crate) const MEM_EXPORT: u32 = 554;
    pub(crate) const MEM_IMPORT: u32 = 555;
    pub(crate) const MEM_RETAIN: u32 = 565;
    pub(crate) const MEM_POOL_EXPORT_POINTER: u32 = 615;
    pub(crate) const MULTICAST_CREATE: u32 = 706;
    pub(crate) const MULTICAST_BIND_MEM: u32 = 708;
    pub(crate) const MULTICAST_BIND_ADDRESS: u32 = 709;
    pub(crate) const GRAPHICS_POINTER: u32 = 258;
    pub(crate) const GRAPHICS_UNMAP: u32 = 134;
    pub(crate) const GRAPHICS_UNMAP_PTSZ: u32 = 444;
    pub(crate) const GRAPHICS_UNREGISTER: u32 = 128;
    pub(crate) const GRAPHICS_EGL_FRAME: u32 = 449;
    pub(crate) const EGL_RELEASE_FRAME: u32 = 396;
    pub(crate) const GL_MAP: u32 = 269;
    pub(crate) const GL_MAP_PTDS: u32 = 417;
    pub(crate) const GL_MAP_ASYNC: u32 = 270;
    pub(crate) const GL_MAP_ASYNC_PTSZ: u32 = 445;
    pub(crate) const GL_UNMAP: u32 = 181;
    pub(crate) const GL_UNMAP_ASYNC: u32 = 185;
    pub(crate) const GL_UNREGISTER: u32 = 182;
    /// The newest function that is known, of CUDA 13.0's header.
    pub(crate) const NEWEST: u32 = 806;
    pub(crate) const MEM_MAP: u32 = 551;
    pub(crate) const MEM_UNMAP: u32 = 552;
    pub(crate) const MEM_SET_ACCESS: u32 = 553;
    pub(crate) const MEM_ALLOC_ASYNC: u32 = 598;
    pub(crate) const MEM_ALLOC_ASYNC_PTSZ: u32 = 599;
    pub(crate) const MEM_FREE_ASYNC: u32 = 600;
    pub(crate) const MEM_FREE_ASYNC_PTSZ: u32 = 601;
    pub(crate) const MEM_POOL_TRIM: u32 = 602;
    pub(crate) const MEM_POOL_SET: u32 = 603;
    pub(crate) const MEM_POOL_GET: u32 = 604;
    pub(crate) const MEM_POOL_DESTROY: u32 = 608;
    pub(crate) const MEM_ALLOC_FROM_POOL: u32 = 611;
    pub(crate) const MEM_ALLOC_FROM_POOL_PTSZ: u32 = 612;
    pub(crate) const MEM_POOL_IMPORT_POINTER: u32 = 616;
    pub(crate) const MEM_POOL_SET_ACCESS: u32 = 605;
    pub(crate) const FUNCTION_SET_ATTRIBUTE: u32 = 481;
    pub(crate) const KERNEL_SET_ATTRIBUTE: u32 = 687;
    pub(crate) const GREEN_CONTEXT_DESTROY: u32 = 744;
    pub(crate) const ADD_CALLBACK: u32 = 346;
    pub(crate) const ADD_CALLBACK_PTSZ: u32 = 437;
    pub(crate) const HOST_FUNCTION: u32 = 527;
    pub(crate) const HOST_FUNCTION_PTSZ: u32 = 528;
    pub(crate) const SURFACE_CREATE: u32 = 343;
    pub(crate) const SURFACE_DESTROY: u32 = 344;
    pub(crate) const SURFACE_REFERENCE_SET: u32 = 194;

    pub(crate) const MODULE_UNLOAD: u32 = 22;
    pub(crate) const LIBRARY_UNLOAD: u32 = 680;

    pub(crate) const BEGIN_CAPTURE: u32 = 495;
    pub(crate) const BEGIN_CAPTURE_PTSZ: u32 = 496;
    pub(crate) const BEGIN_CAPTURE_V2: u32 = 539;
    pub(crate) const BEGIN_CAPTURE_V2_PTSZ: u32 = 540;
    pub(crate) const BEGIN_CAPTURE_TO_GRAPH: u32 = 720;
    pub(crate) const BEGIN_CAPTURE_TO_GRAPH_PTSZ: u32 = 721;
    pub(crate) const END_CAPTURE: u32 = 497;
    pub(crate) const END_CAPTURE_PTSZ: u32 = 498;
}
