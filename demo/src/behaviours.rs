//! What the demo does: one function for each kernel, each checked against the host.

use crate::error::Error;
use crate::gpu::{Gpu, Memory};
use crate::launch::{Argument, GROUP};
use crate::module::{Kernel, Module};

/// Elements of every array.
const COUNT: usize = 16 * 1024;
/// What outputs hold before a kernel runs, so that a kernel that did not run shows.
const POISON: u32 = 0xdead_beef;

/// The GPU with everything loaded.
pub struct Context {
    /// The GPU.
    pub gpu: Gpu,
    module: Option<Module>,
    /// Memory that no kernel touches, larger than all the rest: a replay that follows the write set never copies it.
    ballast: Memory,
}

/// What came of one behaviour.
pub struct Outcome {
    /// Elements that differ from the host's.
    pub wrong: usize,
    /// FNV-1a of what the device left.
    pub checksum: u64,
}

/// One behaviour.
pub struct Behaviour {
    /// Its kernel.
    pub kernel: &'static str,
    /// What the kernel does.
    pub what: &'static str,
    /// Runs and checks it.
    pub run: fn(&Context) -> Result<Outcome, Error>,
}

/// Everything that the demo does, in order.
pub const ALL: &[Behaviour] = &[
    Behaviour { kernel: "smooth", what: "reads one array, writes another", run: smooth },
    Behaviour { kernel: "advance", what: "changes an array in place, 3 times", run: advance },
    Behaviour { kernel: "accumulate", what: "adds to a sum, 3 times", run: accumulate },
    Behaviour { kernel: "histogram", what: "counts with atomics, twice", run: histogram },
    Behaviour { kernel: "block_sum", what: "reduces in LDS", run: block_sum },
    Behaviour { kernel: "mark_launch", what: "counts launches in a module variable, twice", run: mark_launch },
];

impl Context {
    /// Opens the GPU, loads the kernels and fills the ballast.
    ///
    /// # Errors
    /// When there is no such GPU, or a call fails.
    pub fn new() -> Result<Self, Error> {
        let gpu = Gpu::open()?;
        let module = Module::load(&gpu)?;
        let words = vec![POISON; 1 << 20];
        let ballast = gpu.allocate(size_of_val(&words[..]))?;
        gpu.upload(ballast, &words)?;
        Ok(Self { gpu, module: Some(module), ballast })
    }

    fn module(&self) -> &Module {
        self.module.as_ref().expect("the module is unloaded only when the context is dropped")
    }

    fn kernel(&self, name: &'static str) -> Result<Kernel, Error> {
        self.module().kernel(&self.gpu, name)
    }

    /// A device array with this content.
    fn array<T: Copy>(&self, content: &[T]) -> Result<Memory, Error> {
        let memory = self.gpu.allocate(size_of_val(content))?;
        self.gpu.upload(memory, content)?;
        Ok(memory)
    }

    /// Launches a kernel `times` times over `count` elements, all queued before the first is waited for.
    fn run(&self, name: &'static str, times: usize, count: usize, arrays: &[Memory]) -> Result<(), Error> {
        let kernel = self.kernel(name)?;
        let mut arguments: Vec<Argument> = arrays.iter().map(|memory| Argument::Memory(*memory)).collect();
        arguments.push(Argument::Word(count as u32));
        let launches: Vec<_> =
            (0..times).map(|_| self.gpu.launch(&kernel, count as u32, &arguments)).collect::<Result<_, _>>()?;
        launches.into_iter().try_for_each(|launch| self.gpu.wait(launch))
    }

    /// Compares a device array with the host's and frees `arrays`.
    fn finish(&self, output: Memory, expected: &[u32], arrays: &[Memory]) -> Result<Outcome, Error> {
        let found: Vec<u32> = self.gpu.download(output, expected.len())?;
        arrays.iter().for_each(|array| self.gpu.free(*array));
        Ok(compare(&found, expected))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.gpu.free(self.ballast);
        if let Some(module) = self.module.take() {
            module.unload(&self.gpu);
        }
    }
}

