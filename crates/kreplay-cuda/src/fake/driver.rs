//! The fake driver's functions. Signatures are those of the table.

use super::kernels::own_kernel;
use super::{CONTEXT, Kernel, world};
use crate::tables::MemoryPlace;
use crate::tables::driver_structs::LaunchConfig;
use std::ffi::{CStr, c_char, c_void};

const INVALID_VALUE: i32 = 1;
const NOT_FOUND: i32 = 500;
const NOT_READY: i32 = 600;

/// The address of a function of the fake, or null.
pub(crate) fn find(name: &CStr) -> *mut c_void {
    macro_rules! table {
        ($($function:ident),* $(,)?) => {
            match name.to_str().unwrap_or_default() {
                $(stringify!($function) => $function as *mut c_void,)*
                other => {
                    let found = [super::graphs::find(other), super::boxes::find(other), super::pools::find(name)];
                    found.into_iter().find(|found| !found.is_null()).unwrap_or(std::ptr::null_mut())
                }
            }
        };
    }
    table!(
        cuInit,
        cuDriverGetVersion,
        cuGetErrorName,
        cuDeviceGetCount,
        cuDeviceGetName,
        cuDeviceGetAttribute,
        cuDeviceGetUuid_v2,
        cuDevicePrimaryCtxRetain,
        cuCtxGetCurrent,
        cuCtxGetDevice,
        cuCtxPushCurrent_v2,
        cuCtxPopCurrent_v2,
        cuCtxSynchronize,
        cuMemGetInfo_v2,
        cuMemAlloc_v2,
        cuMemFree_v2,
        cuMemGetAddressRange_v2,
        cuMemHostAlloc,
        cuMemFreeHost,
        cuMemcpyAsync,
        cuMemsetD8Async,
        cuMemsetD16Async,
        cuMemsetD32Async,
        cuStreamCreate,
        cuStreamQuery,
        cuEventCreate,
        cuEventRecord,
        cuEventQuery,
        cuEventElapsedTime,
        cuEventDestroy_v2,
        cuModuleLoadDataEx,
        cuModuleGetFunction,
        cuModuleGetGlobal_v2,
        cuFuncGetModule,
        cuKernelGetFunction,
        cuLaunchKernelEx,
        cuFuncGetParamInfo,
        cuPointerGetAttribute,
    )
}

/// Functions of the fake, which answer as a test asked them to before they do anything.
macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {
        $(
            #[expect(non_snake_case, reason = "the library's name")]
            pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> i32 {
                if let Some(status) = $crate::fake::scripted(stringify!($name)) {
                    return status;
                }
                $body
            }
        )*
    };
}

pub(super) use functions;

/// Writes an output.
pub(super) fn put<T>(to: *mut T, value: T) {
    // SAFETY: the agent passes pointers to its locals.
    unsafe { to.write(value) };
}

/// The status of an allocation.
fn grant(pointer: *mut u64, base: u64) -> i32 {
    put(pointer, base);
    if base == 0 { 2 } else { 0 }
}

fn handle() -> u64 {
    let mut world = world();
    world.next_handle += 0x10;
    0xE000_0000 + world.next_handle
}

/// Zero where there is no room: the fake device is small.
fn allocate(bytes: usize) -> u64 {
    if bytes > 1 << 32 {
        return 0;
    }
    let Ok(layout) = std::alloc::Layout::from_size_align(bytes.max(1), 4096) else { return 0 };
    // SAFETY: the layout has a size. Fresh memory is poisoned, so that nothing relies on zeros.
    let base = unsafe { std::alloc::alloc(layout) };
    if base.is_null() {
        return 0;
    }
    // SAFETY: just allocated.
    unsafe { std::ptr::write_bytes(base, 0xA5, layout.size()) };
    world().allocations.insert(base as u64, layout);
    base as u64
}

fn free(base: u64) -> i32 {
    match world().allocations.remove(&base) {
        Some(layout) => {
            // SAFETY: allocated above with this layout, and removed from the list.
            unsafe { std::alloc::dealloc(base as *mut u8, layout) };
            0
        }
        None => INVALID_VALUE,
    }
}

