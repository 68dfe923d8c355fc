//! The parts of the demo program: an ordinary user of the HSA runtime that knows nothing of kreplay.
//!
//! The tests' own HSA programs are built from the same parts.

pub mod behaviours;
mod copy;
mod error;
mod gpu;
mod hsa;
mod launch;
mod module;
mod signal;

pub use error::Error;
pub use gpu::{Gpu, Memory};
pub use launch::{Argument, GROUP, Launch};
pub use module::{Kernel, Module};
pub use signal::{Handler, Signal};
