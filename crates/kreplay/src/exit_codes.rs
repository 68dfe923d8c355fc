//! The numbers that the command ends with.
//!
//! `kreplay profile` ends as the program did: with its exit code, or with 128 + n when signal n ended it. Its own
//! failures use 116 to 122, below the numbers that shells, `timeout` and `xargs` keep for themselves (123 to 127).

/// The command line is wrong.
pub(crate) const USAGE: u8 = 116;
/// Something that the machine must have is missing: a device, a runtime, a library, a permission.
pub(crate) const ENVIRONMENT: u8 = 117;
/// A file cannot be written or read.
pub(crate) const FILE: u8 = 118;
/// The program could not be started.
pub(crate) const PROGRAM: u8 = 119;
/// The request cannot be met: an unknown counter or set, or something that is not implemented.
pub(crate) const REQUEST: u8 = 120;
/// The program ran and ended with 0, but records could not be written.
pub(crate) const RECORDING: u8 = 121;
/// A fault of kreplay itself.
pub(crate) const INTERNAL: u8 = 122;

/// What a shell would say of an end by this signal.
pub(crate) fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// What `--help` says about them.
pub(crate) const HELP: &str = "Exit codes:
  0            all went well; `profile` otherwise ends with the program's own exit code
  128 + n      the program was ended by signal n, or kreplay before it was started
  116          the command line is wrong
  117          a device, runtime, library or permission is missing (see `kreplay doctor`)
  118          a file cannot be written or read, or is not one of kreplay's
  119          the program could not be started
  120          the request cannot be met: an unknown counter or set, or a mode that is not there
  121          the program ended with 0, but not all records could be written
  122          a fault of kreplay itself";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_help_and_none_is_taken() {
        let codes = [USAGE, ENVIRONMENT, FILE, PROGRAM, REQUEST, RECORDING, INTERNAL];
        for code in codes {
            assert!((116..=122).contains(&code));
            assert!(HELP.contains(&format!("\n  {code} ")), "{code} is not in the help");
            assert_eq!(codes.iter().filter(|other| **other == code).count(), 1);
        }
    }
}
