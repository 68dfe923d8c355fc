//! The version of the file's format, apart from the version of the program.

use std::fmt;

/// SQLite's `application_id` of every `.kreplay` file: `KRPL`.
pub const APPLICATION_ID: u32 = u32::from_be_bytes(*b"KRPL");

/// The version that this build writes.
pub const STORE_VERSION: StoreVersion = StoreVersion(3);

/// A version of the format; SQLite's `user_version`. It is raised whenever a table or column changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreVersion(pub u32);

impl StoreVersion {
    /// Whether this build reads files of this version.
    pub fn is_readable(self) -> bool {
        self == STORE_VERSION
    }
}

impl fmt::Display for StoreVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_versions_are_read() {
        assert!(STORE_VERSION.is_readable());
        assert!(!StoreVersion(0).is_readable());
        assert!(!StoreVersion(STORE_VERSION.0 + 1).is_readable());
    }
}
