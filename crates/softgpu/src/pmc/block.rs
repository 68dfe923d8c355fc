//! The counter blocks of a gfx90a: names, ids, instances, slots.
//!
//! The numbers are those that AMD publishes for gfx90a (one die of an MI200) in the block tables of its
//! AQL profile library, ROCm 6: two dimensions matter to a profiler. An *instance* is selected by `block_index`
//! and has its own slots. A *sample* is one value of an instance: blocks that sit in a shader engine give one a shader
//! engine for each instance.

use crate::topology::{COMPUTE_UNITS, SHADER_ENGINES};

/// Compute units of a shader engine: the software GPU has few of the 16 that the hardware has room for.
const CUS_PER_SHADER_ENGINE: u32 = COMPUTE_UNITS / SHADER_ENGINES;
const _: () = assert!(CUS_PER_SHADER_ENGINE >= 1 && CUS_PER_SHADER_ENGINE <= 16);
const _: () = assert!(CUS_PER_SHADER_ENGINE * SHADER_ENGINES == COMPUTE_UNITS);

/// A block's number in the AQL profile interface (`hsa_ven_amd_aqlprofile_block_name_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

impl BlockId {
    /// Command processor, compute.
    pub const CPC: BlockId = BlockId(0);
    /// Command processor, fetcher.
    pub const CPF: BlockId = BlockId(1);
    /// Global data share.
    pub const GDS: BlockId = BlockId(2);
    /// Graphics register bus manager: clocks and busy signals.
    pub const GRBM: BlockId = BlockId(3);
    /// The same, by shader engine.
    pub const GRBM_SE: BlockId = BlockId(4);
    /// Shader processor input: launches work-groups and waves.
    pub const SPI: BlockId = BlockId(5);
    /// Sequencer: waves and instructions.
    pub const SQ: BlockId = BlockId(6);
    /// Shader export.
    pub const SX: BlockId = BlockId(9);
    /// Texture addresser: addresses of vector memory instructions.
    pub const TA: BlockId = BlockId(10);
    /// Arbiter of the vector L1 caches.
    pub const TCA: BlockId = BlockId(11);
    /// L2 cache channels.
    pub const TCC: BlockId = BlockId(12);
    /// Vector L1 caches.
    pub const TCP: BlockId = BlockId(13);
    /// Texture data: returns data of vector memory instructions.
    pub const TD: BlockId = BlockId(14);
    /// Not of the hardware: what only the software GPU can count.
    pub const SOFT: BlockId = BlockId(0x534f);
}

/// A counter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number in the interface.
    pub id: BlockId,
    /// Its name in the interface.
    pub name: &'static str,
    /// Counters that one instance holds at once.
    pub slots: u32,
    /// Instances, selected by `block_index`.
    pub instances: u32,
    /// Whether each instance exists in every shader engine and gives a sample for each.
    pub per_shader_engine: bool,
    /// Instances (of a shader engine) that work; the others are not there and always read zero, as they do on hardware
    /// with compute units fused off.
    pub working: u32,
}

impl Block {
    /// The block with this number.
    pub fn find(id: BlockId) -> Option<&'static Block> {
        BLOCKS.iter().find(|block| block.id == id)
    }

    /// The block with this name.
    pub fn named(name: &str) -> Option<&'static Block> {
        BLOCKS.iter().find(|block| block.name == name)
    }

    /// Values that reading one event of one instance gives.
    pub fn samples(&self) -> u32 {
        if self.per_shader_engine { SHADER_ENGINES } else { 1 }
    }

    /// Working cells of the block: pairs of instance and shader engine that can count.
    pub fn cells(&self) -> u32 {
        self.working * self.samples()
    }

    /// The place of a sample among the working cells, or `None` where there is nothing behind the instance.
    pub(super) fn cell(&self, instance: u32, sample: u32) -> Option<u32> {
        (instance < self.working && sample < self.samples()).then(|| instance * self.samples() + sample)
    }
}

const fn one(id: BlockId, name: &'static str, slots: u32, per_shader_engine: bool) -> Block {
    Block { id, name, slots, instances: 1, per_shader_engine, working: 1 }
}

const fn per_cu(id: BlockId, name: &'static str, slots: u32) -> Block {
    Block { id, name, slots, instances: 16, per_shader_engine: true, working: CUS_PER_SHADER_ENGINE }
}

const fn channels(id: BlockId, name: &'static str, slots: u32) -> Block {
    Block { id, name, slots, instances: 32, per_shader_engine: false, working: 32 }
}

/// All blocks: those of the hardware's that a compute profiler uses, and the software GPU's own.
pub const BLOCKS: &[Block] = &[
    one(BlockId::CPC, "CPC", 2, false),
    one(BlockId::CPF, "CPF", 2, false),
    one(BlockId::GDS, "GDS", 4, false),
    one(BlockId::GRBM, "GRBM", 2, false),
    one(BlockId::GRBM_SE, "GRBM_SE", 4, false),
    one(BlockId::SPI, "SPI", 6, true),
    one(BlockId::SQ, "SQ", 8, true),
    one(BlockId::SX, "SX", 4, true),
    per_cu(BlockId::TA, "TA", 2),
    channels(BlockId::TCA, "TCA", 4),
    channels(BlockId::TCC, "TCC", 4),
    per_cu(BlockId::TCP, "TCP", 4),
    per_cu(BlockId::TD, "TD", 2),
    one(BlockId::SOFT, "SOFT", 16, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slots_are_those_of_a_gfx90a() {
        let slots = |name| Block::named(name).expect("block").slots;
        assert_eq!([slots("SQ"), slots("SPI"), slots("GRBM"), slots("GRBM_SE"), slots("GDS")], [8, 6, 2, 4, 4]);
        assert_eq!([slots("TA"), slots("TD"), slots("TCP"), slots("TCC"), slots("TCA")], [2, 2, 4, 4, 4]);
        assert_eq!([slots("CPC"), slots("CPF"), slots("SX")], [2, 2, 4]);
    }

    #[test]
    fn names_and_ids_are_unique() {
        for (at, block) in BLOCKS.iter().enumerate() {
            assert!(!BLOCKS[..at].iter().any(|other| other.id == block.id || other.name == block.name), "{block:?}");
        }
    }

    #[test]
    fn every_working_cell_has_its_own_place() {
        for block in BLOCKS {
            let mut places = Vec::new();
            for instance in 0..block.instances {
                for sample in 0..block.samples() {
                    places.extend(block.cell(instance, sample));
                }
            }
            places.sort_unstable();
            assert_eq!(places, (0..block.cells()).collect::<Vec<_>>(), "{}", block.name);
        }
        assert_eq!(Block::find(BlockId::TCP).expect("TCP").cells(), COMPUTE_UNITS);
    }
}
