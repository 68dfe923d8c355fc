//! Where the parts of the software GPU meet: packet processor above, interpreter below, counters beside.

use std::fmt;

/// One kernel dispatch as the packet processor hands it to the interpreter.
///
/// Addresses are addresses of this process: the software GPU shares the program's address space.
#[derive(Clone, Debug)]
pub struct DispatchRequest {
    /// Address of the AQL packet in its ring; kernels read sizes through `dispatch_ptr`, so it stays valid until the
    /// dispatch has completed.
    pub packet: u64,
    /// Address of the queue structure (`amd_queue_t`) for `queue_ptr` and the private segment's resource words.
    pub queue: u64,
    /// Address of the kernel descriptor (64 bytes, `amdhsa_kernel_descriptor`).
    pub kernel_object: u64,
    /// Address of the kernel arguments.
    pub kernarg: u64,
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a work-group in each dimension.
    pub workgroup: [u16; 3],
    /// Bytes of private memory (scratch) a work-item asks for.
    pub private_bytes: u32,
    /// Bytes of LDS a work-group asks for.
    pub group_bytes: u32,
    /// A number for this dispatch, unique in the process.
    pub id: u64,
}

/// How one dispatch is to be run.
#[derive(Clone, Debug)]
pub struct ExecOptions {
    /// Order of work-groups and waves. The same seed gives the same result, whatever `threads` is, for kernels without
    /// data races; `None` is the natural order.
    pub seed: Option<u64>,
    /// Host threads that run work-groups. With a seed, work-groups run in the seed's order on one thread.
    pub threads: usize,
    /// Set to true by another thread to end the dispatch at the next instruction boundary (queue destroyed, deadline).
    pub cancel: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

/// What memory the interpreter may touch.
///
/// # Safety
/// A pointer that [`Memory::host`] returns must stay valid for `bytes` until the dispatch ends; the implementation
/// keeps regions alive while dispatches run.
pub unsafe trait Memory: Sync {
    /// Where `bytes` at GPU address `address` lie in this process.
    ///
    /// # Errors
    /// [`BadAddress`] when any byte of the range is not mapped, or `write` is asked of read-only memory.
    fn host(&self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress>;

    /// The mapped range `[base, end)` around `address` and whether it may be written, so that a wave can keep it and
    /// ask once for many accesses.
    ///
    /// # Errors
    /// [`BadAddress`] when `address` is not mapped.
    fn mapping(&self, address: u64) -> Result<Mapping, BadAddress>;

    /// Whether [`Memory::will_write`] must be called: the write oracle is on.
    fn oracle(&self) -> bool;

    /// Called **before** every global, flat or scalar store and atomic of the dispatch `id`, so that the oracle can keep
    /// what was there. It tells stored ranges from changed ranges: a store of the value that was there changes nothing.
    fn will_write(&self, id: u64, address: u64, bytes: u64);
}

/// A mapped range of GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub base: u64,
    /// First address after it.
    pub end: u64,
    /// Whether stores are allowed.
    pub writable: bool,
}

/// An access to memory that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAddress {
    /// The address.
    pub address: u64,
    /// Bytes of the access.
    pub bytes: u64,
    /// Whether it was a store or an atomic.
    pub write: bool,
}

/// Why a dispatch did not complete. Each becomes a queue error that the program sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An instruction the interpreter does not know: its words, its mnemonic as far as it could be decoded.
    UnknownInstruction {
        /// Program counter.
        pc: u64,
        /// The instruction's first words.
        words: [u32; 3],
        /// Encoding and opcode, or the mnemonic.
        what: String,
    },
    /// A load, store or atomic outside mapped memory.
    BadAddress {
        /// Program counter.
        pc: u64,
        /// The access.
        access: BadAddress,
    },
    /// The program counter left mapped memory.
    BadProgramCounter {
        /// Program counter.
        pc: u64,
    },
    /// `s_trap` or an instruction that stops the wave in error.
    Trap {
        /// Program counter.
        pc: u64,
        /// Trap number.
        id: u16,
    },
    /// The packet or the kernel descriptor asks for what this GPU does not have.
    BadDispatch(String),
    /// Ended by [`ExecOptions::cancel`].
    Cancelled,
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.write { "store" } else { "load" };
        write!(f, "{kind} of {} bytes at {:#x}, which is not mapped for it", self.bytes, self.address)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::UnknownInstruction { pc, words, what } => {
                write!(f, "unknown instruction {what} ({:#010x} {:#010x}) at pc {pc:#x}", words[0], words[1])
            }
            Fault::BadAddress { pc, access } => write!(f, "{access}, at pc {pc:#x}"),
            Fault::BadProgramCounter { pc } => write!(f, "program counter {pc:#x} is not mapped"),
            Fault::Trap { pc, id } => write!(f, "trap {id} at pc {pc:#x}"),
            Fault::BadDispatch(what) => write!(f, "bad dispatch: {what}"),
            Fault::Cancelled => write!(f, "dispatch cancelled"),
        }
    }
}

