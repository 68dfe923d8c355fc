//! The GPU, its memory and its queue.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Error;
use crate::hsa::{self, Handle, Hsa, Queue, SUCCESS, Status, check};

/// What the queue's error callback was told; 0 while all is well.
static QUEUE_STATUS: AtomicU32 = AtomicU32::new(SUCCESS);

/// A piece of memory that the GPU reaches: of an allocation, or a variable of a code object.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

impl Memory {
    /// Where it lies.
    pub fn address(self) -> u64 {
        self.address
    }
}

/// A GPU with one queue.
pub struct Gpu {
    pub(crate) hsa: Hsa,
    pub(crate) agent: Handle,
    /// The chip, as the runtime names it.
    pub name: String,
    pub(crate) queue: *mut Queue,
    device_pool: Handle,
    kernarg_pool: Handle,
    /// A host.
    pub(crate) host: Handle,
}

impl Gpu {
    /// Starts the runtime and takes the first `gfx90a` GPU.
    ///
    /// # Errors
    /// When the runtime is not here or finds no such GPU.
    pub fn open() -> Result<Self, Error> {
        let hsa = Hsa::load()?;
        // SAFETY: no requirement; hsa_init counts its calls.
        check("hsa_init", unsafe { (hsa.hsa_init)() })?;
        let agents = visit(|callback, data| {
            // SAFETY: the callback and its data outlive the call, which is when they are used.
            unsafe { (hsa.hsa_iterate_agents)(callback, data) }
        })?;
        let mut gpus = Vec::new();
        let mut hosts = Vec::new();
        for agent in agents {
            if device_kind(&hsa, agent)? == hsa::DEVICE_GPU { gpus.push(agent) } else { hosts.push(agent) }
        }
        let names = gpus.iter().map(|gpu| chip(&hsa, *gpu)).collect::<Result<Vec<_>, _>>()?;
        let Some(place) = names.iter().position(|name| name == "gfx90a") else {
            return Err(Error::NoGpu(if names.is_empty() { "no GPU".to_owned() } else { names.join(", ") }));
        };
        let agent = gpus[place];
        let device_pool = pool(&hsa, &[agent], hsa::POOL_COARSE)?.ok_or(Error::NoPool("device"))?;
        let host = *hosts.first().ok_or(Error::NoPool("host"))?;
        let kernarg_pool = pool(&hsa, &hosts, hsa::POOL_KERNARG)?.ok_or(Error::NoPool("kernel argument"))?;
        let queue = open_queue(&hsa, agent)?;
        Ok(Self { hsa, agent, name: names[place].clone(), queue, device_pool, kernarg_pool, host })
    }

    /// Device memory, content undefined.
    ///
    /// # Errors
    /// [`Error::Call`] when there is no room.
    pub fn allocate(&self, bytes: usize) -> Result<Memory, Error> {
        self.allocate_in(self.device_pool, bytes)
    }

    /// Takes host memory of [`Gpu::allocate_arguments`] away from the GPU; the host keeps it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn withdraw(&self, memory: Memory) -> Result<(), Error> {
        let address = memory.address as *const c_void;
        // SAFETY: one agent is named and one is given; the runtime looks the address up in its own tables.
        let status = unsafe { (self.hsa.hsa_amd_agents_allow_access)(1, &self.host, std::ptr::null(), address) };
        check("hsa_amd_agents_allow_access", status)
    }

    /// Host memory for the arguments of one launch.
    ///
    /// # Errors
    /// [`Error::Call`] when there is no room.
    pub fn allocate_arguments(&self, bytes: usize) -> Result<Memory, Error> {
        let memory = self.allocate_in(self.kernarg_pool, bytes)?;
        let address = memory.address as *const c_void;
        // SAFETY: one agent is named and one is given; the memory was just allocated.
        let status = unsafe { (self.hsa.hsa_amd_agents_allow_access)(1, &self.agent, std::ptr::null(), address) };
        check("hsa_amd_agents_allow_access", status)?;
        Ok(memory)
    }

    fn allocate_in(&self, pool: Handle, bytes: usize) -> Result<Memory, Error> {
        let mut memory = std::ptr::null_mut();
        // SAFETY: the pool is the runtime's and `memory` is writable.
        let status = unsafe { (self.hsa.hsa_amd_memory_pool_allocate)(pool, bytes, 0, &mut memory) };
        check("hsa_amd_memory_pool_allocate", status)?;
        Ok(Memory { address: memory as u64, bytes })
    }

    /// Frees what [`Gpu::allocate`] gave; nothing may use it any more. The runtime refuses an address that is no
    /// allocation, which is reported on standard error.
    pub fn free(&self, memory: Memory) {
        // SAFETY: the runtime looks the address up in its own tables before it touches anything.
        let status = unsafe { (self.hsa.hsa_amd_memory_pool_free)(memory.address as *mut c_void) };
        if status != SUCCESS {
            eprintln!("demo: hsa_amd_memory_pool_free failed with status {status:#x}");
        }
    }

    /// Writes host memory to the device.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Panics
    /// When `to` is smaller than `from`.
    pub fn upload<T: Copy>(&self, to: Memory, from: &[T]) -> Result<(), Error> {
        assert!(size_of_val(from) <= to.bytes, "the destination holds {} bytes", to.bytes);
        // SAFETY: `from` is readable for its size and `to` is at least as large, see above.
        let status =
            unsafe { (self.hsa.hsa_memory_copy)(to.address as *mut c_void, from.as_ptr().cast(), size_of_val(from)) };
        check("hsa_memory_copy", status)
    }

    /// Reads `count` words of device memory.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Panics
    /// When `from` is smaller than that.
    pub fn download(&self, from: Memory, count: usize) -> Result<Vec<u32>, Error> {
        let mut host = vec![0u32; count];
        let bytes = size_of_val(&host[..]);
        assert!(bytes <= from.bytes, "the source holds {} bytes", from.bytes);
        // SAFETY: `host` is writable for its size, `from` is at least as large, and any bytes are numbers.
        let status =
            unsafe { (self.hsa.hsa_memory_copy)(host.as_mut_ptr().cast(), from.address as *const c_void, bytes) };
        check("hsa_memory_copy", status)?;
        Ok(host)
    }

    /// Shuts the runtime down with everything that is still there, the queue too.
    pub fn shut_down(self) {
        let gpu = std::mem::ManuallyDrop::new(self);
        // SAFETY: matches the hsa_init of `open`; nothing of this GPU can be used after it.
        unsafe { (gpu.hsa.hsa_shut_down)() };
    }

    /// What the queue reported, when it went into error.
    pub(crate) fn queue_error(&self) -> Result<(), Error> {
        match QUEUE_STATUS.load(Ordering::Acquire) {
            SUCCESS => Ok(()),
            status => Err(Error::Queue(status)),
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the queue was created in `open` and nothing is submitted after this.
        unsafe { (self.hsa.hsa_queue_destroy)(self.queue) };
        // SAFETY: matches the hsa_init of `open`.
        unsafe { (self.hsa.hsa_shut_down)() };
    }
}

