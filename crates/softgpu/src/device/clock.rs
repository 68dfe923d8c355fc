//! The GPU's clock: nanoseconds of the host's boot-time clock, which is also ROCr's system clock, so that GPU
//! timestamps and system timestamps are the same numbers.

/// Nanoseconds since boot.
#[must_use]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call writes.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
