//! Names of kernels as people write them.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt::{self, Write};

/// Longest name that is made: templates of templates repeat themselves without end.
const LONGEST: usize = 16 << 10;

/// The C++ name behind a mangled one; any other name, and one that would be far too long, as it is.
pub fn demangle(name: &str) -> String {
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    // Names come from the program; whatever is wrong with one must not end the profile.
    let demangled = std::panic::catch_unwind(|| {
        let symbol = Symbol::new(name).ok()?;
        let mut text = Limited(String::new());
        symbol.structured_demangle(&mut text, &DemangleOptions::default()).ok()?;
        Some(text.0)
    });
    demangled.ok().flatten().unwrap_or_else(|| name.to_owned())
}

struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
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

    #[test]
    fn names_without_end_are_kept_as_they_are() {
        // Each argument is a pair of the one before, named by its number: the text doubles each time.
        let pairs = |count: usize| {
            let numbers = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().take(count);
            let pairs: String = numbers.map(|number| format!("S_IS{number}_S{number}_E")).collect();
            format!("_Z1f1pIiiE{pairs}")
        };
        assert!(demangle(&pairs(3)).starts_with("f(p<int, int>, p<p<int, int>, p<int, int> >, "));
        assert_eq!(demangle(&pairs(24)), pairs(24));
    }
}
