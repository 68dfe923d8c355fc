//! What CUPTI says about a device and context: supported or not, chip, what may be counted.

use super::Guarded;
use super::sampling;
use super::sharing::lock::GpuLock;
use crate::tables::cupti_structs::*;
use crate::tables::{Context, Cupti, CuptiError, CuptiStatus, profiler_call};
use std::ffi::CStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What can be counted in a context.
#[derive(Clone, Debug)]
pub(crate) struct Availability {
    /// The chip, as metrics are listed by.
    pub(crate) chip: Arc<str>,
    /// CUPTI's image of what may be counted; empty where nothing may.
    pub(crate) image: Arc<[u8]>,
    /// Why nothing may be counted.
    pub(crate) refused: Option<Arc<str>>,
    /// CUPTI's image of what may be sampled, or why nothing may.
    pub(crate) sampling: Result<Arc<[u8]>, Arc<str>>,
}

/// What was found on each device.
pub(crate) struct KnownAvailability(Mutex<Vec<(i32, Place)>>);

type Place = Arc<Mutex<Option<Availability>>>;

impl KnownAvailability {
    /// Nothing yet.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// What was found on a device, or is by `ask`, which may take long: who asks about another device does not wait. A refusal
    /// is not kept, since it may pass.
    pub(crate) fn get(&self, device: i32, ask: impl FnOnce() -> Availability) -> Availability {
        let place = {
            let mut known = self.0.guarded();
            match known.iter().find(|(of, _)| *of == device) {
                Some((_, place)) => Arc::clone(place),
                None => {
                    let place = Place::default();
                    known.push((device, Arc::clone(&place)));
                    place
                }
            }
        };
        let mut place = place.guarded();
        if let Some(found) = &*place {
            return found.clone();
        }
        let found = ask();
        if found.refused.is_none() {
            *place = Some(found.clone());
        }
        found
    }
}

/// The chip of a device. The profiler is initialised already.
///
/// # Errors
/// CUPTI's status.
fn chip_name(cupti: &Cupti, device: i32) -> Result<Arc<str>, CuptiError> {
    let mut params = DeviceGetChipName { device: device as usize, ..Default::default() };
    profiler_call!(cupti, cuptiDeviceGetChipName, &mut params)?;
    if params.chip.is_null() {
        return Err(CuptiError { call: "cuptiDeviceGetChipName", status: CuptiStatus(46) });
    }
    // SAFETY: CUPTI returned a static C string.
    Ok(unsafe { CStr::from_ptr(params.chip) }.to_string_lossy().into())
}

/// The chip of a device, or `unknown`.
pub(crate) fn chip_of(cupti: &Cupti, device: i32) -> Arc<str> {
    let initialised = profiler_call!(cupti, cuptiProfilerInitialize, &mut ProfilerInitialize::default());
    initialised.and_then(|()| chip_name(cupti, device)).unwrap_or_else(|_| "unknown".into())
}

/// Asks whether a context's device may be counted on, and what. The context is the thread's. Asking takes the hardware, so a
/// window of another process on this GPU (its number is `uuid`) is waited for, but no longer than `patience`.
pub(crate) fn availability(
    cupti: &Cupti,
    (device, uuid): (i32, [u8; 16]),
    context: Context,
    patience: Duration,
) -> Availability {
    let nothing = |why: String| Availability {
        chip: chip_of(cupti, device),
        image: Arc::new([]),
        refused: Some(why.into()),
        sampling: Err("nothing may be counted".into()),
    };
    let lock = match GpuLock::new(uuid) {
        Ok(lock) => lock,
        Err(error) => return nothing(error.to_string()),
    };
    match lock.acquire(Instant::now() + patience) {
        Ok(_held) => ask(cupti, device, context),
        Err(error) => nothing(error.to_string()),
    }
}

fn ask(cupti: &Cupti, device: i32, context: Context) -> Availability {
    // Asking for the chip before this crashes in CUPTI 13.0.
    let chip = profiler_call!(cupti, cuptiProfilerInitialize, &mut ProfilerInitialize::default())
        .and_then(|()| chip_name(cupti, device));
    let mut found = Availability {
        chip: chip.as_ref().map_or_else(|_| "unknown".into(), Arc::clone),
        image: Arc::new([]),
        refused: None,
        sampling: Err("nothing may be counted".into()),
    };
    let image = chip.map(|_| ()).and_then(|()| supported(cupti, device)).and_then(|refused| match refused {
        Some(refused) => {
            found.refused = Some(refused.into());
            Ok(Vec::new())
        }
        None => image(cupti, context),
    });
    match image {
        Ok(image) => {
            found.image = image.into();
            // After the other image: once sampling is enabled ranges are refused.
            found.sampling =
                sampling::availability(cupti, device).map(Into::into).map_err(|error| error.to_string().into());
        }
        Err(error) => found.refused = Some(error.to_string().into()),
    }
    found
}

fn supported(cupti: &Cupti, device: i32) -> Result<Option<&'static str>, CuptiError> {
    /// Levels of support, as CUPTI numbers them; 0 is *unknown* and 3 *supported*.
    const UNSUPPORTED: u32 = 1;
    const DISABLED: u32 = 2;
    let mut params = DeviceSupported { device, ..Default::default() };
    profiler_call!(cupti, cuptiProfilerDeviceSupported, &mut params)?;
    let bad = |level: u32| level == UNSUPPORTED || level == DISABLED;
    if !bad(params.is_supported) {
        return Ok(None);
    }
    Ok(Some(if bad(params.architecture) {
        "this GPU is too old: counting needs compute capability 7.5 or newer"
    } else if bad(params.virtual_gpu) {
        CuptiStatus(40).meaning()
    } else if bad(params.confidential_compute) {
        CuptiStatus(41).meaning()
    } else if bad(params.sli) {
        CuptiStatus(44).meaning()
    } else if bad(params.wsl) {
        CuptiStatus(45).meaning()
    } else {
        "CUPTI does not support this device"
    }))
}

fn image(cupti: &Cupti, context: Context) -> Result<Vec<u8>, CuptiError> {
    let mut params = CounterAvailability { context, ..Default::default() };
    profiler_call!(cupti, cuptiProfilerGetCounterAvailability, &mut params)?;
    let mut image = vec![0; params.image_bytes];
    let mut params =
        CounterAvailability { context, image_bytes: image.len(), image: image.as_mut_ptr(), ..Default::default() };
    profiler_call!(cupti, cuptiProfilerGetCounterAvailability, &mut params)?;
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(refused: Option<&str>) -> Availability {
        Availability {
            chip: "GH100".into(),
            image: Arc::new([]),
            refused: refused.map(Arc::from),
            sampling: Err("nothing may be counted".into()),
        }
    }

    #[test]
    fn each_device_is_asked_once_and_again_after_a_refusal() {
        let known = KnownAvailability::new();
        assert!(known.get(0, || found(Some("busy"))).refused.is_some());
        assert!(known.get(0, || found(None)).refused.is_none());
        known.get(0, || panic!("it is known"));
        // As one device is asked about, another can be.
        let both = known.get(1, || {
            assert!(known.get(2, || found(None)).refused.is_none());
            found(None)
        });
        assert!(both.refused.is_none());
    }
}
