//! Whether this process is the only one on a GPU: where the whole device is counted.
//!
//! Each process that counts on a GPU holds a lock file shared. One that can have it alone for a moment is the only one that counts. Of
//! those that do not count NVML tells, where it is there and sees them (in a container it may not).

use super::lock::{open, path};
use crate::counters::Guarded;
use crate::interceptor::OwnFile;
use crate::tables::{Nvml, Processes};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The lock files of this process, by GPU: a lock belongs to the open file, so there is one for all contexts.
static FILES: Mutex<Option<HashMap<[u8; 16], Presence>>> = Mutex::new(None);

/// How long another process may be asking whether it is alone: a moment.
const ASKING: Duration = Duration::from_millis(200);

/// A process on a GPU.
struct Presence(OwnFile);

impl Presence {
    /// Holds the file shared.
    ///
    /// # Errors
    /// The system's.
    fn enter(path: &Path) -> std::io::Result<Self> {
        let file = OwnFile::new(open(path)?);
        share(&file)?;
        Ok(Self(file))
    }

    /// Whether no other process holds it.
    fn alone(&self) -> bool {
        let alone = lock(&self.0, libc::LOCK_EX).is_ok();
        // A lock that could not be turned into the other kind may be lost.
        let shared = share(&self.0).is_ok();
        alone && shared
    }
}

fn share(file: &OwnFile) -> std::io::Result<()> {
    let start = Instant::now();
    loop {
        match lock(file, libc::LOCK_SH) {
            Err(error) if error.kind() == ErrorKind::WouldBlock && start.elapsed() < ASKING => {
                std::thread::sleep(Duration::from_micros(100));
            }
            other => return other,
        }
    }
}

fn lock(file: &OwnFile, kind: libc::c_int) -> std::io::Result<()> {
    // SAFETY: the file is open.
    let locked = unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) } == 0;
    if locked { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// This process counts on a GPU.
///
/// # Errors
/// When the lock file cannot be had.
pub(in crate::counters) fn enter(uuid: [u8; 16]) -> std::io::Result<()> {
    let mut files = FILES.guarded();
    let files = files.get_or_insert_default();
    if let Entry::Vacant(place) = files.entry(uuid) {
        place.insert(Presence::enter(&path(uuid, "processes"))?);
    }
    Ok(())
}

/// How long a process that ends may still be told of.
const LEAVING: Duration = Duration::from_millis(100);

/// Makes sure that this process is the only one on the GPU: NVML tells of one, and would of any other.
///
/// # Errors
/// Why it may not be.
pub(in crate::counters) fn certainly(uuid: [u8; 16]) -> Result<(), &'static str> {
    let sees_all = std::fs::read_link(NAMESPACE).is_ok_and(|name| name.as_os_str() == EVERY_PROCESS);
    only_one(sees_all, alone_of_ours(uuid), || nvml().and_then(|nvml| nvml.processes(uuid)))
}

fn only_one(sees_all: bool, of_ours: bool, processes: impl FnOnce() -> Option<Processes>) -> Result<(), &'static str> {
    if !of_ours {
        return Err(COUNTS);
    }
    if !sees_all {
        return Err(
            "not every process of the machine can be seen from here (a container is started with --pid=host for that)",
        );
    }
    match processes() {
        Some(processes) if processes.one() => Ok(()),
        Some(processes) if processes.others() => Err(USES),
        Some(_) => Err("NVML does not tell of every process on this GPU"),
        None => Err("NVML does not tell which processes use this GPU"),
    }
}

/// Who is on a GPU beside this process.
const COUNTS: &str = "another process counts on this GPU";
const USES: &str = "another process uses this GPU";

/// The namespace of this process's numbers, and the name of the one that all processes of the machine are in (`PROC_PID_INIT_INO` of
/// Linux's `include/linux/proc_ns.h`). From another one, a container's, NVML may not see all of them.
const NAMESPACE: &str = "/proc/self/ns/pid";
const EVERY_PROCESS: &str = "pid:[4026531836]";

fn alone_of_ours(uuid: [u8; 16]) -> bool {
    FILES.guarded().get_or_insert_default().get(&uuid).is_some_and(Presence::alone)
}

fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(Nvml::load).as_ref()
}

/// The clock of a GPU's multiprocessors now, in MHz.
pub(in crate::counters) fn clock_mhz(uuid: [u8; 16]) -> Option<u32> {
    nvml()?.clock_mhz(uuid)
}

/// Who else is on the GPU now; `None`: nobody is known to be.
pub(in crate::counters) fn company(uuid: [u8; 16]) -> Option<&'static str> {
    if !alone_of_ours(uuid) {
        return Some(COUNTS);
    }
    let nvml = nvml()?;
    let others = || nvml.processes(uuid).is_some_and(Processes::others);
    lasts(others).then_some(USES)
}

/// Whether something is so, and still is in a moment.
fn lasts(mut so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while so() {
        if start.elapsed() >= LEAVING {
            return true;
        }
        std::thread::sleep(LEAVING / 10);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_in_a_moment_does_not_last() {
        let mut times = 0;
        assert!(!lasts(|| {
            times += 1;
            times < 3
        }));
        assert!(lasts(|| true));
    }

    #[test]
    fn who_is_not_known_to_be_alone_is_told_why() {
        let processes = |compute, graphics| move || Some(Processes { compute, clients: 0, graphics, all_told: true });
        assert_eq!(only_one(true, true, processes(1, 0)), Ok(()));
        assert_eq!(only_one(true, true, processes(2, 0)), Err(USES));
        assert_eq!(only_one(true, true, processes(1, 1)), Err(USES));
        assert_eq!(only_one(true, false, processes(1, 0)), Err(COUNTS));
        let unseen = || panic!("what is seen says nothing");
        assert!(only_one(false, true, unseen).is_err_and(|why| why.contains("--pid=host")));
        assert!(only_one(true, true, processes(0, 0)).is_err_and(|why| why.contains("does not tell of every process")));
        assert!(only_one(true, true, || None).is_err_and(|why| why.starts_with("NVML")));
    }

    #[test]
    fn one_process_is_alone_until_another_comes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gpu.processes");
        let enter = || Presence::enter(&path).expect("the file can be had");
        let one = enter();
        assert!(one.alone() && one.alone());
        let two = enter();
        assert!(!one.alone() && !two.alone());
        assert!(!one.alone(), "both are still there after the refusals");
        drop(one);
        assert!(two.alone());
    }
}
