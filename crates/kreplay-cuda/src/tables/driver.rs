//! The driver's table of functions and its status codes.

use super::driver_structs::LaunchConfig;
use super::functions::function_table;
use super::graph_structs::{AllocationNodeParams, CopyNodeParams, EdgeData, KernelNodeParams, SetNodeParams};
use super::library::{Library, LoadError, Opening};
use super::{Context, CudaError, Event, Function, Graph, GraphNode, MemoryPool, Module, Stream};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

function_table! {
    /// The functions of `libcuda` that are used.
    DriverTable of "libcuda.so.1" {
        required {
            fn cuInit(flags: u32);
            fn cuDriverGetVersion(version: *mut i32);
            fn cuGetErrorName(status: i32, name: *mut *const c_char);
            fn cuDeviceGetCount(count: *mut i32);
            fn cuDeviceGetName(name: *mut c_char, bytes: i32, device: i32);
            fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32);
            fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32);
            fn cuDevicePrimaryCtxRetain(context: *mut Context, device: i32);
            fn cuCtxGetCurrent(context: *mut Context);
            fn cuCtxGetDevice(device: *mut i32);
            fn cuCtxPushCurrent_v2(context: Context);
            fn cuCtxPopCurrent_v2(context: *mut Context);
            fn cuCtxSynchronize();
            fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
            fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize);
            fn cuMemFree_v2(pointer: u64);
            fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, pointer: u64);
            fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: u32);
            fn cuMemFreeHost(pointer: *mut c_void);
            fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Stream);
            fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Stream);
            fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: Stream);
            fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Stream);
            fn cuStreamCreate(stream: *mut Stream, flags: u32);
            fn cuStreamQuery(stream: Stream);
            fn cuEventCreate(event: *mut Event, flags: u32);
            fn cuEventRecord(event: Event, stream: Stream);
            fn cuEventQuery(event: Event);
            fn cuEventElapsedTime(milliseconds: *mut f32, start: Event, end: Event);
            fn cuEventDestroy_v2(event: Event);
            fn cuModuleLoadDataEx(
                module: *mut Module, image: *const c_void, count: u32, options: *const i32, values: *mut *mut c_void,
            );
            fn cuModuleGetFunction(function: *mut Function, module: Module, name: *const c_char);
            fn cuModuleGetGlobal_v2(pointer: *mut u64, bytes: *mut usize, module: Module, name: *const c_char);
            fn cuFuncGetModule(module: *mut Module, function: Function);
            fn cuLaunchKernelEx(
                config: *const LaunchConfig, function: Function, arguments: *mut *mut c_void, extra: *mut *mut c_void,
            );
        }
        optional {
            fn cuFuncGetParamInfo(function: Function, index: usize, offset: *mut usize, bytes: *mut usize);
            fn cuKernelGetParamInfo(function: Function, index: usize, offset: *mut usize, bytes: *mut usize);
            fn cuKernelGetFunction(function: *mut Function, kernel: Function);
            fn cuFuncLoad(function: Function);
            fn cuCtxFromGreenCtx(context: *mut Context, green: *mut c_void);
            fn cuLibraryGetModule(module: *mut Module, library: *mut c_void);
            fn cuStreamIsCapturing(stream: Stream, status: *mut u32);
            fn cuPointerGetAttribute(value: *mut u64, attribute: u32, pointer: u64);
            fn cuMemPoolGetAttribute(pool: MemoryPool, attribute: u32, value: *mut u64);
            fn cuMemPoolSetAttribute(pool: MemoryPool, attribute: u32, value: *mut u64);
            fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Stream);
            fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Stream);
            fn cuMemcpy3DAsync_v2(copy: *const CopyNodeParams, stream: Stream);
            fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Stream);
            fn cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Stream);
            fn cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Stream);
            fn cuFuncGetName(name: *mut *const c_char, function: Function);
            fn cuKernelGetName(name: *mut *const c_char, kernel: Function);
            fn cuGraphGetNodes(graph: Graph, nodes: *mut GraphNode, count: *mut usize);
            fn cuGraphNodeGetDependencies_v2(
                node: GraphNode, nodes: *mut GraphNode, edges: *mut EdgeData, count: *mut usize,
            );
            fn cuGraphNodeGetType(node: GraphNode, kind: *mut u32);
            fn cuGraphKernelNodeGetParams_v2(node: GraphNode, params: *mut KernelNodeParams);
            fn cuGraphKernelNodeGetAttribute(node: GraphNode, id: u32, value: *mut u64);
            fn cuGraphMemcpyNodeGetParams(node: GraphNode, params: *mut CopyNodeParams);
            fn cuGraphMemsetNodeGetParams(node: GraphNode, params: *mut SetNodeParams);
            fn cuGraphChildGraphNodeGetGraph(node: GraphNode, graph: *mut Graph);
            fn cuGraphMemAllocNodeGetParams(node: GraphNode, params: *mut AllocationNodeParams);
            fn cuGraphMemFreeNodeGetParams(node: GraphNode, pointer: *mut u64);
        }
    }
}

