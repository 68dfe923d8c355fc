//! Which functions of the driver are looked at, and as what.

use super::foreign::Foreign;
use super::graphics::Graphics;
use super::graphs::Change;
use crate::tables::callback::cbid;
use kreplay_engine::ClosingReason;

/// What a function does, as far as the interceptor cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Launches a kernel; `per_thread`: null means the thread's own default stream.
    Launch { form: Form, per_thread: bool },
    /// Launches a graph.
    Graph { per_thread: bool },
    /// Makes or changes a graph that can be launched.
    ChangeGraph(Change),
    /// Destroys one.
    DestroyGraph,
    /// Allocates.
    Allocate(Allocation),
    /// Frees what its first parameter names.
    Free,
    /// Closes memory of another process, which may be open several times.
    CloseIpc,
    /// Frees it to its pool, in the order of a stream.
    FreeToPool,
    /// Makes a pool smaller.
    TrimPool,
    /// Makes a pool go.
    DestroyPool,
    /// Sets or gets an attribute of a pool.
    PoolAttribute,
    /// Maps physical memory, or takes it away.
    Map,
    /// Takes a mapping away.
    Unmap,
    /// Says who may use a mapping.
    SetAccess,
    /// Says who may use a pool.
    SharePool,
    /// Makes or destroys a surface object.
    SurfaceCreate,
    /// See above.
    SurfaceDestroy,
    /// Binds an array to a surface of a module, which its kernels name without an argument.
    SurfaceReference,
    /// Unloads a module.
    UnloadModule,
    /// Unloads a library.
    UnloadLibrary,
    /// Takes away or changes what a recorded launch may use beside memory and code.
    EndsRecording(ClosingReason),
    /// Sets an attribute of a function; `kernel`: of a kernel of a library.
    FunctionAttribute { kernel: bool },
    /// A green context goes.
    DestroyGreen,
    /// The host's memory may be written in the order of a stream.
    HostFunction,
    /// A capture of a stream begins; `per_thread`: null means the thread's own default stream.
    BeginCapture { per_thread: bool },
    /// It ends.
    EndCapture { per_thread: bool },
    /// A stream waits for a value in memory, which the host may write.
    Waits,
    /// Reads or writes memory: must not fall into a window.
    Operation(Written),
    /// Memory gets to others, or from them.
    Foreign(Foreign),
    /// Memory of a graphics interface is mapped or unmapped.
    Graphics(Graphics),
    /// Nobody knows: the driver is newer than what is known of it.
    Newer,
}

/// Forms of launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `cuLaunchKernel`.
    Plain,
    /// `cuLaunchKernelEx`.
    Extended,
    /// `cuLaunchCooperativeKernel`.
    Cooperative,
    /// `cuLaunchCooperativeKernelMultiDevice`.
    MultiDevice,
    /// `cuLaunch`, `cuLaunchGrid` and `cuLaunchGridAsync`, long deprecated: their arguments were set before.
    Old,
}

/// Classes of allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocation {
    Plain,
    Pitch,
    Managed,
    Pool,
    FromPool,
    Host,
    /// Of a size of 32 bits.
    OldHost,
    HostRegister,
    Ipc,
    External,
    ImportedPool,
}

/// Where a copy's source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// On the host.
    Host,
    /// On a device.
    Device,
    /// Either.
    Anywhere,
}

/// What an operation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Nothing on the device.
    Nothing,
    /// The host's memory, in the order of a stream: destination, source, bytes.
    Host,
    /// Destination, source, bytes.
    Copy(From),
    /// A rectangle's description by pointer, or a box's.
    Copy2D,
    /// See above.
    Copy3D,
    /// `cuMemcpyPeer`.
    Peer,
    /// Destination, value, count, by the element's bytes.
    Set(u8),
    /// Destination, pitch, value, width, height.
    Rectangle(u8),
    /// Something that is not looked into.
    Unknown,
}

