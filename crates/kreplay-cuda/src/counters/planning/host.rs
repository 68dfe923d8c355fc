//! Questions to CUPTI's Profiler Host: what a chip can count, and what a list of metrics needs. No GPU is needed.

use crate::tables::cupti_structs::*;
use crate::tables::{Cupti, CuptiError, profiler_call};
use std::ffi::{CStr, CString, c_char};
use std::ops::Deref;
use std::sync::Arc;

/// Kinds of metrics, as CUPTI numbers them: counter, ratio, throughput.
const KINDS: [u32; 3] = [0, 1, 2];

/// Which interface an object is for, as CUPTI numbers it.
const FOR_RANGES: u32 = 0;
const FOR_SAMPLING: u32 = 1;

/// A Profiler Host object for a chip. One list of metrics each: lists add up in it.
#[derive(Debug)]
pub(crate) struct Host<C: Deref<Target = Cupti>> {
    cupti: C,
    object: HostObject,
    /// The object keeps the pointers that it was made with.
    _chip: CString,
}

/// What CUPTI tells of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Properties {
    pub(crate) description: Arc<str>,
    pub(crate) block: Arc<str>,
    pub(crate) unit: Arc<str>,
}

/// How the hardware is programmed for a list of metrics.
#[derive(Clone, Debug)]
pub(crate) struct ConfigImage {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) passes: u32,
}

impl<C: Deref<Target = Cupti>> Host<C> {
    /// An object for a chip. `availability` is what the driver allows on the device, empty when nothing is known: then
    /// everything that the chip has is there.
    ///
    /// # Errors
    /// CUPTI's status, 46 for a chip that it does not know.
    pub(crate) fn new(cupti: C, chip: &str, availability: &[u8]) -> Result<Self, CuptiError> {
        Self::of_kind(cupti, chip, availability, FOR_RANGES)
    }

    /// As [`Host::new`], for what PM sampling counts; `availability` is that interface's own.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn for_sampling(cupti: C, chip: &str, availability: &[u8]) -> Result<Self, CuptiError> {
        Self::of_kind(cupti, chip, availability, FOR_SAMPLING)
    }

    fn of_kind(cupti: C, chip: &str, availability: &[u8], kind: u32) -> Result<Self, CuptiError> {
        let chip = CString::new(chip.replace('\0', "")).unwrap_or_default();
        let mut params = HostInitialize {
            kind,
            chip: chip.as_ptr(),
            availability: if availability.is_empty() { std::ptr::null() } else { availability.as_ptr() },
            ..Default::default()
        };
        profiler_call!(cupti, cuptiProfilerHostInitialize, &mut params)?;
        Ok(Self { cupti, object: params.object, _chip: chip })
    }

    /// Names of everything that can be counted, without their endings (`.sum`, `.avg`, …).
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn base_metrics(&self) -> Result<Vec<Arc<str>>, CuptiError> {
        let mut found = Vec::new();
        for kind in KINDS {
            let mut params = HostBaseMetrics { object: self.object, kind, ..Default::default() };
            profiler_call!(self.cupti, cuptiProfilerHostGetBaseMetrics, &mut params)?;
            found.extend(texts(params.names, params.count));
        }
        Ok(found)
    }

    /// The endings of a metric; empty where there is no such metric.
    pub(crate) fn endings(&self, base: &str) -> Vec<Arc<str>> {
        let Ok(name) = CString::new(base) else { return Vec::new() };
        for kind in KINDS {
            let mut params = HostSubMetrics { object: self.object, kind, name: name.as_ptr(), ..Default::default() };
            if profiler_call!(self.cupti, cuptiProfilerHostGetSubMetrics, &mut params).is_ok() && params.count > 0 {
                return texts(params.names, params.count);
            }
        }
        Vec::new()
    }

    /// Description, block and unit of a metric.
    ///
    /// # Errors
    /// CUPTI's status; that of a metric that does not exist, for instance.
    pub(crate) fn properties(&self, name: &str) -> Result<Properties, CuptiError> {
        let name = CString::new(name.replace('\0', "")).unwrap_or_default();
        let mut params = HostMetricProperties { object: self.object, name: name.as_ptr(), ..Default::default() };
        profiler_call!(self.cupti, cuptiProfilerHostGetMetricProperties, &mut params)?;
        Ok(Properties { description: text(params.description), block: text(params.block), unit: text(params.unit) })
    }

    /// Programs a list of metrics into an image, and says how many passes it takes. Uses the object up.
    ///
    /// # Errors
    /// CUPTI's status; 27 for metrics that cannot be counted together.
    pub(crate) fn config(self, names: &Names) -> Result<ConfigImage, CuptiError> {
        self.add(names)?;
        let mut size = HostConfigImageSize { object: self.object, ..Default::default() };
        profiler_call!(self.cupti, cuptiProfilerHostGetConfigImageSize, &mut size)?;
        let mut bytes = vec![0; size.bytes];
        let mut image = HostConfigImage {
            object: self.object,
            bytes: bytes.len(),
            image: bytes.as_mut_ptr(),
            ..Default::default()
        };
        profiler_call!(self.cupti, cuptiProfilerHostGetConfigImage, &mut image)?;
        let mut passes = HostPasses { bytes: bytes.len(), image: bytes.as_ptr(), ..Default::default() };
        profiler_call!(self.cupti, cuptiProfilerHostGetNumOfPasses, &mut passes)?;
        Ok(ConfigImage { bytes: bytes.into(), passes: passes.passes as u32 })
    }

    /// Adds metrics to the object's list.
    ///
    /// # Errors
    /// CUPTI's status; 27 for metrics that cannot be counted together.
    pub(crate) fn add(&self, names: &Names) -> Result<(), CuptiError> {
        let mut params = HostConfigAddMetrics {
            object: self.object,
            names: names.pointers.as_ptr(),
            count: names.pointers.len(),
            ..Default::default()
        };
        profiler_call!(self.cupti, cuptiProfilerHostConfigAddMetrics, &mut params)
    }

    /// The values of one range of a counter image, in the order of `names`.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn evaluate(&self, image: &[u8], range: usize, names: &Names) -> Result<Vec<f64>, CuptiError> {
        let mut values = vec![f64::NAN; names.pointers.len()];
        self.evaluate_into(image, range, names, &mut values)?;
        Ok(values)
    }

    /// As [`Host::evaluate`], into values that are there: of the first names where there are fewer.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn evaluate_into(
        &self,
        image: &[u8],
        range: usize,
        names: &Names,
        values: &mut [f64],
    ) -> Result<(), CuptiError> {
        debug_assert!(values.len() <= names.pointers.len());
        let mut params = HostEvaluate {
            object: self.object,
            image: image.as_ptr(),
            image_bytes: image.len(),
            range,
            names: names.pointers.as_ptr(),
            count: values.len().min(names.pointers.len()),
            values: values.as_mut_ptr(),
            ..Default::default()
        };
        profiler_call!(self.cupti, cuptiProfilerHostEvaluateToGpuValues, &mut params)
    }
}

