//! NVML, the driver's library for management: which processes use a GPU. It comes with the driver, but a container may lack it.
//!
//! Signatures and numbers: the header `nvml.h` of CUDA 13.0.

use super::functions::function_table;
use super::library::{Library, Opening};
use std::ffi::{CString, c_char, c_void};
use std::path::Path;

function_table! {
    /// What is asked of it.
    NvmlTable of "libnvidia-ml.so.1" {
        required {
            fn nvmlInit_v2();
            fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut *mut c_void);
        }
        optional {
            /// With room for no processes it tells how many there are, and that there is no room for them.
            fn nvmlDeviceGetComputeRunningProcesses_v3(device: *mut c_void, count: *mut u32, processes: *mut c_void);
            fn nvmlDeviceGetComputeRunningProcesses_v2(device: *mut c_void, count: *mut u32, processes: *mut c_void);
            /// Clients of MPS, which are not among the others.
            fn nvmlDeviceGetMPSComputeRunningProcesses_v3(device: *mut c_void, count: *mut u32, processes: *mut c_void);
            fn nvmlDeviceGetMPSComputeRunningProcesses_v2(device: *mut c_void, count: *mut u32, processes: *mut c_void);
            fn nvmlDeviceGetGraphicsRunningProcesses_v3(device: *mut c_void, count: *mut u32, processes: *mut c_void);
            fn nvmlDeviceGetGraphicsRunningProcesses_v2(device: *mut c_void, count: *mut u32, processes: *mut c_void);
            fn nvmlDeviceGetClockInfo(device: *mut c_void, which: u32, mhz: *mut u32);
        }
    }
}

const SUCCESS: i32 = 0;
/// There are no such processes on this GPU.
const NOT_SUPPORTED: i32 = 3;
const INSUFFICIENT_SIZE: i32 = 7;
/// `NVML_CLOCK_SM`: that of the multiprocessors.
const CLOCK_SM: u32 = 1;

/// The library, begun.
#[derive(Debug)]
pub(crate) struct Nvml {
    table: NvmlTable,
}

impl Nvml {
    /// Loads it. `None` where there is none, or it does not begin.
    pub(crate) fn load() -> Option<Self> {
        let path = Path::new("libnvidia-ml.so.1");
        let library = Library::open(path, Opening::Loaded).or_else(|_| Library::open(path, Opening::Local)).ok()?;
        Self::with_table(NvmlTable::load(&|name| library.symbol(name)).ok()?)
    }

    fn with_table(table: NvmlTable) -> Option<Self> {
        // SAFETY: it may be called any number of times, and is never ended.
        (unsafe { (table.nvmlInit_v2)() } == SUCCESS).then_some(Self { table })
    }

    /// The GPU with this number.
    fn device(&self, uuid: [u8; 16]) -> Option<*mut c_void> {
        let name = CString::new(named(uuid)).ok()?;
        let mut device = std::ptr::null_mut();
        // SAFETY: a C string, and a local for the result.
        let status = unsafe { (self.table.nvmlDeviceGetHandleByUUID)(name.as_ptr(), &mut device) };
        (status == SUCCESS).then_some(device)
    }

    /// The clock of its multiprocessors now, in MHz. `None` where that is not told.
    pub(crate) fn clock_mhz(&self, uuid: [u8; 16]) -> Option<u32> {
        let (ask, device) = (self.table.nvmlDeviceGetClockInfo?, self.device(uuid)?);
        let mut mhz = 0;
        // SAFETY: a handle of the library's, and a local for the result.
        (unsafe { ask(device, CLOCK_SM, &mut mhz) } == SUCCESS).then_some(mhz)
    }

    /// How many processes compute on the GPU with this number, and how many show something with it. `None` where that is not told.
    pub(crate) fn processes(&self, uuid: [u8; 16]) -> Option<Processes> {
        let device = self.device(uuid)?;
        let count = |ask: unsafe extern "C" fn(*mut c_void, *mut u32, *mut c_void) -> i32| {
            let mut count = 0;
            // SAFETY: a handle of the library's; with room for no processes nothing is written but their number.
            let status = unsafe { ask(device, &mut count, std::ptr::null_mut()) };
            match status {
                SUCCESS | INSUFFICIENT_SIZE => Some(count),
                NOT_SUPPORTED => Some(0),
                _ => None,
            }
        };
        let table = &self.table;
        let compute = table.nvmlDeviceGetComputeRunningProcesses_v3.or(table.nvmlDeviceGetComputeRunningProcesses_v2)?;
        let graphics =
            table.nvmlDeviceGetGraphicsRunningProcesses_v3.or(table.nvmlDeviceGetGraphicsRunningProcesses_v2);
        let clients =
            table.nvmlDeviceGetMPSComputeRunningProcesses_v3.or(table.nvmlDeviceGetMPSComputeRunningProcesses_v2);
        // Those that an older NVML has no question for are none.
        let counted = |ask: Option<_>| ask.map_or(Some(0), count);
        let (compute, clients, graphics) = (count(compute)?, counted(clients), counted(graphics));
        let all_told = clients.is_some() && graphics.is_some();
        Some(Processes { compute, clients: clients.unwrap_or(0), graphics: graphics.unwrap_or(0), all_told })
    }
}

/// Processes on a GPU, this one included where it has a context there and is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Processes {
    /// MPS's server, not its clients.
    pub(crate) compute: u32,
    /// Of MPS.
    pub(crate) clients: u32,
    pub(crate) graphics: u32,
    /// Whether there are no more of them than that.
    pub(crate) all_told: bool,
}

