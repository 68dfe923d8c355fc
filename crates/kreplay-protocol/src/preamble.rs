//! The 16 raw bytes that each side sends first.
//!
//! ```text
//! offset  bytes  content
//!      0      8  magic "KREPLAY\0"
//!      8      4  protocol version, little endian
//!     12      4  zero
//! ```
//!
//! This layout is the same in every version, so that a mismatch can always be told.

use crate::PreambleError;

/// Version of all messages. Any change of their shape changes it.
pub const PROTOCOL_VERSION: u32 = 4;

/// The first eight bytes of each direction.
pub const MAGIC: [u8; 8] = *b"KREPLAY\0";

/// Bytes of the preamble.
pub const PREAMBLE_BYTES: usize = 16;

/// This side's preamble.
pub fn preamble() -> [u8; PREAMBLE_BYTES] {
    let mut bytes = [0; PREAMBLE_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
    bytes
}

/// Whether `bytes`, the other side's preamble, is one of this version. The last four bytes are not looked at, so that a
/// later version may use them.
///
/// # Errors
/// [`PreambleError`] says whether the other side is no kreplay at all, or another version of it.
pub fn check_preamble(bytes: &[u8; PREAMBLE_BYTES]) -> Result<(), PreambleError> {
    let [magic @ .., v0, v1, v2, v3, _, _, _, _] = *bytes;
    if magic != MAGIC {
        return Err(PreambleError::NotKreplay { found: magic });
    }
    match u32::from_le_bytes([v0, v1, v2, v3]) {
        PROTOCOL_VERSION => Ok(()),
        theirs => Err(PreambleError::OtherVersion { theirs }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_preamble_is_accepted() {
        assert_eq!(check_preamble(&preamble()), Ok(()));
    }

    #[test]
    fn another_version_is_named() {
        let mut other = preamble();
        other[8..12].copy_from_slice(&(PROTOCOL_VERSION + 7).to_le_bytes());
        assert_eq!(check_preamble(&other), Err(PreambleError::OtherVersion { theirs: PROTOCOL_VERSION + 7 }));
    }

    #[test]
    fn another_program_is_told_apart() {
        let found = *b"GET / HT";
        let mut other = [0; PREAMBLE_BYTES];
        other[..8].copy_from_slice(&found);
        assert_eq!(check_preamble(&other), Err(PreambleError::NotKreplay { found }));
    }
}