/// The class of a function, `None` for the many that do not matter.
pub(super) fn class(id: u32) -> Option<Class> {
    use cbid::*;
    Some(match id {
        LAUNCH_KERNEL => Class::Launch { form: Form::Plain, per_thread: false },
        LAUNCH_KERNEL_PTSZ => Class::Launch { form: Form::Plain, per_thread: true },
        LAUNCH_KERNEL_EX => Class::Launch { form: Form::Extended, per_thread: false },
        LAUNCH_KERNEL_EX_PTSZ => Class::Launch { form: Form::Extended, per_thread: true },
        LAUNCH_COOPERATIVE => Class::Launch { form: Form::Cooperative, per_thread: false },
        LAUNCH_COOPERATIVE_PTSZ => Class::Launch { form: Form::Cooperative, per_thread: true },
        LAUNCH_COOPERATIVE_MULTI => Class::Launch { form: Form::MultiDevice, per_thread: false },
        LAUNCH | LAUNCH_GRID | LAUNCH_GRID_ASYNC => Class::Launch { form: Form::Old, per_thread: false },
        GRAPH_LAUNCH => Class::Graph { per_thread: false },
        GRAPH_LAUNCH_PTSZ => Class::Graph { per_thread: true },
        GRAPH_INSTANTIATE
        | GRAPH_INSTANTIATE_V2
        | GRAPH_INSTANTIATE_WITH_FLAGS
        | GRAPH_INSTANTIATE_WITH_PARAMS
        | GRAPH_INSTANTIATE_WITH_PARAMS_PTSZ => Class::ChangeGraph(Change::Instantiate),
        GRAPH_EXEC_UPDATE | GRAPH_EXEC_UPDATE_V2 => Class::ChangeGraph(Change::Update),
        GRAPH_EXEC_KERNEL => Class::ChangeGraph(Change::Kernel(true)),
        GRAPH_EXEC_KERNEL_V2 => Class::ChangeGraph(Change::Kernel(false)),
        GRAPH_EXEC_COPY => Class::ChangeGraph(Change::Copy),
        GRAPH_EXEC_SET => Class::ChangeGraph(Change::Set),
        GRAPH_EXEC_CHILD => Class::ChangeGraph(Change::Child),
        GRAPH_EXEC_ANY => Class::ChangeGraph(Change::Any),
        GRAPH_NODE_ENABLE => Class::ChangeGraph(Change::Enable),
        GRAPH_EXEC_DESTROY => Class::DestroyGraph,
        MEM_ALLOC => Class::Allocate(Allocation::Plain),
        MEM_ALLOC_PITCH => Class::Allocate(Allocation::Pitch),
        MEM_ALLOC_MANAGED => Class::Allocate(Allocation::Managed),
        MEM_ALLOC_ASYNC | MEM_ALLOC_ASYNC_PTSZ => Class::Allocate(Allocation::Pool),
        MEM_ALLOC_FROM_POOL | MEM_ALLOC_FROM_POOL_PTSZ => Class::Allocate(Allocation::FromPool),
        MEM_HOST_ALLOC | MEM_HOST_ALLOC_V2 | MEM_ALLOC_HOST => Class::Allocate(Allocation::Host),
        MEM_ALLOC_HOST_V1 => Class::Allocate(Allocation::OldHost),
        MEM_HOST_REGISTER | MEM_HOST_REGISTER_V2 => Class::Allocate(Allocation::HostRegister),
        IPC_OPEN | IPC_OPEN_V2 => Class::Allocate(Allocation::Ipc),
        EXTERNAL_MAPPED_BUFFER => Class::Allocate(Allocation::External),
        MEM_POOL_IMPORT_POINTER => Class::Allocate(Allocation::ImportedPool),
        MEM_FREE | MEM_FREE_HOST | MEM_HOST_UNREGISTER => Class::Free,
        IPC_CLOSE => Class::CloseIpc,
        MEM_FREE_ASYNC | MEM_FREE_ASYNC_PTSZ => Class::FreeToPool,
        MEM_POOL_TRIM => Class::TrimPool,
        MEM_POOL_DESTROY => Class::DestroyPool,
        MEM_POOL_SET | MEM_POOL_GET => Class::PoolAttribute,
        MEM_MAP => Class::Map,
        MEM_UNMAP => Class::Unmap,
        MEM_SET_ACCESS => Class::SetAccess,
        MEM_POOL_SET_ACCESS => Class::SharePool,
        FUNCTION_SET_ATTRIBUTE => Class::FunctionAttribute { kernel: false },
        KERNEL_SET_ATTRIBUTE => Class::FunctionAttribute { kernel: true },
        GREEN_CONTEXT_DESTROY => Class::DestroyGreen,
        ADD_CALLBACK | ADD_CALLBACK_PTSZ | HOST_FUNCTION | HOST_FUNCTION_PTSZ => Class::HostFunction,
        458 | 459 | 473 | 474 | 659..=662 => Class::Waits,
        SURFACE_CREATE => Class::SurfaceCreate,
        SURFACE_DESTROY => Class::SurfaceDestroy,
        SURFACE_REFERENCE_SET => Class::SurfaceReference,
        MODULE_UNLOAD => Class::UnloadModule,
        LIBRARY_UNLOAD => Class::UnloadLibrary,
        BEGIN_CAPTURE | BEGIN_CAPTURE_V2 | BEGIN_CAPTURE_TO_GRAPH => Class::BeginCapture { per_thread: false },
        BEGIN_CAPTURE_PTSZ | BEGIN_CAPTURE_V2_PTSZ | BEGIN_CAPTURE_TO_GRAPH_PTSZ => {
            Class::BeginCapture { per_thread: true }
        }
        END_CAPTURE => Class::EndCapture { per_thread: false },
        END_CAPTURE_PTSZ => Class::EndCapture { per_thread: true },
        _ if id > NEWEST => Class::Newer,
        _ => {
            return Foreign::of(id)
                .map(Class::Foreign)
                .or_else(|| Graphics::of(id).map(Class::Graphics))
                .or_else(|| used(id).map(Class::EndsRecording))
                .or_else(|| operation(id).map(Class::Operation));
        }
    })
}