impl Processes {
    /// Whether there is this process, and no other.
    pub(crate) fn one(self) -> bool {
        self.all_told && self.compute == 1 && self.clients == 0 && self.graphics == 0
    }

    /// Whether there is one beside this process.
    pub(crate) fn others(self) -> bool {
        self.compute > 1 || self.clients > 1 || self.graphics > 0
    }
}

/// A GPU's number as NVML has it.
fn named(uuid: [u8; 16]) -> String {
    let digits: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let [a, b, c, d, e] = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    format!("GPU-{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn processes(compute: u32, clients: u32, graphics: u32) -> Processes {
        Processes { compute, clients, graphics, all_told: true }
    }

    const UUID: [u8; 16] = [0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xfe];

    unsafe extern "C" fn init() -> i32 {
        0
    }

    unsafe extern "C" fn refuses() -> i32 {
        9
    }

    unsafe extern "C" fn handle(uuid: *const c_char, device: *mut *mut c_void) -> i32 {
        // SAFETY: the caller's C string.
        let known = unsafe { CStr::from_ptr(uuid) } == c"GPU-abcdef01-0203-0405-0607-08090a0b0cfe";
        // SAFETY: the caller's local.
        unsafe { *device = 7 as *mut c_void };
        if known { 0 } else { 6 }
    }

    unsafe extern "C" fn two(device: *mut c_void, count: *mut u32, processes: *mut c_void) -> i32 {
        assert!(device as usize == 7 && processes.is_null());
        // SAFETY: the caller's local.
        unsafe { *count = 2 };
        7
    }

    unsafe extern "C" fn one(_device: *mut c_void, count: *mut u32, _processes: *mut c_void) -> i32 {
        // SAFETY: the caller's local.
        unsafe { *count = 1 };
        0
    }

    unsafe extern "C" fn none(_device: *mut c_void, _count: *mut u32, _processes: *mut c_void) -> i32 {
        NOT_SUPPORTED
    }

    unsafe extern "C" fn fails(_device: *mut c_void, _count: *mut u32, _processes: *mut c_void) -> i32 {
        999
    }

    #[test]
    fn clients_of_mps_are_counted_and_what_is_not_told_is_not_taken_for_none() {
        type Ask = unsafe extern "C" fn(*mut c_void, *mut u32, *mut c_void) -> i32;
        let asked = |clients: Ask, graphics: Ask| {
            let found = |name: &CStr| match name.to_bytes() {
                b"nvmlDeviceGetMPSComputeRunningProcesses_v3" => clients as *mut c_void,
                b"nvmlDeviceGetGraphicsRunningProcesses_v3" => graphics as *mut c_void,
                _ => find(name, init),
            };
            let table = NvmlTable::load(&found).expect("what is required is there");
            Nvml::with_table(table).expect("it begins").processes(UUID)
        };
        assert_eq!(asked(one, none), Some(processes(2, 1, 0)));
        assert_eq!(asked(none, one), Some(processes(2, 0, 1)));
        // What was told of others is kept.
        for told in [asked(fails, none), asked(none, fails)] {
            assert!(told.is_some_and(|told| !told.all_told && !told.one() && told.others()));
        }
    }

    unsafe extern "C" fn clock(device: *mut c_void, which: u32, mhz: *mut u32) -> i32 {
        assert!(device as usize == 7);
        // SAFETY: the caller's local.
        unsafe { *mhz = 1000 + which };
        0
    }

    #[test]
    fn the_clock_is_that_of_the_multiprocessors_and_not_told_where_there_is_no_question() {
        let told = |clock: *mut c_void, uuid| {
            let found = |name: &CStr| if name == c"nvmlDeviceGetClockInfo" { clock } else { find(name, init) };
            let table = NvmlTable::load(&found).expect("what is required is there");
            Nvml::with_table(table).expect("it begins").clock_mhz(uuid)
        };
        assert_eq!(told(clock as *mut c_void, UUID), Some(1001));
        assert_eq!(told(clock as *mut c_void, [0; 16]), None);
        assert_eq!(told(std::ptr::null_mut(), UUID), None);
    }

    fn find(name: &CStr, init: unsafe extern "C" fn() -> i32) -> *mut c_void {
        match name.to_bytes() {
            b"nvmlInit_v2" => init as *mut c_void,
            b"nvmlDeviceGetHandleByUUID" => handle as *mut c_void,
            b"nvmlDeviceGetComputeRunningProcesses_v2" => two as *mut c_void,
            _ => std::ptr::null_mut(),
        }
    }

    #[test]
    fn processes_are_counted_by_the_gpus_name() {
        let table = NvmlTable::load(&|name| find(name, init)).expect("what is required is there");
        let nvml = Nvml::with_table(table).expect("it begins");
        assert_eq!(nvml.processes(UUID), Some(processes(2, 0, 0)));
        assert_eq!(nvml.processes([0; 16]), None, "another GPU");
        let table = NvmlTable::load(&|name| find(name, refuses)).expect("what is required is there");
        assert!(Nvml::with_table(table).is_none());
    }

    #[test]
    fn one_that_computes_is_this_one() {
        let others = |compute, graphics| processes(compute, 0, graphics).others();
        assert!(!others(0, 0) && !others(1, 0) && others(2, 0) && others(1, 1));
        let one = |compute, graphics| processes(compute, 0, graphics).one();
        assert!(one(1, 0) && !one(0, 0) && !one(2, 0) && !one(1, 1), "where nobody is seen somebody may be");
        // The server of MPS with this process as its client, which another may join at any time.
        assert!(!processes(1, 1, 0).others() && !processes(1, 1, 0).one() && processes(1, 2, 0).others());
    }
}
