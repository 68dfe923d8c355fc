//! What the machine looks like to the runtime: one CPU node and one `gfx90a` GPU node.
//!
//! The numbers here are facts of the software GPU; `softgpu-thunk` writes them into the thunk's structures. Sizes that
//! a program can see are those of a real `gfx90a` (wave64, 64 KiB of LDS, 512 vector registers), but for the number of
//! compute units: eight, one for each shader engine, since kernels that fill the device would only be slower with more.

mod cache;
mod host;

pub use cache::{CPU_CACHES, Cache, CacheKind, GPU_CACHES};
pub use host::{cpu_cores, host_memory_bytes};

/// Node id of the CPU and its memory.
pub const CPU_NODE: u32 = 0;
/// Node id of the GPU and its memory.
pub const GPU_NODE: u32 = 1;

/// Major, minor and stepping of `gfx90a`.
pub const GFX_VERSION: (u32, u32, u32) = (9, 0, 10);
/// PCI device id (an MI210's), which HIP shows.
pub const DEVICE_ID: u16 = 0x740f;
/// PCI vendor id of AMD.
pub const VENDOR_ID: u16 = 0x1002;
/// Name shown as the product's.
pub const PRODUCT_NAME: &str = "softgpu gfx90a (software GPU)";

/// Shader engines.
pub const SHADER_ENGINES: u32 = 8;
/// Compute units in the device.
pub const COMPUTE_UNITS: u32 = 8;
/// SIMDs of a compute unit.
pub const SIMDS_PER_CU: u32 = 4;
/// Waves that a SIMD holds.
pub const WAVES_PER_SIMD: u32 = 8;
/// Work-items of a wave.
pub const WAVE_SIZE: u32 = 64;
/// Bytes of LDS that a work-group can have.
pub const LDS_BYTES: u32 = 64 << 10;
/// Largest number of work-items in a work-group.
pub const MAX_WORKGROUP: u32 = 1024;

/// Flat addresses of LDS start here; the runtime hands the upper half to kernels through `amd_queue_t`.
pub const LDS_APERTURE: u64 = 1 << 48;
/// Flat addresses of private memory start here.
pub const PRIVATE_APERTURE: u64 = 2 << 48;

/// Bytes of a page: what mapping and unmapping count in.
pub const PAGE: u64 = 4096;
