//! A program whose queues and copies wait for signals.
//!
//! ```text
//! waiting other-thread|same-thread|in-line|ordered|overtaken|elsewhere|nothing|handler|error
//! ```
//!
//! `other-thread`, `same-thread`: a kernel waits behind a barrier for a signal that another thread lowers, or this one after the
//! launch; before that it writes what the kernel reads from its memory. `in-line`: the same with memory of the GPU, among other
//! launches. `ordered`: a kernel waits for another queue's. `overtaken`: for one that is launched after it.
//! `elsewhere`: nothing comes behind a barrier that waits, on another queue.
//! `nothing`: copies of nothing. `handler`: a handler of a copy's signal waits for a window while another copy waits for the host.
//! `error`: the queue goes into error. Exit code 0: all memory was right, and the program heard of the error.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[path = "../switches.rs"]
mod switches;

use demo::{Argument, Gpu, Kernel, Launch, Memory, Module};

use switches::Switches;

/// Words of an array.
const WORDS: usize = 2048;
/// Longer than anything of this program takes.
const PAUSE: Duration = Duration::from_millis(100);

struct State {
    gpu: Gpu,
    module: Module,
    data: Memory,
    out: Memory,
}

fn main() -> Result<(), Box<dyn Error>> {
    let way = std::env::args().nth(1).ok_or("usage: waiting WAY")?;
    let gpu = Gpu::open()?;
    let module = Module::load(&gpu)?;
    let (data, out) = (gpu.allocate(WORDS * 4)?, gpu.allocate(WORDS * 4)?);
    gpu.upload(data, &first())?;
    gpu.upload(out, &vec![0xa5a5_a5a5_u32; WORDS])?;
    let state = State { gpu, module, data, out };
    match way.as_str() {
        "other-thread" => state.host_lowers(true)?,
        "same-thread" => state.host_lowers(false)?,
        "in-line" => state.in_line()?,
        "ordered" => state.ordered()?,
        "overtaken" => state.overtaken()?,
        "elsewhere" => state.elsewhere()?,
        "nothing" => state.nothing()?,
        "handler" => state.handler()?,
        "error" => state.error()?,
        other => return Err(format!("{other} is no way to wait").into()),
    }
    println!("{way} ok");
    state.module.unload(&state.gpu);
    Ok(())
}

fn first() -> Vec<u32> {
    (0..WORDS as u32).collect()
}

fn advanced(words: &[u32]) -> Vec<u32> {
    words.iter().map(|word| word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)).collect()
}

/// What the kernel `smooth` makes of these.
fn smoothed(words: &[u32]) -> Vec<u32> {
    let at = |index: usize| words[index % words.len()];
    let sum = |i: usize| at(i + words.len() - 1).wrapping_add(at(i).wrapping_mul(2)).wrapping_add(at(i + 1));
    (0..words.len()).map(sum).collect()
}

/// Something that any thread may call: the runtime's functions are such.
struct Anywhere<F>(F);

// SAFETY: as above.
unsafe impl<F> Send for Anywhere<F> {}

impl<F: FnOnce()> Anywhere<F> {
    fn call(self) {
        (self.0)();
    }
}

/// What a handler takes back from the GPU.
struct Unlock {
    gpu: *const Gpu,
    address: *mut u32,
    begin: AtomicBool,
    done: AtomicBool,
}

extern "C" fn unlock(_: i64, data: usize) -> bool {
    // SAFETY: what was given with the handler, whose end is waited for.
    let (unlock, gpu) = unsafe {
        let unlock = &*(data as *const Unlock);
        (unlock, &*unlock.gpu)
    };
    while !unlock.begin.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    if let Err(error) = gpu.unlock(unlock.address) {
        eprintln!("waiting: {error}");
    }
    unlock.done.store(true, Ordering::Release);
    false
}

/// Memory of the host's own that is never given back.
fn host(words: Vec<u32>) -> &'static mut [u32] {
    Box::leak(words.into_boxed_slice())
}

impl State {
    fn kernel(&self, name: &'static str) -> Result<Kernel, Box<dyn Error>> {
        Ok(self.module.kernel(&self.gpu, name)?)
    }

    fn smooth(&self, gpu: &Gpu, from: Memory) -> Result<Launch, Box<dyn Error>> {
        let arguments = [Argument::Memory(self.out), Argument::Memory(from), Argument::Word(WORDS as u32)];
        Ok(gpu.launch(&self.kernel("smooth")?, WORDS as u32, &arguments)?)
    }

    fn advance(&self, gpu: &Gpu) -> Result<Launch, Box<dyn Error>> {
        let arguments = [Argument::Memory(self.data), Argument::Word(WORDS as u32)];
        Ok(gpu.launch(&self.kernel("advance")?, WORDS as u32, &arguments)?)
    }

    fn holds(&self, memory: Memory, expected: &[u32]) -> Result<(), Box<dyn Error>> {
        let right = self.gpu.download(memory, WORDS)? == expected;
        if right { Ok(()) } else { Err("memory is wrong".into()) }
    }

