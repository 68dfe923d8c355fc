//! What memory of the program must hold.

use super::Words;
use std::collections::BTreeMap;

/// Every live byte of the program, told to the engine or not.
#[derive(Default)]
pub(super) struct Model {
    pub(super) live: BTreeMap<u64, Vec<u8>>,
    /// Of these, pools by base: what is allocated within.
    pub(super) pools: BTreeMap<u64, BTreeMap<u64, u64>>,
}

impl Model {
    /// What holds an address, and where in it.
    fn word(&self, address: u64) -> (u64, usize) {
        let (base, _) = self.live.range(..=address).next_back().expect("the model has this address");
        (*base, (address - base) as usize)
    }

    /// Somebody writes there.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) {
        let (base, at) = self.word(address);
        if let Some(live) = self.live.get_mut(&base) {
            live[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }
}

impl Words for Model {
    fn load(&self, address: u64) -> u32 {
        let (base, at) = self.word(address);
        u32::from_le_bytes(self.live[&base][at..at + 4].try_into().expect("four bytes"))
    }

    fn store(&mut self, address: u64, value: u32) {
        self.write(address, &value.to_le_bytes());
    }
}
