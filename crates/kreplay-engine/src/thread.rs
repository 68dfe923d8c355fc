//! Who is calling: numbers of threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    static SYSTEM: Cell<u64> = const { Cell::new(0) };
}

/// This thread's number in the process: never 0, never used again by another thread. Threads that are past the
/// destruction of their thread-local storage share `u64::MAX`.
pub(crate) fn number() -> u64 {
    cached(&NUMBER, || NEXT.fetch_add(1, Ordering::Relaxed))
}

/// This thread's number as the system and other tools show it (Linux: the thread id); where it cannot be had, the
/// number in the process.
pub(crate) fn system_number() -> u64 {
    cached(&SYSTEM, || {
        // The link reads `PID/task/TID`.
        std::fs::read_link("/proc/thread-self")
            .ok()
            .and_then(|link| link.file_name()?.to_str()?.parse().ok())
            .unwrap_or_else(number)
    })
}

fn cached(slot: &'static std::thread::LocalKey<Cell<u64>>, make: impl FnOnce() -> u64) -> u64 {
    slot.try_with(|slot| {
        if slot.get() == 0 {
            slot.set(make());
        }
        slot.get()
    })
    .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #[test]
    fn threads_have_numbers_of_their_own() {
        let here = (super::number(), super::system_number());
        assert_eq!(here, (super::number(), super::system_number()));
        let there = std::thread::spawn(|| (super::number(), super::system_number())).join().unwrap();
        assert_ne!(here.0, there.0);
        assert_ne!(here.1, there.1);
    }
}
