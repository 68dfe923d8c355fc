//! `libhsakmt.so.1` of the software GPU: the functions through which ROCr reaches a GPU.
//!
//! Build it with `cargo build -p softgpu-thunk`; the library is `target/debug/libhsakmt.so`. Run any ROCr or HIP program
//! on it in one of two ways, neither of which touches what is installed:
//!
//! ```text
//! mkdir dir && cp target/debug/libhsakmt.so dir/libhsakmt.so.1
//! LD_LIBRARY_PATH=dir ./program          # in place of the system's library
//! LD_PRELOAD=$PWD/target/debug/libhsakmt.so ./program     # beside it
//! ```
//!
//! # Which ROCr
//!
//! | ROCr | where | state |
//! |---|---|---|
//! | 5.2.3 (`libhsa-runtime64.so.1.5.0`) | Debian 12 | the reference: every test runs on it. Imports 42 functions |
//! | 6.1.2 (`libhsa-runtime64.so.1.13.0`) | Debian 13 | tried with the direct HSA programs of `tests/programs`. Imports 55 functions, and asks `libdrm_amdgpu` for the GPU's clock, which this library answers itself |
//! | newer | | one line on stderr says that it was not tried. Since 1.18 ROCr can load a thunk through its hook `HSA_ENABLE_DTIF=1`, as `libdtif.so`; functions that are not here are then missing, which such a ROCr accepts |
//!
//! Settings are environment variables (`softgpu::device`). In-process tests find more functions with `dlsym`
//! ([`instruments`]).
//!
//! Every function here catches panics and answers with an error instead; none ends the process.

#![expect(unreachable_pub, reason = "the functions are exported by symbol, not by path")]

mod drm;
mod event;
mod guard;
pub mod instruments;
mod memory;
mod open;
mod queue;
mod runtime_version;
mod topology;
mod types;
mod unsupported;
