//! Memory of the host that kernels reach though nobody told the driver of it: where the device reads and writes the pages of
//! its process (HMM, ATS), any pointer will do. No replay can put it back, since the host may use it at any time.
//!
//! Only parameters that are a pointer wide are looked at: structures have gaps, in which pointers to the host lie by chance. And only
//! addresses that are no likely count: programs that are not relocated lie at four megabytes, and so many elements are common.

use super::{Interceptor, locked};
use crate::agent::ParameterLayout;
use kreplay_engine::Decline;

/// Pointers lie from here on, but for those of programs that are not relocated.
const LEAST: u64 = 1 << 32;
/// … to here.
const END: u64 = 1 << 47;

impl Interceptor {
    /// Why a launch with a parameter that points to the host's own memory cannot be replayed. Its arguments are packed so.
    pub(super) fn reaches_host_pages(&self, layout: &ParameterLayout, arguments: &[u8]) -> Option<Decline> {
        let wide = layout.parameters.iter().filter(|(_, bytes)| *bytes == 8);
        let words = wide.filter_map(|(offset, _)| {
            let word = arguments.get(*offset..offset + 8)?.try_into().ok().map(u64::from_ne_bytes)?;
            (LEAST..END).contains(&word).then_some(word)
        });
        let live = locked(&self.live);
        let unknown: Vec<u64> = words.filter(|word| !live.is_in(*word)).collect();
        drop(live);
        unknown.into_iter().any(is_readable).then_some(Decline::UntrackedMemory)
    }
}

/// Whether this process can read memory at an address. Addresses that only devices can use are reserved, and cannot be.
fn is_readable(address: u64) -> bool {
    const NO_SUCH_CHANGE: libc::c_int = !0;
    // SAFETY: the kernel reads eight bytes for the set of signals, or fails; it changes nothing, since there is no such change.
    let status = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            NO_SUCH_CHANGE,
            (address & !7) as *const libc::c_void,
            std::ptr::null::<libc::c_void>(),
            8usize,
        )
    };
    status == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_can_read_is_told_from_what_is_only_reserved() {
        let own = [7u64; 4];
        assert!(is_readable(own.as_ptr() as u64) && is_readable(own.as_ptr() as u64 + 13));
        assert!(is_readable(c"text".as_ptr() as u64));
        assert!(!is_readable(LEAST), "nothing is there");
        // SAFETY: a new mapping, unmapped below.
        let reserved = unsafe {
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(reserved, libc::MAP_FAILED);
        assert!(!is_readable(reserved as u64));
        // SAFETY: mapped above.
        unsafe { libc::munmap(reserved, 4096) };
    }
}
