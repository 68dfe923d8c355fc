//! What CUPTI's status numbers mean, and what the user can do about them.

use std::fmt;

/// A status of CUPTI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CuptiStatus(pub(crate) i32);

impl CuptiStatus {
    /// A parameter, or often the size of a structure, is wrong.
    pub(crate) const INVALID_PARAMETER: CuptiStatus = CuptiStatus(1);
    /// Another profiler holds the counters.
    pub(crate) const HARDWARE_BUSY: CuptiStatus = CuptiStatus(26);
    /// Not on this device, or not together.
    pub(crate) const NOT_SUPPORTED: CuptiStatus = CuptiStatus(27);
    /// Counters are for administrators only.
    pub(crate) const INSUFFICIENT_PRIVILEGES: CuptiStatus = CuptiStatus(35);

    /// Ours: this CUPTI does not have the function.
    pub(crate) const MISSING: CuptiStatus = CuptiStatus(-1);
    /// No room on the host; where decoding says so, the hardware's buffer overflowed.
    pub(crate) const OUT_OF_MEMORY: CuptiStatus = CuptiStatus(8);

    /// Name and meaning; the remedy where there is one.
    pub(crate) fn meaning(self) -> &'static str {
        match self.0 {
            -1 => "this CUPTI does not have the function; sampling came with CUPTI 12.6",
            1 => "invalid parameter",
            2 => "invalid device",
            3 => "invalid context",
            7 => "invalid operation in this state",
            8 => "out of memory",
            9 => "hardware error",
            12 => "limit reached",
            15 => "not initialised: libnvperf_host.so or libnvperf_target.so was not found beside libcupti",
            26 => {
                "the counters are in use by another profiler (DCGM, ncu, another kreplay); stop it, for DCGM with \
                 `dcgmi profile --pause`"
            }
            27 => "not supported: these counters cannot be counted together, or not on this device",
            35 => {
                "counting is restricted to administrators; run as root, give the program CAP_SYS_ADMIN, or load the \
                 nvidia kernel module with NVreg_RestrictProfilingToAdminUsers=0"
            }
            38 => "this device does not have the older profiling interface",
            39 => "another tool has subscribed to CUPTI in this process",
            40 => "counting does not work on this virtual GPU",
            41 => "counting does not work under confidential computing",
            42 => "counting does not work on this mining GPU",
            43 => "counting does not work on this MIG instance",
            44 => "counting does not work with SLI",
            45 => "counting does not work under WSL",
            46 => "this CUPTI does not know the chip; install a newer CUPTI",
            999 => "unknown error; the driver may be missing or older than CUPTI needs",
            _ => "see the vendor's list of CUPTI status codes",
        }
    }
}

impl fmt::Display for CuptiStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUPTI status {}: {}", self.0, self.meaning())
    }
}

/// A call of CUPTI failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CuptiError {
    /// The function.
    pub(crate) call: &'static str,
    /// What it returned.
    pub(crate) status: CuptiStatus,
}

impl fmt::Display for CuptiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call, self.status)
    }
}

impl std::error::Error for CuptiError {}
