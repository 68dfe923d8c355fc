//! What is asked of the host.

/// Cores of the host, at least one.
#[must_use]
pub fn cpu_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Bytes of physical memory of the host; 1 GiB where the host does not tell.
#[must_use]
pub fn host_memory_bytes() -> u64 {
    // SAFETY: `sysconf` reads a number and has no preconditions.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    match (u64::try_from(pages), u64::try_from(page)) {
        (Ok(pages), Ok(page)) if pages > 0 && page > 0 => pages.saturating_mul(page),
        _ => 1 << 30,
    }
}