extern "C" fn queue_failed(status: Status, _queue: *mut Queue, _data: *mut c_void) {
    QUEUE_STATUS.store(status, Ordering::Release);
}

fn open_queue(hsa: &Hsa, agent: Handle) -> Result<*mut Queue, Error> {
    let mut queue = std::ptr::null_mut();
    // SAFETY: the agent is a GPU, 256 packets are within every agent's limits, the callback lives as long as the
    // program and takes no data.
    let status = unsafe {
        (hsa.hsa_queue_create)(
            agent,
            256,
            hsa::QUEUE_MULTI,
            Some(queue_failed),
            std::ptr::null_mut(),
            u32::MAX,
            u32::MAX,
            &mut queue,
        )
    };
    check("hsa_queue_create", status)?;
    Ok(queue)
}

/// Every handle that an iteration gives.
fn visit(iterate: impl FnOnce(hsa::Visit, *mut c_void) -> Status) -> Result<Vec<Handle>, Error> {
    extern "C" fn keep(handle: Handle, data: *mut c_void) -> Status {
        // SAFETY: `data` is the vector below, which nothing else uses during the iteration.
        unsafe { (*data.cast::<Vec<Handle>>()).push(handle) };
        SUCCESS
    }
    let mut handles: Vec<Handle> = Vec::new();
    let status = iterate(keep, (&raw mut handles).cast());
    if status != SUCCESS && status != hsa::BREAK {
        return Err(Error::Call { call: "an iteration", status });
    }
    Ok(handles)
}

fn device_kind(hsa: &Hsa, agent: Handle) -> Result<u32, Error> {
    let mut kind = 0u32;
    // SAFETY: the attribute is 32 bits wide.
    let status = unsafe { (hsa.hsa_agent_get_info)(agent, hsa::AGENT_INFO_DEVICE, (&raw mut kind).cast()) };
    check("hsa_agent_get_info", status)?;
    Ok(kind)
}

fn chip(hsa: &Hsa, agent: Handle) -> Result<String, Error> {
    let mut name = [0u8; 64];
    // SAFETY: the attribute is 64 bytes wide.
    let status = unsafe { (hsa.hsa_agent_get_info)(agent, hsa::AGENT_INFO_NAME, name.as_mut_ptr().cast()) };
    check("hsa_agent_get_info", status)?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// The first global pool of these agents that has all of `flags`.
fn pool(hsa: &Hsa, agents: &[Handle], flags: u32) -> Result<Option<Handle>, Error> {
    for agent in agents {
        let pools = visit(|callback, data| {
            // SAFETY: the callback and its data outlive the call, which is when they are used.
            unsafe { (hsa.hsa_amd_agent_iterate_memory_pools)(*agent, callback, data) }
        })?;
        for pool in pools {
            let segment = pool_info(hsa, pool, hsa::POOL_INFO_SEGMENT)?;
            if segment == hsa::SEGMENT_GLOBAL && pool_info(hsa, pool, hsa::POOL_INFO_FLAGS)? & flags == flags {
                return Ok(Some(pool));
            }
        }
    }
    Ok(None)
}

fn pool_info(hsa: &Hsa, pool: Handle, attribute: u32) -> Result<u32, Error> {
    let mut value = 0u32;
    // SAFETY: both attributes that are asked for are 32 bits wide.
    let status = unsafe { (hsa.hsa_amd_memory_pool_get_info)(pool, attribute, (&raw mut value).cast()) };
    check("hsa_amd_memory_pool_get_info", status)?;
    Ok(value)
}
