//! Compiling, loading and running kernels in a test's own memory.

mod build;
mod launch;
mod memory;
mod module;

pub use build::{Abi, build};
pub use launch::{Args, Launch};
pub use memory::{Buffer, TestMemory};
pub use module::Module;

/// A repeatable sequence of numbers.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Between −1 and 1.
    pub fn float(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Between −1 and 1.
    pub fn double(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        (self.bits() >> 33) as u32 % limit
    }

    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }

    pub fn doubles(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.double()).collect()
    }
}