functions! {
    fn cuInit(_flags: u32) { 0 }
    fn cuDriverGetVersion(version: *mut i32) { put(version, 13_000); 0 }
    fn cuGetErrorName(status: i32, name: *mut *const c_char) {
        let text = match status {
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            _ => return INVALID_VALUE,
        };
        put(name, text.as_ptr());
        0
    }
    fn cuDeviceGetCount(count: *mut i32) { put(count, 1); 0 }
    fn cuDeviceGetName(name: *mut c_char, _bytes: i32, _device: i32) {
        for (at, byte) in b"Fake GPU\0".iter().enumerate() {
            put(name.wrapping_add(at), *byte as c_char);
        }
        0
    }
    fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, _device: i32) {
        put(value, match attribute { 16 => 4, 38 => 1 << 20, 75 => 9, 88 => super::host_pages(), _ => 0 });
        0
    }
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], _device: i32) { put(uuid, [7; 16]); 0 }
    fn cuDevicePrimaryCtxRetain(context: *mut u64, _device: i32) { put(context, CONTEXT); 0 }
    fn cuCtxGetCurrent(context: *mut u64) { put(context, super::contexts(|stack| stack.last().copied()).unwrap_or(0)); 0 }
    fn cuCtxGetDevice(device: *mut i32) { put(device, 0); 0 }
    fn cuCtxPushCurrent_v2(context: u64) { super::contexts(|stack| stack.push(context)); 0 }
    fn cuCtxPopCurrent_v2(context: *mut u64) {
        const INVALID_CONTEXT: i32 = 201;
        super::contexts(Vec::pop).map_or(INVALID_CONTEXT, |popped| { put(context, popped); 0 })
    }
    fn cuCtxSynchronize() {
        // Longer than any test waits, and not for ever.
        let begin = std::time::Instant::now();
        while world().busy_unseen && begin.elapsed() < std::time::Duration::from_secs(20) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut world = world();
        super::pools::synchronise(&mut world);
        world.broken
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { put(free, 1 << 30); put(total, 1 << 31); 0 }
    fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) { grant(pointer, allocate(bytes)) }
    fn cuMemFree_v2(pointer: u64) { free(pointer) }
    fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, pointer: u64) {
        put(base, pointer);
        put(bytes, world().allocations.get(&pointer).map_or(0, |layout| layout.size()));
        0
    }
    fn cuPointerGetAttribute(value: *mut u64, attribute: u32, pointer: u64) {
        const MEMORY_KIND: u32 = 2;
        const IS_MANAGED: u32 = 8;
        const DEVICE_ORDINAL: u32 = 9;
        const MEMPOOL_HANDLE: u32 = 17;
        // Device memory, by the fake's own allocations; nothing else is known.
        let world = world();
        if attribute == IS_MANAGED {
            let of_pool = super::pools::place_of(&world, pointer) == Some(MemoryPlace::Managed);
            put(value, u64::from(of_pool || world.managed.contains(&pointer)));
            return 0;
        }
        if attribute == MEMPOOL_HANDLE {
            put(value, super::pools::pool_of(&world, pointer));
            return 0;
        }
        let known = world.allocations.iter().any(|(base, layout)| (*base..base + layout.size() as u64).contains(&pointer));
        let place = super::pools::place_of(&world, pointer).or(known.then_some(MemoryPlace::Device(0)));
        match (attribute, place) {
            (MEMORY_KIND, Some(MemoryPlace::Host)) => put(value, 1),
            (MEMORY_KIND, Some(_)) => put(value, 2),
            (DEVICE_ORDINAL, Some(MemoryPlace::Device(device))) => put(value, device as u64),
            _ => return INVALID_VALUE,
        }
        0
    }
    fn cuMemHostAlloc(pointer: *mut u64, bytes: usize, _flags: u32) { grant(pointer, allocate(bytes)) }
    fn cuMemFreeHost(pointer: u64) { free(pointer) }
    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, _stream: u64) {
        // An address that nobody has allocated is taken for the host's.
        if super::pools::is_free(to, false) || super::pools::is_free(from, false) {
            return INVALID_VALUE;
        }
        // SAFETY: the agent copies between memory of this process.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        0
    }
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, _stream: u64) {
        if super::pools::is_free(to, true) {
            return INVALID_VALUE;
        }
        // SAFETY: as above.
        unsafe { std::ptr::write_bytes(to as *mut u8, value, count) };
        0
    }
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, _stream: u64) {
        if super::pools::is_free(to, true) {
            return INVALID_VALUE;
        }
        for at in 0..count {
            put((to as *mut u16).wrapping_add(at), value);
        }
        0
    }
    fn cuMemsetD32Async(to: u64, value: u32, count: usize, _stream: u64) {
        if super::pools::is_free(to, true) {
            return INVALID_VALUE;
        }
        for at in 0..count {
            put((to as *mut u32).wrapping_add(at), value);
        }
        0
    }
    fn cuStreamCreate(stream: *mut u64, _flags: u32) { put(stream, handle()); 0 }
    fn cuStreamQuery(stream: u64) { if world().busy.contains(&stream) { NOT_READY } else { 0 } }
    fn cuEventCreate(event: *mut u64, _flags: u32) { put(event, handle()); 0 }
    fn cuEventRecord(event: u64, stream: u64) {
        super::note_event(event);
        let mut world = world();
        world.recorded.insert(event, stream);
        if world.busy.contains(&stream) {
            world.behind.insert(event, stream);
        } else {
            world.behind.remove(&event);
        }
        0
    }
    fn cuEventQuery(event: u64) {
        let world = world();
        let waits = world.behind.get(&event).is_some_and(|stream| world.busy.contains(stream));
        if waits { NOT_READY } else { 0 }
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: u64, end: u64) { put(milliseconds, super::milliseconds(start, end)); 0 }
    fn cuEventDestroy_v2(_event: u64) { 0 }
    fn cuModuleLoadDataEx(
        module: *mut u64, _image: *const c_void, _count: u32, _options: *const i32, _values: *mut *mut c_void
    ) { put(module, handle()); 0 }
    fn cuModuleGetFunction(function: *mut u64, _module: u64, name: *const c_char) {
        // SAFETY: the agent passes a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
        match own_kernel(name) {
            Some(kernel) => {
                put(function, super::add_kernel(name, &[(0, 8), (8, 4), (16, 8), (24, 4), (32, 8)], kernel));
                0
            }
            None => NOT_FOUND,
        }
    }
    fn cuModuleGetGlobal_v2(pointer: *mut u64, bytes: *mut usize, _module: u64, name: *const c_char) {
        // SAFETY: the agent passes a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
        match world().variables.get(name) {
            Some((address, size)) => {
                put(pointer, *address);
                put(bytes, *size as usize);
                0
            }
            None => NOT_FOUND,
        }
    }
    fn cuFuncGetModule(module: *mut u64, function: u64) { put(module, function & !0xf | 1); 0 }
    fn cuKernelGetFunction(function: *mut u64, kernel: u64) {
        // A kernel's handle is its function's and one.
        if kernel & 1 == 0 { return 400 }
        put(function, kernel & !1);
        0
    }
    fn cuFuncGetParamInfo(function: u64, index: usize, offset: *mut usize, bytes: *mut usize) {
        let world = world();
        let Some((_, parameters, _)) = world.functions.get(&function) else { return 400 };
        match parameters.get(index) {
            Some((at, size)) => {
                put(offset, *at);
                put(bytes, *size);
                0
            }
            None => INVALID_VALUE,
        }
    }
    fn cuLaunchKernelEx(
        config: *const LaunchConfig, function: u64, arguments: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        // SAFETY: the agent passes its local configuration.
        let (grid, stream) = unsafe { ((*config).grid, (*config).stream.raw()) };
        let (kernel, pointers): (Kernel, Vec<*mut c_void>) = {
            let mut world = world();
            let Some((name, parameters, kernel)) = world.functions.get(&function).cloned() else { return 400 };
            if world.hanging.get(&name).is_some_and(|program| *program != stream) {
                world.busy.push(stream);
            }
            world.launches.push(name);
            let pointers = if extra.is_null() {
                // SAFETY: the agent passes one pointer for each parameter.
                (0..parameters.len()).map(|at| unsafe { *arguments.add(at) }).collect()
            } else {
                // SAFETY: the packed form: tag, pointer, tag, size, end.
                let packed = unsafe { *extra.add(1) };
                parameters.iter().map(|(offset, _)| packed.wrapping_byte_add(*offset)).collect()
            };
            (kernel, pointers)
        };
        kernel(grid, &pointers);
        0
    }
}
