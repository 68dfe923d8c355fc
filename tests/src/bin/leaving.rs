//! A program that ends with a window open, in one of several ways.
//!
//! ```text
//! leaving queue|access|shut-down|drop
//! ```
//!
//! `queue`: the queue of the last launches is destroyed, and launches on another one follow. `access`: memory of the host is taken
//! away from the GPU. `shut-down`: the runtime is shut
//! down with everything that is there, well before the process ends. `drop`: the queue is destroyed first. Exit code 0: all
//! memory was right.

use std::error::Error;

use demo::{Argument, Gpu, Kernel, Memory, Module};

/// Words that the kernel changes.
const WORDS: usize = 2048;

struct State {
    kernel: Kernel,
    data: Memory,
    expected: Vec<u32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let way = std::env::args().nth(1).ok_or("usage: leaving queue|access|shut-down|drop")?;
    let gpu = Gpu::open()?;
    let module = Module::load(&gpu)?;
    let expected: Vec<u32> = (0..WORDS as u32).collect();
    let data = gpu.allocate(WORDS * 4)?;
    gpu.upload(data, &expected)?;
    let mut state = State { kernel: module.kernel(&gpu, "advance")?, data, expected };
    state.launch(&gpu)?;
    match way.as_str() {
        "queue" => {
            let other = Gpu::open()?;
            state.launch(&other)?;
            drop(other);
            println!("destroyed");
            state.launch(&gpu)?;
            module.unload(&gpu);
        }
        "access" => {
            let host = gpu.allocate_arguments(4096)?;
            state.launch(&gpu)?;
            gpu.withdraw(host)?;
            state.launch(&gpu)?;
            gpu.free(host);
            module.unload(&gpu);
        }
        "shut-down" => gpu.shut_down(),
        "drop" => drop(gpu),
        other => return Err(format!("{other} is no way to leave").into()),
    }
    println!("left");
    Ok(())
}

impl State {
    fn launch(&mut self, gpu: &Gpu) -> Result<(), Box<dyn Error>> {
        let arguments = [Argument::Memory(self.data), Argument::Word(WORDS as u32)];
        let launched = gpu.launch(&self.kernel, WORDS as u32, &arguments)?;
        gpu.wait(launched)?;
        self.expected.iter_mut().for_each(|word| *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        if gpu.download(self.data, WORDS)? != self.expected {
            return Err("memory is wrong".into());
        }
        println!("launch ok");
        Ok(())
    }
}
