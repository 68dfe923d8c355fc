//! Nodes, memory banks, caches, links.

use softgpu::topology::{self as gpu, CPU_NODE, Cache, CacheKind, GPU_NODE};

use crate::guard::{device, guard, out};
use crate::types::{
    CACHE_CPU, CACHE_DATA, CACHE_GPU, CACHE_INSTRUCTION, CAPABILITY_DOORBELL_2, CAPABILITY_QUEUE_POWER_OF_TWO,
    CAPABILITY_SRAM_ECC, CacheProperties, HEAP_FRAME_BUFFER_PRIVATE, HEAP_FRAME_BUFFER_PUBLIC, HEAP_LDS, HEAP_SCRATCH,
    HEAP_SYSTEM, IoLinkProperties, LINK_PCIE, MemoryProperties, NodeProperties, Status, SystemProperties,
};

/// Flat addresses of private memory: 4 GiB, what 32 bits of offset reach.
const SCRATCH_BYTES: u64 = 4 << 30;

/// Takes a snapshot of the topology, which never changes.
///
/// # Safety
/// The pointer must be valid or null, as for every function of the thunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtAcquireSystemProperties(properties: *mut SystemProperties) -> Status {
    guard(|| {
        device()?;
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(properties) }? = SystemProperties { nodes: 2, oem: 0, id: 0, revision: 0 };
        Ok(())
    })
}

/// Gives the snapshot back.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtReleaseSystemProperties() -> Status {
    Status::Success
}

/// What a node is.
///
/// # Safety
/// The pointer must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetNodeProperties(node: u32, properties: *mut NodeProperties) -> Status {
    guard(|| {
        // SAFETY: the structure is plain numbers, for which all zeroes are values.
        let mut node_properties: NodeProperties = unsafe { std::mem::zeroed() };
        match node {
            CPU_NODE => cpu_node(&mut node_properties, device()?.config.large_bar),
            GPU_NODE => gpu_node(&mut node_properties, device()?.memory.limit()),
            _ => return Err(Status::InvalidNodeUnit),
        }
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(properties) }? = node_properties;
        Ok(())
    })
}

fn cpu_node(p: &mut NodeProperties, reaches_gpu: bool) {
    p.cpu_cores = gpu::cpu_cores();
    p.memory_banks = 1;
    p.caches = gpu::CPU_CACHES.len() as u32;
    // As the driver does: a link from the CPU to the GPU stands for a large BAR, and ROCr lets the CPU reach device memory only with it.
    p.io_links = u32::from(reaches_gpu);
    p.max_clock_cpu = 2000;
    name(p, "CPU", "CPU");
}

fn gpu_node(p: &mut NodeProperties, memory: u64) {
    let (major, minor, stepping) = gpu::GFX_VERSION;
    p.simds = gpu::COMPUTE_UNITS * gpu::SIMDS_PER_CU;
    p.memory_banks = GPU_BANKS as u32;
    p.caches = gpu::GPU_CACHES.len() as u32;
    p.io_links = 1;
    p.simd_id_low = 0x8000_0000;
    p.capability = CAPABILITY_DOORBELL_2 | CAPABILITY_QUEUE_POWER_OF_TWO | CAPABILITY_SRAM_ECC;
    p.waves_per_simd = gpu::WAVES_PER_SIMD;
    p.lds_kib = gpu::LDS_BYTES >> 10;
    p.wave_size = gpu::WAVE_SIZE;
    p.shader_banks = gpu::SHADER_ENGINES;
    p.arrays = 1;
    p.cus_per_array = gpu::COMPUTE_UNITS / gpu::SHADER_ENGINES;
    p.simds_per_cu = gpu::SIMDS_PER_CU;
    p.scratch_slots = gpu::WAVES_PER_SIMD * gpu::SIMDS_PER_CU;
    p.engine_id = 68 | major << 10 | minor << 16 | stepping << 24;
    p.vendor = gpu::VENDOR_ID;
    p.device = gpu::DEVICE_ID;
    p.location = 1 << 8;
    p.local_memory = memory;
    p.max_clock_gpu = 1700;
    p.max_clock_cpu = 2000;
    p.render_minor = -1;
    p.engine_versions = 8;
    p.sdma_engines = 2;
    p.sdma_queues_per_engine = 8;
    p.cp_queues = 24;
    p.unique_id = 0x50f7_0000_0090_0a00;
    p.vgpr_bytes_per_cu = 512 << 10;
    p.sgpr_bytes_per_cu = 12_800;
    (p.xcc, p.driver_id, p.family) = (1, GPU_NODE, 141);
    name(p, gpu::PRODUCT_NAME, "gfx90a");
}

