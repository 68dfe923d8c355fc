//! A program with a kernel whose replays spin: windows of several launches of two kernels, ended by unloading a module, and in
//! each the first replay of one of them does not get on.
//!
//! ```text
//! spinning WINDOWS KERNEL
//! window 0 memory ok
//! ```
//!
//! KERNEL is `advance` or `smooth`. The fault comes in when the program's own launches are over. Exit code 0, whatever memory held.

use std::error::Error;

use demo::{Argument, Gpu, Module};

#[path = "../switches.rs"]
mod switches;

/// Words of each array.
const WORDS: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(windows), Some(slow)) = (arguments.next(), arguments.next()) else {
        return Err("usage: spinning WINDOWS KERNEL".into());
    };
    let gpu = Gpu::open()?;
    let module = Module::load(&gpu)?;
    let (advance, smooth) = (module.kernel(&gpu, "advance")?, module.kernel(&gpu, "smooth")?);
    let slow = if slow == "smooth" { smooth.object } else { advance.object };
    let switches = switches::Switches::find()?;
    let mut expected: Vec<u32> = (0..WORDS as u32).collect();
    let (data, smoothed) = (gpu.allocate(WORDS * 4)?, gpu.allocate(WORDS * 4)?);
    gpu.upload(data, &expected)?;
    let count = Argument::Word(WORDS as u32);
    for window in 0..windows.parse::<u32>()? {
        let ender = Module::load(&gpu)?;
        for step in 0..3 {
            let launched = if step == 1 {
                gpu.launch(&smooth, WORDS as u32, &[Argument::Memory(smoothed), Argument::Memory(data), count])?
            } else {
                gpu.launch(&advance, WORDS as u32, &[Argument::Memory(data), count])?
            };
            gpu.wait(launched)?;
        }
        switches.inject(&format!("spin:n=1,kernel={slow}"))?;
        ender.unload(&gpu);
        switches.clear();
        let step = |word: &mut u32| *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        expected.iter_mut().for_each(step);
        let near = |at: usize| expected[(at + WORDS) % WORDS];
        let sums: Vec<u32> = (0..WORDS)
            .map(|at| near(at + WORDS - 1).wrapping_add(near(at).wrapping_mul(2)).wrapping_add(near(at + 1)))
            .collect();
        expected.iter_mut().for_each(step);
        let right = gpu.download(data, WORDS)? == expected && gpu.download(smoothed, WORDS)? == sums;
        println!("window {window} memory {}", if right { "ok" } else { "WRONG" });
    }
    module.unload(&gpu);
    Ok(())
}
