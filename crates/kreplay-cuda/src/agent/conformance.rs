//! The engine's conformance suite, stamped on the agent: over the fake driver everywhere, and on a GPU where there is one
//! (with `KREPLAY_NO_SKIP_GPU` a missing GPU fails the tests).

use super::*;
use crate::fake;
use kreplay_engine::conformance::{Kernel, Rig, Words};
use kreplay_engine::{Agent, Move, Range, Tier};
use std::ffi::{CStr, c_void};
use std::time::{Duration, Instant};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// An agent, and where the suite's kernels come from.
struct CudaRig<K> {
    agent: Arc<CudaAgent>,
    kernels: K,
}

trait Kernels: Sized {
    const NO_SKIP: &'static str;
    fn make() -> Result<(CudaAgent, Self), String>;
    fn work(&self, agent: &CudaAgent, kernel: &Kernel) -> CudaWork;
    fn launch(&self, agent: &CudaAgent, work: &CudaWork);
}

impl<K> CudaRig<K> {
    fn drain(&self) {
        self.agent.drain(soon()).expect("the program's work ends");
    }

    fn staged(&self, bytes: u64, work: impl FnOnce(u64, &mut [u8])) {
        let staging = self.agent.allocate(Tier::Host, bytes.max(1)).expect("there is room");
        // SAFETY: pinned host memory of this size.
        let content = unsafe { std::slice::from_raw_parts_mut(staging.range.base as *mut u8, bytes as usize) };
        work(staging.range.base, content);
        self.agent.free(staging);
    }

    fn copy(&self, to: u64, from: u64, bytes: u64) {
        self.agent.copy(&[Move { to, from, bytes }]).expect("copied");
        self.agent.settle(soon()).expect("settled");
    }
}

impl<K: Kernels> Rig for CudaRig<K> {
    type Agent = CudaAgent;
    const NO_SKIP: &'static str = K::NO_SKIP;

    fn make() -> Result<Self, String> {
        let (agent, kernels) = K::make()?;
        Ok(Self { agent: Arc::new(agent), kernels })
    }

    fn agent(&self) -> Arc<CudaAgent> {
        Arc::clone(&self.agent)
    }

    fn allocate(&self, bytes: u64) -> u64 {
        let _entered = self.agent.enter().expect("the context is there");
        self.agent.driver().allocate(bytes as usize).expect("there is room")
    }

    fn free(&self, base: u64) {
        self.drain();
        let _entered = self.agent.enter().expect("the context is there");
        self.agent.driver().free(base).expect("it was allocated");
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        self.drain();
        self.staged(bytes.len() as u64, |base, content| {
            content.copy_from_slice(bytes);
            self.copy(address, base, bytes.len() as u64);
        });
    }

    fn read(&self, range: Range) -> Vec<u8> {
        self.drain();
        let mut found = Vec::new();
        self.staged(range.bytes, |base, content| {
            self.copy(base, range.base, range.bytes);
            found.extend_from_slice(content);
        });
        found
    }

    fn work(&self, kernel: &Kernel) -> CudaWork {
        self.kernels.work(&self.agent, kernel)
    }

    fn launch(&self, kernel: &Kernel) {
        self.kernels.launch(&self.agent, &self.work(kernel));
    }
}

/// Over the fake driver: kernels are closures.
struct Closures;

struct Raw;

impl Words for Raw {
    fn load(&self, address: u64) -> u32 {
        // SAFETY: the suite's kernels stay in live memory.
        unsafe { (address as *const u32).read() }
    }

    fn store(&mut self, address: u64, value: u32) {
        // SAFETY: as above.
        unsafe { (address as *mut u32).write(value) };
    }
}

fn launch(function: u64, arguments: Vec<u8>, layout: ParameterLayout) -> CudaWork {
    CudaWork::Launch(Launch {
        function: Function(function as *mut c_void),
        grid: [1; 3],
        block: [1; 3],
        shared: 0,
        attributes: Vec::new(),
        arguments: arguments.into(),
        form: LaunchForm::Pointers(Arc::new(layout)),
    })
}