impl<C: Deref<Target = Cupti>> Drop for Host<C> {
    fn drop(&mut self) {
        let mut params = HostDeinitialize { object: self.object, ..Default::default() };
        // A failure leaves an object behind that nobody uses; there is nothing to do about it.
        let _ = profiler_call!(self.cupti, cuptiProfilerHostDeinitialize, &mut params);
    }
}

/// Chips that this CUPTI can plan for.
///
/// # Errors
/// CUPTI's status.
pub(crate) fn supported_chips(cupti: &Cupti) -> Result<Vec<Arc<str>>, CuptiError> {
    let mut params = HostSupportedChips::default();
    profiler_call!(cupti, cuptiProfilerHostGetSupportedChips, &mut params)?;
    Ok(texts(params.names, params.count))
}

/// Metric names as C wants them.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) pointers: Vec<*const c_char>,
    texts: Arc<[CString]>,
}

// SAFETY: the pointers are to the C strings that this value owns and never changes.
unsafe impl Send for Names {}
// SAFETY: as above.
unsafe impl Sync for Names {}

impl Names {
    /// These names. One with a NUL ends there, and is then unknown to CUPTI.
    pub(crate) fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let texts: Arc<[CString]> = names
            .into_iter()
            .map(|name| {
                let name = name.as_ref();
                CString::new(name.split('\0').next().unwrap_or_default()).unwrap_or_default()
            })
            .collect();
        Self { pointers: texts.iter().map(|text| text.as_ptr()).collect(), texts }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}

fn text(pointer: *const c_char) -> Arc<str> {
    if pointer.is_null() {
        return "".into();
    }
    // SAFETY: CUPTI's strings end with a NUL and live as long as its object.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into()
}

fn texts(pointers: *const *const c_char, count: usize) -> Vec<Arc<str>> {
    if pointers.is_null() {
        return Vec::new();
    }
    // SAFETY: CUPTI says that there are `count` pointers.
    unsafe { std::slice::from_raw_parts(pointers, count) }.iter().map(|pointer| text(*pointer)).collect()
}
