//! The copy engine.
//!
//! Packets are those of SDMA 4 (`gfx9`): dwords, opcode in bits 0…7 and sub-opcode in bits 8…15 of the first. Sources: the
//! public packet descriptions of the Linux driver and the layouts that ROCr builds.
//!
//! | op | sub | packet | dwords |
//! |---|---|---|---|
//! | 0 | | padding; bits 16…29 tell how many more dwords are skipped | 1 + n |
//! | 1 | 0 | linear copy of count + 1 bytes | 7 |
//! | 1 | 4 | copy of a box between pitched images | 13 |
//! | 2 | 0 | write of count + 1 dwords | 4 + n |
//! | 5 | | fence: store a dword | 4 |
//! | 6 | | trap: raise an event | 2 |
//! | 8 | 0 | poll memory (bit 31), or flush of the host's write path (skipped) | 6 |
//! | 10 | | atomic: 64-bit add | 8 |
//! | 11 | | constant fill of count + 1 bytes | 5 |
//! | 13 | 2 | store the GPU's clock | 3 |
//!
//! Anything else stops the queue. The ring's indices and its doorbell count bytes and never wrap.

mod copy;
mod engine;
mod memory_ops;

pub(super) use engine::run;
