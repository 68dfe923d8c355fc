//! What gives samples.

use kreplay_engine::CountersError;
use std::ffi::{CStr, c_int};

/// The version of the software GPU's interface that is known here.
const VERSION: c_int = 1;
/// Words of a sample before its values.
const HEAD: usize = 4;
/// Samples taken in one call.
const AT_ONCE: usize = 4096;

/// Begin and end of a sample, and what it says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Device clock, in nanoseconds.
    pub start: u64,
    /// Device clock, in nanoseconds.
    pub end: u64,
    /// The programming that counted it.
    pub configuration: u64,
    /// Nanoseconds in which something ran.
    pub busy: u64,
}

/// Samples in the order that they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Events of the group.
    pub width: usize,
    /// Each sample's own.
    pub heads: Vec<Head>,
    /// Each sample's values, one after the other.
    pub words: Vec<u64>,
    /// Samples for which the device had no room.
    pub lost: u64,
}

impl Samples {
    /// The values of the sample at this place.
    pub(super) fn values(&self, at: usize) -> &[u64] {
        &self.words[at * self.width..(at + 1) * self.width]
    }
}

/// A device's stream of samples. One is in use at a time.
pub trait SampleSource: Send + Sync {
    /// The device's clock, in nanoseconds.
    fn clock(&self) -> u64;

    /// Programs a group of events: each its block's number and its own. Gives the number that its samples carry.
    ///
    /// # Errors
    /// [`CountersError`] where the device refuses.
    fn configure(&self, events: &[(u32, u32)], interval: u64, capacity: usize) -> Result<u64, CountersError>;

    /// Begins the stream.
    ///
    /// # Errors
    /// [`CountersError`] where the device refuses.
    fn start(&self) -> Result<(), CountersError>;

    /// Ends it; legal at any time.
    fn stop(&self);

    /// Appends what there is.
    ///
    /// # Errors
    /// [`CountersError`] where the device refuses.
    fn read(&self, samples: &mut Samples) -> Result<(), CountersError>;
}

/// An event, as the interface has it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Event {
    block: u32,
    event: u32,
}

/// The software GPU's interface (`docs/softgpu.md`).
#[derive(Clone, Copy)]
pub struct SoftGpu {
    clock: unsafe extern "C" fn() -> u64,
    configure: unsafe extern "C" fn(*const Event, usize, u64, usize) -> i64,
    start: unsafe extern "C" fn() -> c_int,
    stop: unsafe extern "C" fn() -> c_int,
    read: unsafe extern "C" fn(*mut u64, usize, *mut u64) -> i64,
}

impl SoftGpu {
    /// Finds it; `None` where the process does not run on the software GPU.
    pub fn find() -> Option<Self> {
        let symbol = |name: &CStr| {
            // SAFETY: the name ends with a zero byte; every loaded library is searched.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        macro_rules! function {
            ($name:literal, $kind:ty) => {
                // SAFETY: the software GPU documents its function with this type.
                unsafe { std::mem::transmute::<*mut libc::c_void, $kind>(symbol($name)?) }
            };
        }
        let version = function!(c"softgpu_sampling_version", unsafe extern "C" fn() -> c_int);
        // SAFETY: it takes nothing and has no conditions.
        if unsafe { version() } != VERSION {
            return None;
        }
        Some(Self {
            clock: function!(c"softgpu_sampling_clock", unsafe extern "C" fn() -> u64),
            configure: function!(
                c"softgpu_sampling_configure",
                unsafe extern "C" fn(*const Event, usize, u64, usize) -> i64
            ),
            start: function!(c"softgpu_sampling_start", unsafe extern "C" fn() -> c_int),
            stop: function!(c"softgpu_sampling_stop", unsafe extern "C" fn() -> c_int),
            read: function!(c"softgpu_sampling_read", unsafe extern "C" fn(*mut u64, usize, *mut u64) -> i64),
        })
    }
}

fn failed(call: &'static str, answer: i64) -> CountersError {
    CountersError::Failed { call, status: format!("it answered {answer}") }
}

impl SampleSource for SoftGpu {
    fn clock(&self) -> u64 {
        // SAFETY: it takes nothing and has no conditions.
        unsafe { (self.clock)() }
    }

    fn configure(&self, events: &[(u32, u32)], interval: u64, capacity: usize) -> Result<u64, CountersError> {
        let events: Vec<Event> = events.iter().map(|&(block, event)| Event { block, event }).collect();
        // SAFETY: as many events as are told.
        let answer = unsafe { (self.configure)(events.as_ptr(), events.len(), interval, capacity) };
        u64::try_from(answer).map_err(|_| failed("softgpu_sampling_configure", answer))
    }

    fn start(&self) -> Result<(), CountersError> {
        // SAFETY: it takes nothing and has no conditions.
        match unsafe { (self.start)() } {
            0 => Ok(()),
            answer => Err(failed("softgpu_sampling_start", answer.into())),
        }
    }

    fn stop(&self) {
        // SAFETY: it takes nothing and has no conditions; off is what is wanted.
        unsafe { (self.stop)() };
    }

    fn read(&self, samples: &mut Samples) -> Result<(), CountersError> {
        let width = HEAD + samples.width;
        let mut words = vec![0_u64; width * AT_ONCE];
        loop {
            let mut lost = 0;
            // SAFETY: the room is that of `words`; `lost` is a place for the answer.
            let answer = unsafe { (self.read)(words.as_mut_ptr(), words.len(), &raw mut lost) };
            let count = usize::try_from(answer).map_err(|_| failed("softgpu_sampling_read", answer))?;
            samples.lost += lost;
            for sample in words.chunks_exact(width).take(count) {
                let [start, end, configuration, busy] = [sample[0], sample[1], sample[2], sample[3]];
                samples.heads.push(Head { start, end, configuration, busy });
                samples.words.extend_from_slice(&sample[HEAD..]);
            }
            if count < AT_ONCE {
                return Ok(());
            }
        }
    }
}