impl std::error::Error for Fault {}

/// Matrix instructions by what the elements of their factors are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixStats {
    /// 8-bit integers.
    pub i8: MatrixCount,
    /// 16-bit floats.
    pub f16: MatrixCount,
    /// bfloat16.
    pub bf16: MatrixCount,
    /// 32-bit floats.
    pub f32: MatrixCount,
    /// 64-bit floats.
    pub f64: MatrixCount,
}

/// Matrix instructions of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixCount {
    /// How many.
    pub insts: u64,
    /// Additions and multiplications in them.
    pub operations: u64,
}

impl MatrixStats {
    /// Of every kind.
    pub fn insts(&self) -> u64 {
        let Self { i8, f16, bf16, f32, f64 } = self;
        [i8, f16, bf16, f32, f64].map(|count| count.insts).iter().sum()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Self { i8, f16, bf16, f32, f64 } = self;
        let theirs = [other.i8, other.f16, other.bf16, other.f32, other.f64];
        for (count, more) in [i8, f16, bf16, f32, f64].into_iter().zip(theirs) {
            count.insts += more.insts;
            count.operations += more.operations;
        }
    }
}

/// What one dispatch did, counted exactly. All counts are per wave unless a field says otherwise; the counters of
/// `pmc` are sums and ratios of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecStats {
    /// Work-groups run.
    pub workgroups: u64,
    /// Waves started.
    pub waves: u64,
    /// Work-items started.
    pub workitems: u64,
    /// All wave instructions.
    pub insts: u64,
    /// Vector ALU instructions.
    pub insts_valu: u64,
    /// Scalar ALU instructions.
    pub insts_salu: u64,
    /// Scalar memory instructions.
    pub insts_smem: u64,
    /// Vector memory reads (global, flat to global, scratch, buffer).
    pub insts_vmem_rd: u64,
    /// Vector memory writes.
    pub insts_vmem_wr: u64,
    /// Flat instructions (any segment).
    pub insts_flat: u64,
    /// LDS instructions.
    pub insts_lds: u64,
    /// Vector memory atomics, with and without return.
    pub insts_atomic: u64,
    /// Branch instructions, taken or not.
    pub insts_branch: u64,
    /// Messages (`s_sendmsg`).
    pub insts_sendmsg: u64,
    /// Matrix instructions, which are vector ALU instructions too.
    pub matrix: MatrixStats,
    /// Barriers reached.
    pub barriers: u64,
    /// Active lanes summed over VALU instructions (per thread).
    pub valu_lanes: u64,
    /// Bytes read from global memory by active lanes.
    pub global_read_bytes: u64,
    /// Bytes written to global memory by active lanes.
    pub global_write_bytes: u64,
    /// Bytes of global atomics by active lanes.
    pub global_atomic_bytes: u64,
    /// 64-byte lines touched by vector memory reads, counted once an instruction.
    pub read_lines: u64,
    /// 64-byte lines touched by vector memory writes, counted once an instruction.
    pub write_lines: u64,
    /// 64-byte lines touched by atomics, counted once an instruction.
    pub atomic_lines: u64,
    /// Bytes read from LDS by active lanes.
    pub lds_read_bytes: u64,
    /// Bytes written to LDS by active lanes.
    pub lds_write_bytes: u64,
    /// LDS bank conflicts: extra cycles beyond the first for 32 banks of 4 bytes.
    pub lds_bank_conflicts: u64,
    /// Simulated cycles: one per wave instruction on its SIMD; a model, not a measurement.
    pub cycles: u64,
}
