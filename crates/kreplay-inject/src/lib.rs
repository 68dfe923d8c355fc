//! libkreplay.so: nothing but the exported entry points.
//!
//! | loaded by | through | entry points |
//! |---|---|---|
//! | ROCr, in `hsa_init` | `HSA_TOOLS_LIB` | `OnLoad`, `OnUnload` |
//! | CUDA's driver, in `cuInit` | `CUDA_INJECTION64_PATH` | `InitializeInjection` |
//!
//! Without `KREPLAY_SOCKET` in the environment none of them does anything. No panic leaves them.

mod cuda;
mod hsa;
mod pin;
