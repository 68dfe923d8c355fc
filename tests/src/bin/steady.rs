//! A program that launches one kernel over and over and checks its memory after each launch. Tests kill it, or what
//! profiles it, while it runs.
//!
//! ```text
//! steady LAUNCHES [FAULT [beside] | wait]
//! pid 4711
//! launch 0 ok
//! ```
//!
//! FAULT is put into the software GPU before the third launch, for this kernel only. With `beside` it meets a launch on
//! another queue, which is waited for only at the end, when the fault is taken out again. With `wait` in the place of a
//! fault it launches a third of all and goes on when its input has come to its end.
//!
//! Exit code 0: every launch was right; 1: one was not, or the program gave up.

use std::error::Error;
use std::io::{Read, Write};
use std::process::ExitCode;

use demo::{Argument, Gpu, Module};

#[path = "../switches.rs"]
mod switches;

/// Words that the kernel changes.
const WORDS: usize = 2048;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let launches: u32 = std::env::args().nth(1).ok_or("usage: steady LAUNCHES [FAULT]")?.parse()?;
    let gpu = Gpu::open()?;
    let module = Module::load(&gpu)?;
    let kernel = module.kernel(&gpu, "advance")?;
    let mut expected: Vec<u32> = (0..WORDS as u32).collect();
    let data = gpu.allocate(WORDS * 4)?;
    gpu.upload(data, &expected)?;
    let mut output = std::io::stdout();
    let mut wrong = 0;
    writeln!(output, "pid {}", std::process::id())?;
    let fault = std::env::args().nth(2);
    let waits = fault.as_deref() == Some("wait");
    let fault = fault.filter(|_| !waits);
    let mut beside = None;
    for launch in 0..launches {
        if waits && launch == launches / 3 {
            std::io::stdin().read_to_end(&mut Vec::new())?;
        }
        if let Some(fault) = fault.as_deref().filter(|_| launch == 2) {
            switches::Switches::find()?.inject(&format!("{fault},kernel={}", kernel.object))?;
            if std::env::args().nth(3).as_deref() == Some("beside") {
                let other = Gpu::open()?;
                let memory = other.allocate(WORDS * 4)?;
                other.upload(memory, &[0u32; WORDS])?;
                let launched =
                    other.launch(&kernel, WORDS as u32, &[Argument::Memory(memory), Argument::Word(WORDS as u32)])?;
                beside = Some((other, memory, launched));
            }
        }
        let arguments = [Argument::Memory(data), Argument::Word(WORDS as u32)];
        let launched = gpu.launch(&kernel, WORDS as u32, &arguments)?;
        gpu.wait(launched)?;
        expected.iter_mut().for_each(|word| *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        let right = gpu.download(data, WORDS)? == expected;
        wrong += u32::from(!right);
        // One write a line: a reader sees whole lines, whenever this process is killed.
        output.write_all(format!("launch {launch} {}\n", if right { "ok" } else { "WRONG" }).as_bytes())?;
        output.flush()?;
    }
    if let Some((other, memory, launched)) = beside {
        switches::Switches::find()?.clear();
        other.wait(launched)?;
        let right = other.download(memory, WORDS)? == [1_013_904_223u32; WORDS];
        wrong += u32::from(!right);
        other.free(memory);
    }
    gpu.free(data);
    module.unload(&gpu);
    Ok(ExitCode::from(u8::from(wrong != 0)))
}