/// Functions by which a stream may come to wait for the host, and which have it as their first parameter; `true`: null means the
/// thread's own default stream. `cuStreamWaitValue*`, `cuStreamBatchMemOp*`, and those that call the host.
pub(super) fn may_wait(id: u32) -> Option<bool> {
    match id {
        458 | 473 | 659 | 661 | 462 | 667 | cbid::ADD_CALLBACK | cbid::HOST_FUNCTION => Some(false),
        459 | 474 | 660 | 662 | 463 | 668 | cbid::ADD_CALLBACK_PTSZ | cbid::HOST_FUNCTION_PTSZ => Some(true),
        _ => None,
    }
}

/// What launches use by handles and by the context's state. Numbers by their vendor names.
fn used(id: u32) -> Option<ClosingReason> {
    Some(match id {
        // cuArrayDestroy, cuMipmappedArrayDestroy, cuTexObjectDestroy, cuTexRefDestroy, cuSurfRefDestroy.
        89 | 349 | 340 | 93 | 192 => ClosingReason::Freed,
        // cuTexRefSet*, cuSurfRefSetFormat; cuMemMapArrayAsync; cuCtxSetLimit, by which stacks may become smaller.
        94..=102 | 255 | 256 | 327 | 350..=354 | 455 | 193 | 584 | 585 | 136 => ClosingReason::Unrecordable,
        // Memory that no region tells of: cuDestroyExternalMemory, cuMulticastUnbind, cuDeviceGraphMemTrim.
        488 | 710 | 640 => ClosingReason::Freed,
        // cuCtxDisablePeerAccess, cuMemPeerUnregister.
        314 | 316 => ClosingReason::Unrecordable,
        // cuCtxDestroy*, cuCtxDetach, cuDevicePrimaryCtxRelease*, cuDevicePrimaryCtxReset*.
        11 | 322 | 13 | 387 | 544 | 389 | 545 => ClosingReason::Exit,
        _ => return None,
    })
}

/// Copies and sets. Numbers by their vendor names: `cuMemcpy*` and `cuMemset*` with their `_ptds` and `_ptsz` twins,
/// stream memory operations, prefetches, decompression.
fn operation(id: u32) -> Option<Written> {
    Some(match id {
        // To the device, within it, and either.
        276 | 277 | 397 | 421 => Written::Copy(From::Host),
        280 | 281 | 399 | 423 => Written::Copy(From::Device),
        305 | 306 | 408 | 418 => Written::Copy(From::Anywhere),
        // To the host: done when they return, and not.
        278 | 398 => Written::Nothing,
        279 | 422 => Written::Host,
        287 | 288 | 289 | 405 | 406 | 424 => Written::Copy2D,
        290 | 291 | 407 | 425 => Written::Copy3D,
        // Arrays to host or device; batches.
        282..=286 | 292 | 293 | 400..=404 | 419 | 420 | 776..=779 | 796..=799 => Written::Unknown,
        318 | 319 | 409 | 426 => Written::Peer,
        320 | 321 | 410 | 427 => Written::Unknown,
        249 | 216 | 411 | 428 => Written::Set(1),
        250 | 218 | 412 | 429 => Written::Set(2),
        251 | 220 | 413 | 430 => Written::Set(4),
        252 | 222 | 414 | 431 => Written::Rectangle(1),
        253 | 224 | 415 | 432 => Written::Rectangle(2),
        254 | 226 | 416 | 433 => Written::Rectangle(4),
        // cuStreamWriteValue*, cuStreamBatchMemOp*; cuMemBatchDecompress; cuMemDiscard*. Prefetches change nothing.
        460..=463 | 475 | 476 | 663..=668 | 761 | 762 | 789..=792 => Written::Unknown,
        _ => return None,
    })
}

/// Every function that callbacks are asked for, of those that are known.
pub(crate) fn enabled() -> impl Iterator<Item = u32> {
    (1..=cbid::NEWEST).filter(|id| class(*id).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_launch_form_is_enabled_and_queries_are_not() {
        let enabled: Vec<u32> = enabled().collect();
        for id in
            [37, 115, 116, 117, 307, 442, 477, 478, 480, 514, 515, 652, 653, 243, 245, 598, 601, 551, 553, 680, 340, 89]
        {
            assert!(enabled.contains(&id), "{id}");
        }
        // cuInit, cuCtxSynchronize, cuStreamQuery, cuModuleGetFunction.
        for id in [1, 17, 129, 23] {
            assert!(!enabled.contains(&id), "{id}");
        }
        assert!(enabled.len() < 260, "{} functions cost on every call", enabled.len());
    }
}