fn name(p: &mut NodeProperties, marketing: &str, amd: &str) {
    let mut wide = [0; 64];
    wide.iter_mut().zip(marketing.encode_utf16()).for_each(|(to, from)| *to = from);
    p.marketing_name = wide;
    let mut narrow = [0; 64];
    narrow.iter_mut().zip(amd.bytes()).for_each(|(to, from)| *to = from);
    p.amd_name = narrow;
}

const GPU_BANKS: usize = 3;

/// Memory banks of a node: the first `count` of them are written.
///
/// # Safety
/// The pointer must be valid for `count` structures, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetNodeMemoryProperties(
    node: u32,
    count: u32,
    properties: *mut MemoryProperties,
) -> Status {
    guard(|| {
        let bank = |heap, bytes, virtual_base| MemoryProperties {
            heap,
            bytes,
            flags: 0,
            width: 4096,
            max_clock: 1600,
            virtual_base,
        };
        let banks = match node {
            CPU_NODE => vec![bank(HEAP_SYSTEM, gpu::host_memory_bytes(), 0)],
            GPU_NODE => {
                let device = device()?;
                let heap = if device.config.large_bar { HEAP_FRAME_BUFFER_PUBLIC } else { HEAP_FRAME_BUFFER_PRIVATE };
                let banks: [_; GPU_BANKS] = [
                    bank(heap, device.memory.limit(), 0),
                    bank(HEAP_LDS, u64::from(gpu::LDS_BYTES), gpu::LDS_APERTURE),
                    bank(HEAP_SCRATCH, SCRATCH_BYTES, gpu::PRIVATE_APERTURE),
                ];
                banks.to_vec()
            }
            _ => return Err(Status::InvalidNodeUnit),
        };
        // SAFETY: the caller's array holds `count` structures.
        unsafe { fill(properties, count, &banks) }
    })
}

/// Caches of a node's processor.
///
/// # Safety
/// The pointer must be valid for `count` structures, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetNodeCacheProperties(
    node: u32,
    processor: u32,
    count: u32,
    properties: *mut CacheProperties,
) -> Status {
    guard(|| {
        let (caches, owner): (&[Cache], u32) = match node {
            CPU_NODE => (&gpu::CPU_CACHES, CACHE_CPU),
            GPU_NODE => (&gpu::GPU_CACHES, CACHE_GPU),
            _ => return Err(Status::InvalidNodeUnit),
        };
        let caches: Vec<CacheProperties> = caches
            .iter()
            .map(|cache| {
                let holds = match cache.kind {
                    CacheKind::Data => CACHE_DATA,
                    CacheKind::Instruction => CACHE_INSTRUCTION,
                    // ROCr lists only caches that are not for instructions; a unified one counts as one for data.
                    CacheKind::Unified => CACHE_DATA,
                };
                CacheProperties {
                    processor,
                    level: cache.level,
                    kib: cache.kib,
                    line: cache.line,
                    lines_per_tag: 1,
                    associativity: 16,
                    latency: 0,
                    kind: holds | owner,
                    siblings: [0; 256],
                }
            })
            .collect();
        // SAFETY: the caller's array holds `count` structures.
        unsafe { fill(properties, count, &caches) }
    })
}

/// Links of a node: one to the other node, but none from a CPU that does not reach device memory.
///
/// # Safety
/// The pointer must be valid for `count` structures, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetNodeIoLinkProperties(
    node: u32,
    count: u32,
    properties: *mut IoLinkProperties,
) -> Status {
    guard(|| {
        if node > GPU_NODE {
            return Err(Status::InvalidNodeUnit);
        }
        let link = IoLinkProperties {
            kind: LINK_PCIE,
            major: 4,
            minor: 0,
            from: node,
            to: GPU_NODE - node,
            weight: 20,
            min_latency: 0,
            max_latency: 0,
            min_bandwidth: 0,
            max_bandwidth: 32_000,
            transfer_bytes: 0,
            flags: 0,
        };
        let links = if node == GPU_NODE || device()?.config.large_bar { &[link][..] } else { &[] };
        // SAFETY: the caller's array holds `count` structures.
        unsafe { fill(properties, count, links) }
    })
}

/// Writes as many of the structures as the caller has room for.
///
/// # Safety
/// `to` must be valid for `count` structures, or null.
unsafe fn fill<T: Copy>(to: *mut T, count: u32, from: &[T]) -> Result<(), Status> {
    if to.is_null() {
        return Err(Status::InvalidParameter);
    }
    for (i, one) in from.iter().take(count as usize).enumerate() {
        // SAFETY: inside the caller's array; packed structures need no alignment beyond 4, but none is assumed.
        unsafe { to.add(i).write_unaligned(*one) };
    }
    Ok(())
}

include!(concat!(env!("OUT_DIR"), "/topology_versions.rs"));
