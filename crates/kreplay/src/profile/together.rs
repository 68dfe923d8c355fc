//! Options of which one does nothing beside the other: they are refused, since nobody asks for nothing.

use crate::cli::{CacheChoice, ProfileOptions, ReachChoice, RestoreChoice, ShadowChoice, WindowKindChoice};
use crate::error::ExpectedError;

/// Whether the options go together.
///
/// # Errors
/// [`ExpectedError::Usage`].
pub(super) fn check(options: &ProfileOptions) -> Result<(), ExpectedError> {
    let full = (options.restore == RestoreChoice::Full, "--restore full");
    let flush = (options.cache == CacheChoice::Flush, "--cache flush");
    let kernel = (options.window == WindowKindChoice::Kernel, "--window kernel");
    let batch = (options.window == WindowKindChoice::Batch, "--window batch");
    let trusted = (options.shadow == ShadowChoice::Trusted, "--shadow trusted");
    let arguments = (options.reach == ReachChoice::Args, "--reach args");
    let most = (options.window_kernels.is_some(), "--window-kernels");
    let ranges = (options.write_sets, "--write-sets");
    for (one, other, hint) in [
        (flush, batch, "caches are flushed before a pass, not before each kernel of one; leave --window out"),
        (
            full,
            batch,
            "a batch window puts back what was written, which only the other kind of restore knows; leave one out",
        ),
        (full, trusted, "a whole restore copies all memory before each window and believes no copy; leave one out"),
        (full, arguments, "a whole restore copies all memory, whatever the arguments point into; leave one out"),
        (full, ranges, "a whole restore does not look for what was written; leave one out"),
        (batch, arguments, "a batch window looks at all memory that its kernels could write; use --window kernel"),
        (most, kernel, "it limits batch windows, and these have one kernel each; leave one out"),
        (most, full, "it limits batch windows, and a whole restore has windows of one kernel; leave one out"),
        (most, flush, "it limits batch windows, and with flushed caches each kernel has its own; leave one out"),
    ] {
        if one.0 && other.0 {
            let what = format!("{} and {} exclude each other", one.1, other.1);
            return Err(ExpectedError::Usage { what, hint: hint.into() });
        }
    }
    Ok(())
}

/// What the user should know of options that may do nothing: the device has the last word.
pub(super) fn doubt(options: &ProfileOptions) -> Option<&'static str> {
    let open = options.window == WindowKindChoice::Auto && options.cache != CacheChoice::Flush;
    (options.reach == ReachChoice::Args && open).then_some(
        "warning: --reach args counts in windows of one kernel only, and without --window kernel most kernels share batch windows",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn options(words: &str) -> ProfileOptions {
        let words = ["kreplay", "profile"].into_iter().chain(words.split_whitespace()).chain(["--", "true"]);
        let Command::Profile(options) = Cli::try_parse_from(words).unwrap().command else { panic!("not a profile") };
        *options
    }

    #[test]
    fn options_that_would_do_nothing_are_refused() {
        for (one, other) in [
            ("--cache flush", "--window batch"),
            ("--restore full", "--window batch"),
            ("--restore full", "--shadow trusted"),
            ("--restore full", "--reach args"),
            ("--restore full", "--write-sets"),
            ("--window batch", "--reach args"),
            ("--window-kernels 2", "--window kernel"),
            ("--window-kernels 2", "--restore full"),
            ("--window-kernels 2", "--cache flush"),
        ] {
            assert!(check(&options(one)).is_ok() && check(&options(other)).is_ok(), "{one} {other}");
            let refused = check(&options(&format!("{one} {other}"))).unwrap_err().to_string();
            let names = format!("{} and {other} exclude each other", one.trim_end_matches(" 2"));
            assert_eq!(refused, names);
        }
    }

    #[test]
    fn options_that_go_together_are_taken() {
        for words in [
            "",
            "--restore full --window kernel --verify all",
            "--cache flush --window kernel",
            "--window batch --window-kernels 2 --shadow trusted --write-sets",
            "--window-kernels 2",
            "--window kernel --reach args --shadow trusted --write-sets",
            "--reach args",
        ] {
            assert!(check(&options(words)).is_ok(), "{words}");
        }
    }

    #[test]
    fn it_is_told_where_an_option_may_do_nothing() {
        assert!(doubt(&options("--reach args")).is_some());
        for words in ["", "--reach args --window kernel", "--reach args --cache flush"] {
            assert_eq!(doubt(&options(words)), None, "{words}");
        }
    }
}
