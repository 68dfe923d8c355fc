//! The entry point of CUDA's driver: it loads the library named by `CUDA_INJECTION64_PATH` inside `cuInit` and calls this.

/// Begins profiling of this process when the kreplay command asked for it. Returns 1; never unwinds.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(crate) extern "C" fn InitializeInjection() -> i32 {
    kreplay_cuda::initialize_injection()
}
