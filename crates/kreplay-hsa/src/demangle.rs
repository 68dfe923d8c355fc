//! Names of kernels as people write them.

use cpp_demangle::{DemangleOptions, Symbol};

/// The C++ name behind a mangled one; any other name as it is.
pub(crate) fn demangle(name: &str) -> String {
    let demangled = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten();
    demangled
        .and_then(|symbol| symbol.demangle_with_options(&DemangleOptions::default()).ok())
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn mangled_names_are_demangled_and_others_kept() {
        assert_eq!(demangle("_Z5saxpyfPKfPfi"), "saxpy(float, float const*, float*, int)");
        assert_eq!(demangle("advance"), "advance");
        assert_eq!(demangle("_Zbroken"), "_Zbroken");
        assert_eq!(demangle("__amd_rocclr_fillBufferAligned"), "__amd_rocclr_fillBufferAligned");
    }
}
