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
//! It was made for and tried with Debian 12's ROCr 5.2.3, which imports 42 of these functions (version node `HSAKMT_1`). On
//! another version of ROCr it says so in one line on stderr and goes on. A newer one (1.18 was tried with a prototype) can load the library
//! through its hook `HSA_ENABLE_DTIF=1`, as `libdtif.so`; functions that are not here are then missing, which such a ROCr accepts.
//!
//! Settings are environment variables (`softgpu::device`). In-process tests find more functions with `dlsym`
//! ([`instruments`]).
//!
//! Every function here catches panics and answers with an error instead; none ends the process.

#![expect(unreachable_pub, reason = "the functions are exported by symbol, not by path")]

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