/// The driver's library.
const LIBRARY: &str = "libcuda.so.1";

/// Device attributes.
pub(crate) mod device_attribute {
    /// Multiprocessors.
    pub(crate) const MULTIPROCESSORS: i32 = 16;
    /// Bytes of L2.
    pub(crate) const L2_BYTES: i32 = 38;
    /// Whether kernels can use the pages of their process, that no call of the driver told of.
    pub(crate) const PAGEABLE_ACCESS: i32 = 88;
    /// Compute capability, first number.
    pub(crate) const MAJOR: i32 = 75;
    /// Compute capability, second number.
    pub(crate) const MINOR: i32 = 76;
    /// Clock of the multiprocessors, in kHz.
    pub(crate) const CLOCK_KHZ: i32 = 13;
}

/// The driver, with its functions as safe calls. Every call is made as the vendor documents; what each can do wrong is in
/// its status.
#[derive(Debug)]
pub(crate) struct Driver {
    table: DriverTable,
}

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryPlace {
    /// On the device of this number.
    Device(i32),
    /// On the host.
    Host,
    /// Wherever it was used last.
    Managed,
}

/// Work is still running, or it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Done.
    Done,
    /// Still running.
    Running,
}

impl Driver {
    /// The driver of this machine.
    ///
    /// # Errors
    /// [`LoadError`] naming the library and what is missing.
    pub(crate) fn load() -> Result<Self, LoadError> {
        let path = Path::new(LIBRARY);
        let library = Library::open(path, Opening::Loaded).or_else(|_| Library::open(path, Opening::Local));
        let library = library.map_err(|why| LoadError::Library {
            library: LIBRARY,
            remedy: "Install the NVIDIA driver (version 520, of CUDA 11.8, or newer); in a container, start it with GPU access.",
            tried: vec![(path.to_owned(), why)],
        })?;
        Self::of(library.path(), &|name| library.symbol(name))
    }

    fn of(path: &Path, find: &dyn Fn(&CStr) -> *mut c_void) -> Result<Self, LoadError> {
        let table = DriverTable::load(find).map_err(|symbol| LoadError::Symbol {
            library: LIBRARY,
            path: path.to_owned(),
            symbol,
            remedy: "Install a newer NVIDIA driver: version 520, of CUDA 11.8, is the oldest that will do.",
        })?;
        Ok(Self { table })
    }

    /// A driver made of these functions.
    #[cfg(test)]
    pub(crate) fn with_table(table: DriverTable) -> Self {
        Self { table }
    }

    pub(super) fn table(&self) -> &DriverTable {
        &self.table
    }

    /// Turns a status into a result.
    pub(super) fn check(&self, call: &'static str, status: i32) -> Result<(), CudaError> {
        if status == 0 {
            return Ok(());
        }
        Err(CudaError { call, status, name: self.name_of(status) })
    }

    /// A status with its name.
    pub(crate) fn status_name(&self, call: &'static str, status: i32) -> String {
        CudaError { call, status, name: self.name_of(status) }.to_string()
    }

    fn name_of(&self, status: i32) -> String {
        let mut name = std::ptr::null();
        // SAFETY: `name` is valid for writing; the driver stores a static string or fails.
        let found = unsafe { (self.table.cuGetErrorName)(status, &mut name) };
        if found != 0 || name.is_null() {
            return "an unknown error".to_owned();
        }
        // SAFETY: a static C string, checked above.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// Turns the status of a query into a result: *not ready* is an answer.
    pub(super) fn progress(&self, call: &'static str, status: i32) -> Result<Progress, CudaError> {
        if status == CudaError::NOT_READY {
            return Ok(Progress::Running);
        }
        self.check(call, status).map(|()| Progress::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::driver_function;

    #[test]
    fn a_driver_that_lacks_a_function_is_told_of_with_what_to_do() {
        let old = |name: &CStr| if name == c"cuLaunchKernelEx" { std::ptr::null_mut() } else { driver_function(name) };
        let error = Driver::of(Path::new("/usr/lib/libcuda.so.1"), &old).expect_err("it is too old").to_string();
        for part in [LIBRARY, "/usr/lib/libcuda.so.1", "cuLaunchKernelEx", "520"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("CUPTI"), "that is another library: {error}");
        // What came later may be missing.
        let older =
            |name: &CStr| if name == c"cuFuncGetParamInfo" { std::ptr::null_mut() } else { driver_function(name) };
        assert!(Driver::of(Path::new("/usr/lib/libcuda.so.1"), &older).is_ok());
    }
}
