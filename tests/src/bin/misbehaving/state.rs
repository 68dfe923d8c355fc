//! The program's memory, and what it must hold.

use crate::switches::Switches;
use demo::{Argument, Gpu, Kernel, Launch, Memory, Module};
use std::error::Error;

/// Words that the kernel changes: four chunks.
pub(crate) const WORDS: usize = 4096;
/// Words that the program copies from the host, and the kernel changes too.
pub(crate) const COPIED: usize = 1024;
/// Words that nobody but a fault changes.
const GUARD: usize = 16 * 1024;

pub(crate) struct State {
    pub(crate) gpu: Gpu,
    pub(crate) kernel: Kernel,
    pub(crate) switches: Switches,
    pub(crate) data: Array,
    pub(crate) copied: Array,
    pub(crate) guard: Array,
    module: Module,
    random: u64,
}

/// An array of the program's.
pub(crate) struct Array {
    pub(crate) memory: Memory,
    pub(crate) expected: Vec<u32>,
}

impl Array {
    fn new(gpu: &Gpu, expected: Vec<u32>) -> Result<Self, Box<dyn Error>> {
        let memory = gpu.allocate(expected.len() * 4)?;
        gpu.upload(memory, &expected)?;
        Ok(Self { memory, expected })
    }

    pub(crate) fn read(&self, gpu: &Gpu) -> Result<Vec<u32>, Box<dyn Error>> {
        Ok(gpu.download(self.memory, self.expected.len())?)
    }

    /// What the kernel makes of it.
    pub(crate) fn advance(&mut self) {
        for word in &mut self.expected {
            *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
    }
}

impl State {
    pub(crate) fn new(seed: u64) -> Result<Self, Box<dyn Error>> {
        let gpu = Gpu::open()?;
        let module = Module::load(&gpu)?;
        let kernel = module.kernel(&gpu, "advance")?;
        let data = Array::new(&gpu, (0..WORDS as u32).collect())?;
        let copied = Array::new(&gpu, vec![7; COPIED])?;
        let guard = Array::new(&gpu, vec![0xa5a5_a5a5; GUARD])?;
        let switches = Switches::find()?;
        Ok(Self { gpu, kernel, switches, data, copied, guard, module, random: seed })
    }

    pub(crate) fn close(self) {
        self.module.unload(&self.gpu);
    }

    /// Launches the kernel over an array.
    pub(crate) fn submit(&self, array: &Array) -> Result<Launch, Box<dyn Error>> {
        let words = array.expected.len() as u32;
        Ok(self.gpu.launch(&self.kernel, words, &[Argument::Memory(array.memory), Argument::Word(words)])?)
    }

    /// All of memory.
    pub(crate) fn read(&self) -> Result<[Vec<u32>; 3], Box<dyn Error>> {
        Ok([self.data.read(&self.gpu)?, self.copied.read(&self.gpu)?, self.guard.read(&self.gpu)?])
    }

    /// Whether memory is what is expected; what is expected next is what is there.
    pub(crate) fn is_right(&mut self) -> Result<bool, Box<dyn Error>> {
        let mut right = true;
        let found = self.read()?;
        for (array, found) in [&mut self.data, &mut self.copied, &mut self.guard].into_iter().zip(found) {
            right &= array.expected == found;
            array.expected = found;
        }
        Ok(right)
    }

    /// A word of the guard: its place, and its address.
    pub(crate) fn guarded(&mut self) -> (usize, u64) {
        let place = self.random(GUARD as u64) as usize;
        (place, self.guard.memory.address() + 4 * place as u64)
    }

    /// Somebody writes to the guard, and nobody tells.
    pub(crate) fn write_unseen(&mut self) -> Result<(), Box<dyn Error>> {
        let (place, address) = self.guarded();
        let value = self.random(u64::MAX) as u32;
        self.switches.write(address, &value.to_le_bytes())?;
        self.guard.expected[place] = value;
        Ok(())
    }

    /// Frees the array that the kernel changes, lets another one have its address, and makes it again.
    pub(crate) fn move_data(&mut self) -> Result<(), Box<dyn Error>> {
        self.gpu.free(self.data.memory);
        let other = self.gpu.allocate(WORDS * 4)?;
        self.data.memory = self.gpu.allocate(WORDS * 4)?;
        self.gpu.upload(self.data.memory, &self.data.expected)?;
        self.gpu.free(other);
        Ok(())
    }

    /// Copies other words from the host.
    pub(crate) fn copy(&mut self) -> Result<(), Box<dyn Error>> {
        let first = self.random(u64::MAX) as u32;
        self.copied.expected = (0..COPIED as u32).map(|at| first.wrapping_mul(at | 1)).collect();
        Ok(self.gpu.send(self.copied.memory, &self.copied.expected)?)
    }

    /// The same, with one byte that comes wrong.
    pub(crate) fn copy_wrong(&mut self) -> Result<(), Box<dyn Error>> {
        self.switches.inject("corrupt-copy:n=1")?;
        self.copy()?;
        self.switches.clear();
        Ok(())
    }

    /// A number below `bound` (SplitMix64).
    pub(crate) fn random(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ value >> 31) % bound.max(1)
    }
}
