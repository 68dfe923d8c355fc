//! The agent's device kernels: copy, compare, synchronise and hash, by reading both sides or by hashes that are kept, each over a
//! table of ranges in one launch.
//!
//! They are shipped as PTX text (`replay.ptx`, `.version 7.0`, target `sm_70`), which every driver from 450 on compiles for
//! its device when it is loaded. The text is compiled from `replay.c` with
//!
//! ```text
//! clang-19 --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx70 \
//!     --cuda-path=/nonexistent -nostdlib -ffreestanding -O3 -S -x c replay.c -o replay.ptx
//! ```
//!
//! (A CUDA toolkit that the compiler finds would decide the version.)

mod table;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use table::Entry;
pub(crate) use table::{TILE_BYTES, Table};

use std::ffi::CStr;

/// The PTX text, ended with a NUL as the driver wants it.
pub(crate) const PTX: &CStr = {
    match CStr::from_bytes_with_nul(concat!(include_str!("replay.ptx"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the PTX text holds a NUL"),
    }
};

/// Copies every entry's `a` to its `b`.
pub(crate) const COPY: &CStr = c"kreplay_copy";
/// Marks the chunks in which `a` and `b` differ.
pub(crate) const COMPARE: &CStr = c"kreplay_compare";
/// Marks the chunks in which `a` and `b` differ, and makes `b` like `a`.
pub(crate) const SYNCHRONISE: &CStr = c"kreplay_synchronise";
/// Adds the hash of each chunk of `a` to its value.
pub(crate) const HASH: &CStr = c"kreplay_hash";

/// Marks the tiles of `a` with other hashes than those that are kept of `b`.
pub(crate) const LOOK: &CStr = c"kreplay_look";
/// The same, and makes `b` and its hashes like `a`.
pub(crate) const TAKE: &CStr = c"kreplay_take";
/// The same, and makes `a` like `b`.
pub(crate) const GIVE: &CStr = c"kreplay_give";
/// Writes the hash of each tile of `a`.
pub(crate) const DIGEST: &CStr = c"kreplay_digest";

/// Threads of a block in every launch of these kernels.
pub(crate) const BLOCK: u32 = 256;
