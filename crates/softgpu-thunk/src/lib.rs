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
//! | 6.4 (1.15) and later | Debian unstable | not served: the thunk is linked into the runtime itself, so that there is nothing to put another in the place of |
//! | 7 (1.18) and later | AMD's packages | not served: its hook `HSA_ENABLE_DTIF=1` loads a thunk as `libdtif.so`, but asks for all of 103 functions, `DtifCreate` and `DtifDestroy`, and goes on with none when one is missing |
//!
//! On a ROCr that was not tried the library says so in one line on stderr, and goes on.
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
mod sampling;
mod share;
mod topology;
mod types;
mod unsupported;
