//! Arguments, packets and dispatches.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use softgpu::contract::{DispatchRequest, ExecOptions, ExecStats, Fault};

use super::{Abi, Buffer, Module, TestMemory};

/// Kernel arguments in memory order.
#[derive(Default)]
pub struct Args(Vec<u8>);

impl Args {
    pub fn new() -> Args {
        Args::default()
    }

    fn push(mut self, bytes: &[u8]) -> Args {
        self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn buffer(self, buffer: &Buffer) -> Args {
        self.push(&buffer.address().to_le_bytes())
    }

    pub fn int(self, value: i32) -> Args {
        self.push(&value.to_le_bytes())
    }

    pub fn long(self, value: i64) -> Args {
        self.push(&value.to_le_bytes())
    }

    pub fn float(self, value: f32) -> Args {
        self.push(&value.to_le_bytes())
    }
}

/// One dispatch to be run.
pub struct Launch<'a> {
    pub module: &'a Module,
    pub kernel: &'a str,
    pub abi: Abi,
    pub grid: [u32; 3],
    pub workgroup: [u16; 3],
    pub group_bytes: u32,
    pub seed: Option<u64>,
    pub threads: usize,
    /// What ends the dispatch early.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl<'a> Launch<'a> {
    /// A one-dimensional dispatch of work-groups of `workgroup` work-items.
    pub fn new(module: &'a Module, kernel: &'a str, abi: Abi, items: u32, workgroup: u16) -> Launch<'a> {
        Launch {
            module,
            kernel,
            abi,
            grid: [items, 1, 1],
            workgroup: [workgroup, 1, 1],
            group_bytes: 0,
            seed: None,
            threads: 1,
            cancel: None,
        }
    }

    fn hidden(&self) -> Vec<u8> {
        let mut bytes = vec![0u8; 256];
        if self.abi == Abi::V5 {
            for d in 0..3 {
                let size = u32::from(self.workgroup[d]);
                bytes[4 * d..][..4].copy_from_slice(&(self.grid[d] / size).to_le_bytes());
                bytes[12 + 2 * d..][..2].copy_from_slice(&self.workgroup[d].to_le_bytes());
                bytes[18 + 2 * d..][..2].copy_from_slice(&((self.grid[d] % size) as u16).to_le_bytes());
            }
            bytes[64..66].copy_from_slice(&3u16.to_le_bytes());
            bytes[120..124].copy_from_slice(&self.group_bytes.to_le_bytes());
        }
        bytes
    }

    /// Runs it. `writable` buffers may be stored to; the module's image may, too (its variables).
    pub fn try_run(&self, args: Args, writable: &[&Buffer], read_only: &[&Buffer]) -> Result<ExecStats, Fault> {
        self.run_observed(args, writable, read_only).0
    }

    /// Runs it, and tells which ranges the interpreter announced it would write.
    pub fn run_observed(
        &self,
        args: Args,
        writable: &[&Buffer],
        read_only: &[&Buffer],
    ) -> (Result<ExecStats, Fault>, Vec<(u64, u64)>) {
        let Args(mut bytes) = args;
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(self.hidden());
        let kernarg = Buffer::of(&bytes);
        let kernel_object = self.module.kernel(self.kernel);
        let image = self.module.image();
        let at = (kernel_object - image.address()) as usize;
        let descriptor = image.read::<u8>()[at..at + 64].to_vec();
        let field = |n: usize| u32::from_le_bytes(descriptor[n..n + 4].try_into().expect("four bytes"));
        let group_bytes = field(0) + self.group_bytes;
        // A kernel that calls what the compiler cannot see says so, and gets more.
        let private_bytes = field(4).max(if field(56) >> 11 & 1 != 0 { 16 * 1024 } else { 0 });

        let mut packet = [0u8; 64];
        for d in 0..3 {
            packet[4 + 2 * d..][..2].copy_from_slice(&self.workgroup[d].to_le_bytes());
            packet[12 + 4 * d..][..4].copy_from_slice(&self.grid[d].to_le_bytes());
        }
        packet[24..28].copy_from_slice(&private_bytes.to_le_bytes());
        packet[28..32].copy_from_slice(&group_bytes.to_le_bytes());
        packet[32..40].copy_from_slice(&kernel_object.to_le_bytes());
        packet[40..48].copy_from_slice(&kernarg.address().to_le_bytes());
        let packet = Buffer::of(&packet);
        let queue = Buffer::of(&[0u8; 256]);

        let mut all_writable = writable.to_vec();
        all_writable.push(image);
        let mut all_read_only = read_only.to_vec();
        all_read_only.extend([&kernarg, &packet, &queue]);
        let mut memory = TestMemory::new(&all_writable, &all_read_only);
        memory.written = Some(Default::default());
        let request = DispatchRequest {
            packet: packet.address(),
            queue: queue.address(),
            kernel_object,
            kernarg: kernarg.address(),
            grid: self.grid,
            workgroup: self.workgroup,
            private_bytes,
            group_bytes,
            id: 1,
        };
        let options =
            ExecOptions { seed: self.seed, threads: self.threads, cancel: self.cancel.clone().unwrap_or_default() };
        let result = softgpu::exec::run(&request, &memory, &options);
        let written = memory.written.take().expect("set above").into_inner().expect("no test panics there");
        (result, written)
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(&self, args: Args, writable: &[&Buffer], read_only: &[&Buffer]) -> ExecStats {
        self.try_run(args, writable, read_only).unwrap_or_else(|fault| panic!("{}: {fault}", self.kernel))
    }
}