    fn host_lowers(&self, other: bool) -> Result<(), Box<dyn Error>> {
        let words = host(vec![0; WORDS]);
        let address = words.as_mut_ptr();
        let (pinned, signal) = (self.gpu.lock(words)?, self.gpu.signal()?);
        let expected: Vec<u32> = first().iter().map(|word| word + 7).collect();
        let lower = Anywhere(|| {
            std::thread::sleep(PAUSE);
            // SAFETY: the array lives for ever, and the kernel that reads it has not begun.
            unsafe { std::ptr::copy_nonoverlapping(expected.as_ptr(), address, WORDS) };
            self.gpu.lower(signal);
        });
        self.gpu.barrier(signal);
        std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
            let launch = if other {
                scope.spawn(move || lower.call());
                self.smooth(&self.gpu, pinned)?
            } else {
                let launch = self.smooth(&self.gpu, pinned)?;
                lower.call();
                launch
            };
            Ok(self.gpu.wait(launch)?)
        })?;
        self.holds(self.out, &smoothed(&expected))
    }

    fn in_line(&self) -> Result<(), Box<dyn Error>> {
        self.gpu.wait(self.advance(&self.gpu)?)?;
        let signal = self.gpu.signal()?;
        self.gpu.barrier(signal);
        let launch = self.smooth(&self.gpu, self.data)?;
        std::thread::sleep(PAUSE);
        self.gpu.lower(signal);
        self.gpu.wait(launch)?;
        self.holds(self.out, &smoothed(&advanced(&first())))?;
        self.gpu.wait(self.advance(&self.gpu)?)?;
        self.holds(self.data, &advanced(&advanced(&first())))
    }

    fn ordered(&self) -> Result<(), Box<dyn Error>> {
        let other = Gpu::open()?;
        let mut launches = Vec::new();
        let mut expected = first();
        // Long enough that the last of them still runs.
        for _ in 0..200 {
            launches.push(self.advance(&self.gpu)?);
            expected = advanced(&expected);
        }
        other.barrier(launches[launches.len() - 1].completion());
        let last = self.smooth(&other, self.data)?;
        other.wait(last)?;
        launches.into_iter().try_for_each(|launch| self.gpu.wait(launch))?;
        self.holds(self.out, &smoothed(&expected))
    }

    fn overtaken(&self) -> Result<(), Box<dyn Error>> {
        let (other, signal) = (Gpu::open()?, self.gpu.signal()?);
        self.gpu.wait(self.advance(&self.gpu)?)?;
        other.barrier(signal);
        let last = self.smooth(&other, self.data)?;
        let second = self.advance(&self.gpu)?;
        self.gpu.marker(signal);
        self.gpu.wait(second)?;
        other.wait(last)?;
        self.holds(self.out, &smoothed(&advanced(&advanced(&first()))))
    }

    fn elsewhere(&self) -> Result<(), Box<dyn Error>> {
        let (other, signal) = (Gpu::open()?, self.gpu.signal()?);
        other.barrier(signal);
        self.gpu.wait(self.advance(&self.gpu)?)?;
        self.gpu.lower(signal);
        self.holds(self.data, &advanced(&first()))
    }

    fn nothing(&self) -> Result<(), Box<dyn Error>> {
        self.gpu.copy_after(self.data, self.out, 0, None)?;
        self.gpu.copy_no_box(self.data, self.out)?;
        self.gpu.wait(self.advance(&self.gpu)?)?;
        self.holds(self.data, &advanced(&first()))
    }

    fn error(&self) -> Result<(), Box<dyn Error>> {
        Switches::find()?.inject("queue-error:n=1")?;
        match self.gpu.wait(self.advance(&self.gpu)?) {
            Err(demo::Error::Queue(_)) => Ok(()),
            other => Err(format!("the queue should be in error, but {other:?}").into()),
        }
    }

    fn handler(&self) -> Result<(), Box<dyn Error>> {
        let host = host(first());
        let address = host.as_mut_ptr();
        self.gpu.lock(host)?;
        self.gpu.wait(self.advance(&self.gpu)?)?;
        let (gate, other) = (self.gpu.signal()?, self.gpu.allocate(WORDS * 4)?);
        self.gpu.upload(other, &vec![3_u32; WORDS])?;
        let unlocking =
            Unlock { gpu: &raw const self.gpu, address, begin: AtomicBool::new(false), done: AtomicBool::new(false) };
        // Both copies are recorded, and the second waits for the host.
        let copied = self.gpu.copy_after(other, self.data, WORDS, None)?;
        self.gpu.on_fall(copied, unlock, &raw const unlocking as usize)?;
        let second = self.gpu.copy_after(self.out, self.data, WORDS, Some(gate))?;
        unlocking.begin.store(true, Ordering::Release);
        std::thread::sleep(PAUSE);
        self.gpu.lower(gate);
        if !self.gpu.wait_for(second) || !self.gpu.wait_for(copied) {
            return Err("a copy does not end".into());
        }
        while !unlocking.done.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        self.gpu.wait(self.advance(&self.gpu)?)?;
        self.holds(self.out, &advanced(&first()))?;
        self.holds(other, &advanced(&first()))
    }
}