impl Kernels for Closures {
    const NO_SKIP: &'static str = "KREPLAY_NO_SKIP";

    fn make() -> Result<(CudaAgent, Self), String> {
        Ok((super::tests::fake_agent(), Self))
    }

    fn work(&self, _: &CudaAgent, kernel: &Kernel) -> CudaWork {
        let kernel = *kernel;
        let handle = fake::add_kernel(kernel.name(), &[], Arc::new(move |_, _| kernel.run(&mut Raw)));
        launch(handle, Vec::new(), ParameterLayout::default())
    }

    fn launch(&self, agent: &CudaAgent, work: &CudaWork) {
        agent.submit(work).expect("launched");
    }
}

/// On the first GPU: kernels are compiled from `conformance.c`.
struct Compiled {
    module: crate::tables::Module,
    stream: Stream,
}

const PTX: &CStr = {
    match CStr::from_bytes_with_nul(concat!(include_str!("conformance.ptx"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the PTX text holds a NUL"),
    }
};

/// A kernel's name and arguments: 64-bit ones, and 32-bit ones.
enum Word {
    Long(u64),
    Short(u32),
}

fn call_of(kernel: &Kernel) -> (&'static CStr, Vec<Word>) {
    use Word::{Long, Short};
    let count = |range: Range| Long(range.bytes / 4);
    match *kernel {
        Kernel::Fill { to, value } => (c"conform_fill", vec![Long(to.base), count(to), Short(value)]),
        Kernel::Add { at, value } => (c"conform_add", vec![Long(at.base), count(at), Short(value)]),
        Kernel::Accumulate { from, to } => (c"conform_accumulate", vec![Long(from.base), count(from), Long(to)]),
        Kernel::Copy { to, from } => (c"conform_copy", vec![Long(to), Long(from.base), count(from)]),
        Kernel::Append { counter, to, stride } => {
            (c"conform_append", vec![Long(counter), Long(to.base), count(to), Short(stride)])
        }
        Kernel::Escape { counter, pass, at, to } => {
            (c"conform_escape", vec![Long(counter), Short(pass), Long(at.base), count(at), Long(to)])
        }
    }
}

impl Kernels for Compiled {
    const NO_SKIP: &'static str = "KREPLAY_NO_SKIP_GPU";

    fn make() -> Result<(CudaAgent, Self), String> {
        let agent = super::tests::find_gpu()?;
        let (module, stream) = {
            let _entered = agent.enter().map_err(|error| error.to_string())?;
            let module = agent.driver().load_module(PTX).map_err(|(error, log)| format!("{error}: {log}"))?;
            (module, agent.driver().create_stream().map_err(|error| error.to_string())?)
        };
        agent.stream_born(stream);
        Ok((agent, Self { module, stream }))
    }

    fn work(&self, agent: &CudaAgent, kernel: &Kernel) -> CudaWork {
        let (name, words) = call_of(kernel);
        let _entered = agent.enter().expect("the context is there");
        let function = agent.driver().module_function(self.module, name).expect("the module has it");
        let layout = ParameterLayout::of(agent.driver(), function).expect("the driver tells parameters");
        assert_eq!(layout.parameters.len(), words.len());
        let mut bytes = vec![0; layout.bytes()];
        for ((offset, size), word) in layout.parameters.iter().zip(words) {
            match word {
                Word::Long(value) => bytes[*offset..offset + size].copy_from_slice(&value.to_ne_bytes()),
                Word::Short(value) => bytes[*offset..offset + size].copy_from_slice(&value.to_ne_bytes()),
            }
        }
        launch(function.raw(), bytes, layout)
    }

    fn launch(&self, agent: &CudaAgent, work: &CudaWork) {
        let _entered = agent.enter().expect("the context is there");
        work.submit(agent.driver(), self.stream).expect("launched");
    }
}

mod on_the_fake_driver {
    kreplay_engine::conformance_suite!(super::CudaRig<super::Closures>);
}

mod on_a_gpu {
    kreplay_engine::conformance_suite!(super::CudaRig<super::Compiled>);
}
