//! The driver's functions as safe calls. All fail with a [`CudaError`] that holds the driver's status.

use super::driver::{Driver, MemoryPlace, Progress};
use super::driver_structs::LaunchConfig;
use super::{Context, CudaError, Event, Function, Module, Stream};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// Calls a function of the table and turns its status into a result.
macro_rules! call {
    ($driver:expr, $function:ident($($argument:expr),*)) => {{
        // SAFETY: outputs point to locals of the documented type; handles are opaque numbers that the driver checks;
        // addresses were allocated by, or reported to, the caller of the method.
        let status = unsafe { ($driver.table().$function)($($argument),*) };
        $driver.check(stringify!($function), status)
    }};
}

impl Driver {
    pub(crate) fn init(&self) -> Result<(), CudaError> {
        call!(self, cuInit(0))
    }

    /// 1000 × major + 10 × minor.
    pub(crate) fn version(&self) -> Result<i32, CudaError> {
        let mut version = 0;
        call!(self, cuDriverGetVersion(&mut version))?;
        Ok(version)
    }

    pub(crate) fn device_count(&self) -> Result<i32, CudaError> {
        let mut count = 0;
        call!(self, cuDeviceGetCount(&mut count))?;
        Ok(count)
    }

    pub(crate) fn device_name(&self, device: i32) -> Result<Arc<str>, CudaError> {
        let mut name = [0 as c_char; 256];
        call!(self, cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device))?;
        let bytes: Vec<u8> = name.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        Ok(String::from_utf8_lossy(&bytes).into())
    }

    pub(crate) fn device_attribute(&self, attribute: i32, device: i32) -> Result<i32, CudaError> {
        let mut value = 0;
        call!(self, cuDeviceGetAttribute(&mut value, attribute, device))?;
        Ok(value)
    }

    pub(crate) fn device_uuid(&self, device: i32) -> Result<[u8; 16], CudaError> {
        let mut uuid = [0; 16];
        call!(self, cuDeviceGetUuid_v2(&mut uuid, device))?;
        Ok(uuid)
    }

    /// The device's primary context, kept for the rest of the process.
    pub(crate) fn primary_context(&self, device: i32) -> Result<Context, CudaError> {
        let mut context = Context::NULL;
        call!(self, cuDevicePrimaryCtxRetain(&mut context, device))?;
        Ok(context)
    }

    /// The thread's context; null when it has none.
    pub(crate) fn current_context(&self) -> Result<Context, CudaError> {
        let mut context = Context::NULL;
        call!(self, cuCtxGetCurrent(&mut context))?;
        Ok(context)
    }

    /// The device of the thread's context.
    pub(crate) fn current_device(&self) -> Result<i32, CudaError> {
        let mut device = 0;
        call!(self, cuCtxGetDevice(&mut device))?;
        Ok(device)
    }

    pub(crate) fn push_context(&self, context: Context) -> Result<(), CudaError> {
        call!(self, cuCtxPushCurrent_v2(context))
    }

    pub(crate) fn pop_context(&self) -> Result<(), CudaError> {
        let mut context = Context::NULL;
        call!(self, cuCtxPopCurrent_v2(&mut context))
    }

    pub(crate) fn synchronise_context(&self) -> Result<(), CudaError> {
        call!(self, cuCtxSynchronize())
    }

    /// Free and total bytes of the thread's device.
    pub(crate) fn memory(&self) -> Result<(u64, u64), CudaError> {
        let (mut free, mut total) = (0, 0);
        call!(self, cuMemGetInfo_v2(&mut free, &mut total))?;
        Ok((free as u64, total as u64))
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64, CudaError> {
        let mut pointer = 0;
        call!(self, cuMemAlloc_v2(&mut pointer, bytes))?;
        Ok(pointer)
    }

    pub(crate) fn free(&self, pointer: u64) -> Result<(), CudaError> {
        call!(self, cuMemFree_v2(pointer))
    }

    /// Base and bytes of the allocation that holds an address.
    pub(crate) fn allocation(&self, pointer: u64) -> Result<(u64, u64), CudaError> {
        let (mut base, mut bytes) = (0, 0);
        call!(self, cuMemGetAddressRange_v2(&mut base, &mut bytes, pointer))?;
        Ok((base, bytes as u64))
    }

    /// Pinned host memory, mapped for every context at its host address.
    pub(crate) fn allocate_host(&self, bytes: usize) -> Result<u64, CudaError> {
        /// Portable (1) and device-mapped (2).
        const FLAGS: u32 = 3;
        let mut pointer = std::ptr::null_mut();
        call!(self, cuMemHostAlloc(&mut pointer, bytes, FLAGS))?;
        Ok(pointer as u64)
    }

    pub(crate) fn free_host(&self, pointer: u64) -> Result<(), CudaError> {
        call!(self, cuMemFreeHost(pointer as *mut c_void))
    }

    pub(crate) fn copy(&self, to: u64, from: u64, bytes: u64, stream: Stream) -> Result<(), CudaError> {
        call!(self, cuMemcpyAsync(to, from, bytes as usize, stream))
    }

    pub(crate) fn set_bytes(&self, to: u64, value: u8, count: u64, stream: Stream) -> Result<(), CudaError> {
        call!(self, cuMemsetD8Async(to, value, count as usize, stream))
    }

    pub(crate) fn set_shorts(&self, to: u64, value: u16, count: u64, stream: Stream) -> Result<(), CudaError> {
        call!(self, cuMemsetD16Async(to, value, count as usize, stream))
    }

    pub(crate) fn set_words(&self, to: u64, value: u32, count: u64, stream: Stream) -> Result<(), CudaError> {
        call!(self, cuMemsetD32Async(to, value, count as usize, stream))
    }

    /// A stream that waits for no other.
    pub(crate) fn create_stream(&self) -> Result<Stream, CudaError> {
        const NON_BLOCKING: u32 = 1;
        let mut stream = Stream::NULL;
        call!(self, cuStreamCreate(&mut stream, NON_BLOCKING))?;
        Ok(stream)
    }

    pub(crate) fn stream_progress(&self, stream: Stream) -> Result<Progress, CudaError> {
        // SAFETY: a stream of the thread's context, or one of the two default streams.
        let status = unsafe { (self.table().cuStreamQuery)(stream) };
        self.progress("cuStreamQuery", status)
    }

    /// An event; with `timing` it can be read with [`Driver::elapsed`].
    pub(crate) fn create_event(&self, timing: bool) -> Result<Event, CudaError> {
        const DISABLE_TIMING: u32 = 2;
        let mut event = Event::NULL;
        call!(self, cuEventCreate(&mut event, if timing { 0 } else { DISABLE_TIMING }))?;
        Ok(event)
    }

    pub(crate) fn record_event(&self, event: Event, stream: Stream) -> Result<(), CudaError> {
        call!(self, cuEventRecord(event, stream))
    }

    pub(crate) fn event_progress(&self, event: Event) -> Result<Progress, CudaError> {
        // SAFETY: an event that was created and not destroyed.
        let status = unsafe { (self.table().cuEventQuery)(event) };
        self.progress("cuEventQuery", status)
    }

    /// Milliseconds between two events that have completed.
    pub(crate) fn elapsed(&self, start: Event, end: Event) -> Result<f32, CudaError> {
        let mut milliseconds = 0.0;
        call!(self, cuEventElapsedTime(&mut milliseconds, start, end))?;
        Ok(milliseconds)
    }

    pub(crate) fn destroy_event(&self, event: Event) -> Result<(), CudaError> {
        call!(self, cuEventDestroy_v2(event))
    }

    /// Loads PTX text or a cubin into the thread's context. The error holds what the compiler said.
    pub(crate) fn load_module(&self, image: &CStr) -> Result<Module, (CudaError, String)> {
        const ERROR_LOG_BUFFER: i32 = 5;
        const ERROR_LOG_BYTES: i32 = 6;
        let mut log = vec![0u8; 8 << 10];
        let options = [ERROR_LOG_BUFFER, ERROR_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let mut module = Module::NULL;
        let loaded = call!(
            self,
            cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 2, options.as_ptr(), values.as_mut_ptr())
        );
        loaded.map(|()| module).map_err(|error| {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            (error, String::from_utf8_lossy(&log[..end]).trim().to_owned())
        })
    }

    pub(crate) fn module_function(&self, module: Module, name: &CStr) -> Result<Function, CudaError> {
        let mut function = Function::NULL;
        call!(self, cuModuleGetFunction(&mut function, module, name.as_ptr()))?;
        Ok(function)
    }

    /// Address and bytes of a module's variable.
    pub(crate) fn module_global(&self, module: Module, name: &CStr) -> Result<(u64, u64), CudaError> {
        let (mut pointer, mut bytes) = (0, 0);
        call!(self, cuModuleGetGlobal_v2(&mut pointer, &mut bytes, module, name.as_ptr()))?;
        Ok((pointer, bytes as u64))
    }

    pub(crate) fn function_module(&self, function: Function) -> Result<Module, CudaError> {
        let mut module = Module::NULL;
        call!(self, cuFuncGetModule(&mut module, function))?;
        Ok(module)
    }

    /// The function of the thread's context behind a kernel of a library; fails for what is a function already.
    pub(crate) fn kernel_function(&self, kernel: Function) -> Result<Function, CudaError> {
        let mut function = Function::NULL;
        match self.table().cuKernelGetFunction {
            Some(get) => {
                // SAFETY: the output is a local; the driver checks the handle.
                let status = unsafe { get(&mut function, kernel) };
                self.check("cuKernelGetFunction", status).map(|()| function)
            }
            None => Err(absent("cuKernelGetFunction")),
        }
    }

    /// The context of a green context; `None` from a driver without them.
    pub(crate) fn context_of_green(&self, green: *mut c_void) -> Option<Context> {
        let mut context = Context::NULL;
        // SAFETY: the output is a local; the driver checks the handle.
        let status = self.table().cuCtxFromGreenCtx.map(|get| unsafe { get(&mut context, green) });
        (status == Some(0) && !context.is_null()).then_some(context)
    }

    /// A library's module in the thread's context.
    pub(crate) fn library_module(&self, library: *mut c_void) -> Result<Module, CudaError> {
        let mut module = Module::NULL;
        match self.table().cuLibraryGetModule {
            Some(get) => {
                // SAFETY: the output is a local; the driver checks the handle.
                let status = unsafe { get(&mut module, library) };
                self.check("cuLibraryGetModule", status).map(|()| module)
            }
            None => Err(absent("cuLibraryGetModule")),
        }
    }

    /// Whether an address is the host's: pinned, or nothing that the driver knows. `false` where that cannot be told.
    pub(crate) fn is_host(&self, address: u64) -> bool {
        const MEMORY_KIND: u32 = 2;
        const HOST: u64 = 1;
        const INVALID_VALUE: i32 = 1;
        let mut kind = 0;
        match self.table().cuPointerGetAttribute {
            // SAFETY: the output is a local that is larger than what is written; any address may be asked about.
            Some(get) => match unsafe { get(&mut kind, MEMORY_KIND, address) } {
                0 => kind & 0xffff_ffff == HOST,
                status => status == INVALID_VALUE,
            },
            None => false,
        }
    }

    /// Whether an address is in managed memory. `false` where that cannot be told.
    pub(crate) fn is_managed(&self, address: u64) -> bool {
        const IS_MANAGED: u32 = 8;
        let mut managed = 0;
        match self.table().cuPointerGetAttribute {
            // SAFETY: the output is a local that is larger than what is written; any address may be asked about.
            Some(get) => (unsafe { get(&mut managed, IS_MANAGED, address) }) == 0 && managed as u32 != 0,
            None => false,
        }
    }

    /// Where memory of a device, of the host or of both lies. `None` where that cannot be told.
    pub(crate) fn memory_place(&self, address: u64) -> Option<MemoryPlace> {
        const MEMORY_KIND: u32 = 2;
        const DEVICE_ORDINAL: u32 = 9;
        const HOST: u32 = 1;
        const DEVICE: u32 = 2;
        if self.is_managed(address) {
            return Some(MemoryPlace::Managed);
        }
        let get = self.table().cuPointerGetAttribute?;
        let ask = |attribute| {
            let mut value = 0;
            // SAFETY: the output is a local that is larger than what is written; any address may be asked about.
            (unsafe { get(&mut value, attribute, address) } == 0).then_some(value as u32)
        };
        match ask(MEMORY_KIND)? {
            HOST => Some(MemoryPlace::Host),
            DEVICE => ask(DEVICE_ORDINAL).map(|device| MemoryPlace::Device(device as i32)),
            _ => None,
        }
    }

    /// Loads a function now that would be loaded at its first launch.
    pub(crate) fn load_function(&self, function: Function) -> Result<(), CudaError> {
        match self.table().cuFuncLoad {
            // SAFETY: the driver checks the handle.
            Some(load) => self.check("cuFuncLoad", unsafe { load(function) }),
            None => Ok(()),
        }
    }

    /// Offset and bytes of parameter `index`; `None` past the last one.
    pub(crate) fn parameter(&self, function: Function, index: usize) -> Result<Option<(usize, usize)>, CudaError> {
        const INVALID_VALUE: i32 = 1;
        let (mut offset, mut bytes) = (0, 0);
        let answer = |status: i32, call, offset, bytes| match status {
            INVALID_VALUE => Ok(None),
            status => self.check(call, status).map(|()| Some((offset, bytes))),
        };
        let Some(of_function) = self.table().cuFuncGetParamInfo else { return Err(absent("cuFuncGetParamInfo")) };
        // SAFETY: the outputs are locals; the driver checks the handle.
        let status = unsafe { of_function(function, index, &mut offset, &mut bytes) };
        if status != 0
            && status != INVALID_VALUE
            && let Some(of_kernel) = self.table().cuKernelGetParamInfo
        {
            // SAFETY: as above: the handle may be a kernel of a library.
            let status = unsafe { of_kernel(function, index, &mut offset, &mut bytes) };
            return answer(status, "cuKernelGetParamInfo", offset, bytes);
        }
        answer(status, "cuFuncGetParamInfo", offset, bytes)
    }

    /// Launches with parameters by pointer, or packed in `extra`.
    pub(crate) fn launch(
        &self,
        config: &LaunchConfig,
        function: Function,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Result<(), CudaError> {
        call!(self, cuLaunchKernelEx(config, function, arguments, extra))
    }
}

/// The status of a function that this driver does not have: `CUDA_ERROR_NOT_FOUND`.
pub(super) fn absent(call: &'static str) -> CudaError {
    CudaError { call, status: 500, name: "a function that this driver does not have".to_owned() }
}