fn smooth(context: &Context) -> Result<Outcome, Error> {
    let input = words(1);
    let expected: Vec<u32> = (0..COUNT)
        .map(|i| {
            let (left, right) = (input[(i + COUNT - 1) % COUNT], input[(i + 1) % COUNT]);
            left.wrapping_add(input[i].wrapping_mul(2)).wrapping_add(right)
        })
        .collect();
    let (out, from) = (context.array(&[POISON; COUNT])?, context.array(&input)?);
    context.run("smooth", 1, COUNT, &[out, from])?;
    context.finish(out, &expected, &[out, from])
}

fn advance(context: &Context) -> Result<Outcome, Error> {
    let input = words(2);
    let next = |value: u32| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let expected: Vec<u32> = input.iter().map(|value| next(next(next(*value)))).collect();
    let data = context.array(&input)?;
    context.run("advance", 3, COUNT, &[data])?;
    context.finish(data, &expected, &[data])
}

fn accumulate(context: &Context) -> Result<Outcome, Error> {
    // Small whole numbers: every sum is exact, so host and device agree bit for bit.
    let input: Vec<f32> = words(3).into_iter().map(|value| (value >> 20) as f32).collect();
    let start: Vec<f32> = words(4).into_iter().map(|value| (value >> 24) as f32).collect();
    let expected: Vec<u32> = start.iter().zip(&input).map(|(sum, value)| (sum + 3.0 * value).to_bits()).collect();
    let (sum, from) = (context.array(&start)?, context.array(&input)?);
    context.run("accumulate", 3, COUNT, &[sum, from])?;
    context.finish(sum, &expected, &[sum, from])
}

fn histogram(context: &Context) -> Result<Outcome, Error> {
    let input = words(5);
    let mut expected = [1000u32; 64];
    input.iter().for_each(|value| expected[(value >> 26) as usize] += 2);
    let (bins, from) = (context.array(&[1000u32; 64])?, context.array(&input)?);
    context.run("histogram", 2, COUNT, &[bins, from])?;
    context.finish(bins, &expected, &[bins, from])
}

fn block_sum(context: &Context) -> Result<Outcome, Error> {
    let input = words(6);
    let expected: Vec<u32> = input
        .chunks(GROUP as usize)
        .map(|part| part.iter().fold(0u32, |sum, value| sum.wrapping_add(*value)))
        .collect();
    let (sums, from) = (context.array(&vec![POISON; expected.len()])?, context.array(&input)?);
    context.run("block_sum", 1, COUNT, &[sums, from])?;
    context.finish(sums, &expected, &[sums, from])
}

fn mark_launch(context: &Context) -> Result<Outcome, Error> {
    let count = GROUP as usize;
    // The first launch adds 1, the second 2; the variable itself is read back and compared with the rest.
    let mut expected = vec![103u32; count];
    expected.push(2);
    let data = context.array(&vec![100u32; count])?;
    context.run("mark_launch", 2, count, &[data])?;
    let mut found: Vec<u32> = context.gpu.download(data, count)?;
    let variable = context.module().variable(&context.gpu, "launches")?;
    found.extend(context.gpu.download(variable, 1)?);
    context.gpu.free(data);
    Ok(compare(&found, &expected))
}

fn compare(found: &[u32], expected: &[u32]) -> Outcome {
    let wrong = found.iter().zip(expected).filter(|(found, expected)| found != expected).count();
    let checksum = found
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Outcome { wrong, checksum }
}

/// Pseudo-random words, the same in every run (the finaliser of SplitMix64).
fn words(seed: u64) -> Vec<u32> {
    (0..COUNT as u64)
        .map(|i| {
            let mut value = (seed << 32 | i).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (value ^ value >> 31) as u32
        })
        .collect()
}
