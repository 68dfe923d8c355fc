//! The agent's device kernels, as the processor runs them. They are also the reference that the real ones are held to.

use super::Kernel;
use crate::kernels::{Entry, TILE_BYTES};
use kreplay_engine::Towards;
use std::ffi::c_void;
use std::sync::Arc;

/// The twin of a kernel of ours.
pub(super) fn own_kernel(name: &str) -> Option<Kernel> {
    match name {
        "kreplay_copy" => Some(Arc::new(|_, arguments| each(arguments, copy))),
        "kreplay_compare" => Some(Arc::new(|_, arguments| {
            each(arguments, |entry, shift, out| {
                compare(entry, shift, out, false);
            })
        })),
        "kreplay_synchronise" => Some(Arc::new(|_, arguments| {
            each(arguments, |entry, shift, out| {
                compare(entry, shift, out, true);
            })
        })),
        "kreplay_hash" => Some(Arc::new(|_, arguments| {
            each(arguments, |entry, shift, out| {
                for (index, chunk) in bytes(entry.a, entry.bytes).chunks(1 << shift).enumerate() {
                    // SAFETY: the agent gave room for a value a chunk.
                    unsafe {
                        let value = (out as *mut u64).add(entry.out as usize + index);
                        *value = (*value).wrapping_add(hash(chunk));
                    }
                }
            })
        })),
        "kreplay_look" => {
            Some(Arc::new(|_, arguments| each(arguments, |entry, shift, out| look(entry, shift, out, None))))
        }
        "kreplay_take" => Some(Arc::new(|_, arguments| {
            each(arguments, |entry, shift, out| look(entry, shift, out, Some(Towards::Shadow)));
        })),
        "kreplay_give" => Some(Arc::new(|_, arguments| {
            each(arguments, |entry, shift, out| look(entry, shift, out, Some(Towards::Memory)));
        })),
        "kreplay_digest" => Some(Arc::new(|_, arguments| {
            each(arguments, |entry, _, _| {
                for (tile, content) in bytes(entry.a, entry.bytes).chunks(TILE_BYTES as usize).enumerate() {
                    // SAFETY: the agent gave room for a hash a tile.
                    unsafe { *(entry.digests as *mut u64).add(tile) = hash(content) };
                }
            });
        })),
        _ => None,
    }
}

/// Calls `work` for each entry of the table that the arguments name, with the chunk's shift and the result's address.
fn each(arguments: &[*mut c_void], work: impl Fn(&Entry, u32, u64)) {
    // SAFETY: the agent's argument layout: table, entries, tiles, shift, results.
    let (table, entries, shift, out) = unsafe {
        (
            *arguments[0].cast::<u64>(),
            *arguments[1].cast::<u32>(),
            *arguments[3].cast::<u32>(),
            *arguments[4].cast::<u64>(),
        )
    };
    // SAFETY: the table was uploaded before.
    for entry in unsafe { std::slice::from_raw_parts(table as *const Entry, entries as usize) } {
        work(entry, shift, out);
    }
}

fn bytes<'a>(base: u64, bytes: u64) -> &'a mut [u8] {
    // SAFETY: the agent names live memory of this process.
    unsafe { std::slice::from_raw_parts_mut(base as *mut u8, bytes as usize) }
}

fn copy(entry: &Entry, _shift: u32, _out: u64) {
    bytes(entry.b, entry.bytes).copy_from_slice(bytes(entry.a, entry.bytes));
}

fn compare(entry: &Entry, shift: u32, out: u64, update: bool) {
    let (a, b) = (bytes(entry.a, entry.bytes), bytes(entry.b, entry.bytes));
    for (index, (a, b)) in a.chunks(1 << shift).zip(b.chunks_mut(1 << shift)).enumerate() {
        if a != b {
            // SAFETY: the agent gave room for a bit a chunk.
            unsafe { *(out as *mut u32).add(entry.out as usize + index / 32) |= 1 << (index % 32) };
            if update {
                b.copy_from_slice(a);
            }
        }
    }
}

fn look(entry: &Entry, shift: u32, out: u64, towards: Option<Towards>) {
    if entry.digests == 0 {
        let (a, b) = if towards == Some(Towards::Memory) { (entry.b, entry.a) } else { (entry.a, entry.b) };
        return compare(&Entry { a, b, ..*entry }, shift, out, towards.is_some());
    }
    let (a, b) = (bytes(entry.a, entry.bytes), bytes(entry.b, entry.bytes));
    let tile_bytes = TILE_BYTES as usize;
    for (tile, (a, b)) in a.chunks_mut(tile_bytes).zip(b.chunks_mut(tile_bytes)).enumerate() {
        // SAFETY: the agent gave room for a hash a tile.
        let digest = unsafe { &mut *(entry.digests as *mut u64).add(tile) };
        let found = hash(a);
        if found == *digest {
            continue;
        }
        let index = (tile * tile_bytes) >> shift;
        // SAFETY: the agent gave room for a bit a chunk.
        unsafe { *(out as *mut u32).add(entry.out as usize + index / 32) |= 1 << (index % 32) };
        match towards {
            None => {}
            Some(Towards::Shadow) => {
                b.copy_from_slice(a);
                *digest = found;
            }
            Some(Towards::Memory) => a.copy_from_slice(b),
        }
    }
}

/// The hash of a chunk: the same sum as the device's.
pub(crate) fn hash(chunk: &[u8]) -> u64 {
    let mut sum = 0u64;
    for (place, unit) in chunk.chunks(16).enumerate() {
        let mut padded = [0; 16];
        padded[..unit.len()].copy_from_slice(unit);
        let place = place as u64 ^ ((16 - unit.len() as u64) << 56);
        let word = |at: usize| u64::from_le_bytes(padded[at..at + 8].try_into().unwrap_or_default());
        let low = word(0) ^ 0x9e37_79b9_7f4a_7c15u64.wrapping_add(place.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let high = word(8) ^ 0xc2b2_ae3d_27d4_eb4fu64.wrapping_add(place.wrapping_mul(0xa076_1d64_78bd_642f));
        let product = u128::from(low) * u128::from(high);
        sum = sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }
    sum
}
