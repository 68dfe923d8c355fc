//! A program on a GPU that misbehaves: it launches one kernel over and over, and before most launches it asks the
//! software GPU for a fault. After each launch it reads all of its memory back and says whether that is what the launch
//! had to leave.
//!
//! ```text
//! misbehaving PASSES LAUNCHES SEED [BATCH]
//! launch 0 fault none pass 0 memory ok
//! ```
//!
//! PASSES is how often each launch will run under the profile; `pass` is the one that the fault is meant for. With BATCH
//! (1) it unloads a module after each launch, which ends a batch window, while the fault is still in: the first run is the
//! program's own then. What memory held before that must still be there behind it, or the program fails. Else the exit code
//! is 0, whatever memory held: the suite judges.

use std::error::Error;

use demo::{Argument, Gpu, Kernel, Memory, Module};

#[path = "../switches.rs"]
mod switches;

use switches::Switches;

/// Words that the kernel changes: four chunks.
const WORDS: usize = 4096;
/// Words that nobody but a fault changes.
const GUARD: usize = 16 * 1024;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing.
    None,
    /// A pass leaves one chunk unwritten.
    Missed,
    /// A pass writes where the kernel does not.
    Escaped,
    /// Somebody else writes while the window is open.
    ForeignInside,
    /// Somebody else writes before the window opens.
    ForeignBetween,
    /// No allocation of device memory succeeds during the launch.
    NoMemory,
    /// The array that the kernel changes has moved: its old address belongs to another one.
    Moved,
}

const FAULTS: [Fault; 7] = [
    Fault::None,
    Fault::Missed,
    Fault::Escaped,
    Fault::ForeignInside,
    Fault::ForeignBetween,
    Fault::NoMemory,
    Fault::Moved,
];

/// The program's memory, and what it must hold.
struct State {
    gpu: Gpu,
    kernel: Kernel,
    switches: Switches,
    data: Memory,
    expected_data: Vec<u32>,
    guard: Memory,
    expected_guard: Vec<u32>,
    random: u64,
    batch: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let (passes, launches, seed, batch) = match numbers[..] {
        [passes, launches, seed] => (passes, launches, seed, false),
        [passes, launches, seed, batch] => (passes, launches, seed, batch == 1),
        _ => return Err("usage: misbehaving PASSES LAUNCHES SEED [BATCH]".into()),
    };
    let gpu = Gpu::open()?;
    let module = Module::load(&gpu)?;
    let kernel = module.kernel(&gpu, "advance")?;
    let expected_data: Vec<u32> = (0..WORDS as u32).collect();
    let expected_guard = vec![0xa5a5_a5a5; GUARD];
    let (data, guard) = (gpu.allocate(WORDS * 4)?, gpu.allocate(GUARD * 4)?);
    gpu.upload(data, &expected_data)?;
    gpu.upload(guard, &expected_guard)?;
    let switches = Switches::find()?;
    let mut state = State { gpu, kernel, switches, data, expected_data, guard, expected_guard, random: seed, batch };
    for launch in 0..launches {
        let fault = FAULTS[state.random(FAULTS.len() as u64) as usize];
        let pass = state.random(passes);
        let right = state.launch(fault, pass)?;
        println!("launch {launch} fault {fault:?} pass {pass} memory {}", if right { "ok" } else { "WRONG" });
    }
    module.unload(&state.gpu);
    Ok(())
}

impl State {
    /// Launches once under a fault; tells whether memory is right, and corrects what is expected next to what is there.
    fn launch(&mut self, fault: Fault, pass: u64) -> Result<bool, Box<dyn Error>> {
        let ender = if self.batch { Some(Module::load(&self.gpu)?) } else { None };
        let place = self.random(GUARD as u64) as usize;
        let (nth, kernel) = (pass + 1, self.kernel.object);
        let address = self.guard.address() + 4 * place as u64;
        match fault {
            Fault::None => {}
            Fault::Missed => self.switches.inject(&format!("missed-write:n={nth},kernel={kernel}"))?,
            Fault::Escaped => {
                self.switches.inject(&format!("escaped-write:n={nth},kernel={kernel},address={address}"))?;
            }
            Fault::ForeignInside => self
                .switches
                .inject(&format!("foreign-write:n={nth},kernel={kernel},address={address},bytes=11223344"))?,
            Fault::ForeignBetween => {
                let value = self.random(u64::MAX) as u32;
                self.switches.write(address, &value.to_le_bytes())?;
                self.expected_guard[place] = value;
            }
            Fault::NoMemory => self.switches.inject("alloc-fail:n=1,pool=vram,count=all")?,
            Fault::Moved => self.move_data()?,
        }
        let arguments = [Argument::Memory(self.data), Argument::Word(WORDS as u32)];
        let launch = self.gpu.launch(&self.kernel, WORDS as u32, &arguments)?;
        self.gpu.wait(launch)?;
        if let Some(ender) = ender {
            let before = (self.gpu.download(self.data, WORDS)?, self.gpu.download(self.guard, GUARD)?);
            ender.unload(&self.gpu);
            if before != (self.gpu.download(self.data, WORDS)?, self.gpu.download(self.guard, GUARD)?) {
                return Err("the end of a window changed memory".into());
            }
        }
        self.switches.clear();
        for word in &mut self.expected_data {
            *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        let data = self.gpu.download(self.data, WORDS)?;
        let guard = self.gpu.download(self.guard, GUARD)?;
        let right = data == self.expected_data && guard == self.expected_guard;
        (self.expected_data, self.expected_guard) = (data, guard);
        Ok(right)
    }

    /// Frees the array, lets another one have its address, and makes it again.
    fn move_data(&mut self) -> Result<(), Box<dyn Error>> {
        self.gpu.free(self.data);
        let other = self.gpu.allocate(WORDS * 4)?;
        self.data = self.gpu.allocate(WORDS * 4)?;
        self.gpu.upload(self.data, &self.expected_data)?;
        self.gpu.free(other);
        Ok(())
    }

    /// A number below `bound` (SplitMix64).
    fn random(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ value >> 31) % bound.max(1)
    }
}
