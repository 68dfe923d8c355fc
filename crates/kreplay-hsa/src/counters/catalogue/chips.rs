//! The chips, and their blocks' slots.
//!
//! Slots and instances as AMD publishes them in the block tables of its AQL profile library (ROCm 6). Where a device is
//! there, its own library answers instead.

/// A counter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name in the AQL profile interface.
    pub name: &'static str,
    /// Its number in the AQL profile interface.
    pub id: u32,
    /// Counters that one instance holds at once.
    pub slots: u32,
    /// Instances that have to be selected one by one.
    pub instances: u32,
}

/// A chip whose counters are known.
pub(super) struct Chip {
    pub(super) name: &'static str,
    /// Names of agents that count alike.
    also: &'static [&'static str],
    /// Its column in the tables.
    pub(super) column: usize,
    pub(super) blocks: &'static [Block],
}

const fn block(name: &'static str, id: u32, slots: u32, instances: u32) -> Block {
    Block { name, id, slots, instances }
}

pub(super) const CHIPS: &[Chip] = &[
    Chip {
        name: "gfx90a",
        also: &[],
        column: 0,
        blocks: &[
            block("CPC", 0, 2, 1),
            block("CPF", 1, 2, 1),
            block("GRBM", 3, 2, 1),
            block("SPI", 5, 6, 1),
            block("SQ", 6, 8, 1),
            block("TA", 10, 2, 16),
            block("TCA", 11, 4, 32),
            block("TCC", 12, 4, 32),
            block("TCP", 13, 4, 16),
            block("TD", 14, 2, 16),
        ],
    },
    Chip {
        name: "gfx942",
        also: &["gfx940", "gfx941"],
        column: 1,
        blocks: &[
            block("CPC", 0, 2, 1),
            block("CPF", 1, 2, 1),
            block("GRBM", 3, 2, 1),
            block("SPI", 5, 6, 1),
            block("SQ", 6, 8, 1),
            block("TA", 10, 2, 16),
            block("TCA", 11, 4, 2),
            block("TCC", 12, 4, 16),
            block("TCP", 13, 4, 16),
            block("TD", 14, 2, 16),
        ],
    },
    Chip {
        name: "gfx1100",
        also: &["gfx1101", "gfx1102"],
        column: 2,
        blocks: &[block("GRBM", 3, 2, 1), block("SQ", 6, 8, 1), block("TA", 10, 2, 16), block("GL2C", 29, 4, 16)],
    },
];

/// The chip of an agent, by its HSA name.
pub(super) fn find(agent: &str) -> Option<&'static Chip> {
    let name = agent.split(':').next().unwrap_or(agent);
    CHIPS.iter().find(|chip| chip.name == name || chip.also.contains(&name))
}
