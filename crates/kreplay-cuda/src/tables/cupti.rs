//! CUPTI's table of functions.

use super::callback::CallbackData;
use super::cupti_sampling::*;
use super::cupti_structs::*;
use super::find::load_helpers;
use super::functions::function_table;
use super::library::LoadError;
use super::{CuptiError, CuptiStatus, FoundCupti};
use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A callback of CUPTI's: user data, domain, function number, [`CallbackData`] or a structure of the domain.
pub(crate) type Callback = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);

function_table! {
    /// The functions of `libcupti` that are used.
    CuptiTable of "libcupti.so" {
        required {
            fn cuptiGetVersion(version: *mut u32);
            fn cuptiSubscribe(subscriber: *mut *mut c_void, callback: Callback, user: *mut c_void);
            fn cuptiEnableCallback(enable: u32, subscriber: *mut c_void, domain: u32, id: u32);
            fn cuptiProfilerInitialize(params: *mut ProfilerInitialize);
            fn cuptiProfilerDeviceSupported(params: *mut DeviceSupported);
            fn cuptiDeviceGetChipName(params: *mut DeviceGetChipName);
            fn cuptiProfilerGetCounterAvailability(params: *mut CounterAvailability);
            fn cuptiProfilerHostInitialize(params: *mut HostInitialize);
            fn cuptiProfilerHostDeinitialize(params: *mut HostDeinitialize);
            fn cuptiProfilerHostGetSupportedChips(params: *mut HostSupportedChips);
            fn cuptiProfilerHostGetBaseMetrics(params: *mut HostBaseMetrics);
            fn cuptiProfilerHostGetSubMetrics(params: *mut HostSubMetrics);
            fn cuptiProfilerHostGetMetricProperties(params: *mut HostMetricProperties);
            fn cuptiProfilerHostConfigAddMetrics(params: *mut HostConfigAddMetrics);
            fn cuptiProfilerHostGetConfigImageSize(params: *mut HostConfigImageSize);
            fn cuptiProfilerHostGetConfigImage(params: *mut HostConfigImage);
            fn cuptiProfilerHostGetNumOfPasses(params: *mut HostPasses);
            fn cuptiProfilerHostEvaluateToGpuValues(params: *mut HostEvaluate);
            fn cuptiRangeProfilerEnable(params: *mut RangeEnable);
            fn cuptiRangeProfilerDisable(params: *mut RangeSession);
            fn cuptiRangeProfilerSetConfig(params: *mut RangeSetConfig);
            fn cuptiRangeProfilerStart(params: *mut RangeSession);
            fn cuptiRangeProfilerStop(params: *mut RangeStop);
            fn cuptiRangeProfilerDecodeData(params: *mut RangeDecode);
            fn cuptiRangeProfilerGetCounterDataSize(params: *mut RangeCountersSize);
            fn cuptiRangeProfilerCounterDataImageInitialize(params: *mut RangeCountersInitialize);
            fn cuptiRangeProfilerGetCounterDataInfo(params: *mut RangeCountersInfo);
        }
        optional {
            fn cuptiSubscribe_v2(
                subscriber: *mut *mut c_void, callback: Callback, user: *mut c_void, params: *mut SubscriberParams,
            );
            fn cuptiGetTimestamp(timestamp: *mut u64);
            fn cuptiGetCallbackName(domain: u32, id: u32, name: *mut *const c_char);
            fn cuptiPmSamplingSetConfig(params: *mut SamplingSetConfig);
            fn cuptiPmSamplingEnable(params: *mut SamplingEnable);
            fn cuptiPmSamplingDisable(params: *mut SamplingSession);
            fn cuptiPmSamplingStart(params: *mut SamplingSession);
            fn cuptiPmSamplingStop(params: *mut SamplingSession);
            fn cuptiPmSamplingDecodeData(params: *mut SamplingDecode);
            fn cuptiPmSamplingGetCounterAvailability(params: *mut SamplingAvailability);
            fn cuptiPmSamplingGetCounterDataSize(params: *mut SamplingCountersSize);
            fn cuptiPmSamplingCounterDataImageInitialize(params: *mut SamplingCountersInitialize);
            fn cuptiPmSamplingGetCounterDataInfo(params: *mut SamplingCountersInfo);
            fn cuptiPmSamplingCounterDataGetSampleInfo(params: *mut SamplingSampleInfo);
        }
    }
}

/// CUPTI, loaded.
#[derive(Debug)]
pub(crate) struct Cupti {
    table: CuptiTable,
    path: PathBuf,
    /// Whether its helpers are loaded.
    complete: AtomicBool,
}

/// Calls a function with a structure of parameters.
macro_rules! profiler_call {
    ($cupti:expr, $function:ident, $params:expr) => {{
        // SAFETY: the structure has the documented layout and size; pointers in it are to live memory of the stated
        // sizes, as the caller of the method promises by its types.
        let status = unsafe { ($cupti.table().$function)($params) };
        $crate::tables::Cupti::check(stringify!($function), status)
    }};
}
pub(crate) use profiler_call;

/// As [`profiler_call`], for a function that an older CUPTI may lack.
macro_rules! optional_call {
    ($cupti:expr, $function:ident, $($params:expr),+) => {{
        let status = match $cupti.table().$function {
            // SAFETY: as above.
            Some(function) => unsafe { function($($params),+) },
            None => $crate::tables::CuptiStatus::MISSING.0,
        };
        $crate::tables::Cupti::check(stringify!($function), status)
    }};
}
pub(crate) use optional_call;

impl Cupti {
    /// Takes the functions out of a library that was found.
    ///
    /// # Errors
    /// [`LoadError::Symbol`] with the first function that is missing.
    pub(crate) fn load(found: &FoundCupti) -> Result<Self, LoadError> {
        Self::of(found.library.path(), &|name| found.library.symbol(name))
    }

    fn of(path: &Path, find: &dyn Fn(&CStr) -> *mut c_void) -> Result<Self, LoadError> {
        let table = CuptiTable::load(find).map_err(|symbol| LoadError::Symbol {
            library: "libcupti.so",
            path: path.to_owned(),
            symbol,
            remedy: "Install CUPTI 12.6 or newer, or point KREPLAY_CUPTI at one that is there.",
        })?;
        Ok(Self { table, path: path.to_owned(), complete: AtomicBool::new(false) })
    }

    /// Made of these functions, which need no helpers.
    #[cfg(test)]
    pub(crate) fn with_table(table: CuptiTable) -> Self {
        Self { table, path: PathBuf::new(), complete: AtomicBool::new(true) }
    }

    /// Where it was found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The functions, for whatever is asked about counters: with what they need.
    pub(crate) fn table(&self) -> &CuptiTable {
        if !self.complete.load(Ordering::Acquire) {
            self.complete();
        }
        &self.table
    }

    /// Loads what libcupti needs for counters. While another thread does so this waits for it in the loader, whose lock is
    /// recursive: waiting for the thread itself would never end where the caller runs in a library's constructor.
    pub(crate) fn complete(&self) {
        load_helpers(&self.path);
        self.complete.store(true, Ordering::Release);
    }

    pub(crate) fn check(call: &'static str, status: i32) -> Result<(), CuptiError> {
        if status == 0 { Ok(()) } else { Err(CuptiError { call, status: CuptiStatus(status) }) }
    }

    /// CUPTI's version number, 130000 for 13.0 and the like.
    pub(crate) fn version(&self) -> Result<u32, CuptiError> {
        let mut version = 0;
        // SAFETY: the output is a local.
        let status = unsafe { (self.table.cuptiGetVersion)(&mut version) };
        Self::check("cuptiGetVersion", status).map(|()| version)
    }

    /// Becomes the process's subscriber. The handle lives for the rest of the process.
    ///
    /// # Errors
    /// The status, and the name of the tool that is in the way where CUPTI tells it.
    pub(crate) fn subscribe(&self, callback: Callback) -> Result<*mut c_void, (CuptiError, Option<String>)> {
        let mut subscriber = std::ptr::null_mut();
        if let Some(subscribe) = self.table.cuptiSubscribe_v2 {
            let mut old = [0u8; 128];
            let mut params = SubscriberParams::new(c"kreplay", &mut old);
            // SAFETY: the structure points to a static name and a local buffer of the stated size.
            let status = unsafe { subscribe(&mut subscriber, callback, std::ptr::null_mut(), &mut params) };
            return Self::check("cuptiSubscribe_v2", status).map(|()| subscriber).map_err(|error| {
                let end = old.iter().position(|byte| *byte == 0).unwrap_or(old.len());
                let name = String::from_utf8_lossy(&old[..end]).into_owned();
                (error, (!name.is_empty()).then_some(name))
            });
        }
        // SAFETY: the output is a local; the callback has the documented signature.
        let status = unsafe { (self.table.cuptiSubscribe)(&mut subscriber, callback, std::ptr::null_mut()) };
        Self::check("cuptiSubscribe", status).map(|()| subscriber).map_err(|error| (error, None))
    }

    /// The first function that sampling needs and this CUPTI lacks.
    pub(crate) fn lacks_sampling(&self) -> Option<&'static str> {
        let table = &self.table;
        [
            ("cuptiGetTimestamp", table.cuptiGetTimestamp.is_some()),
            ("cuptiPmSamplingSetConfig", table.cuptiPmSamplingSetConfig.is_some()),
            ("cuptiPmSamplingEnable", table.cuptiPmSamplingEnable.is_some()),
            ("cuptiPmSamplingDisable", table.cuptiPmSamplingDisable.is_some()),
            ("cuptiPmSamplingStart", table.cuptiPmSamplingStart.is_some()),
            ("cuptiPmSamplingStop", table.cuptiPmSamplingStop.is_some()),
            ("cuptiPmSamplingDecodeData", table.cuptiPmSamplingDecodeData.is_some()),
            ("cuptiPmSamplingGetCounterAvailability", table.cuptiPmSamplingGetCounterAvailability.is_some()),
            ("cuptiPmSamplingGetCounterDataSize", table.cuptiPmSamplingGetCounterDataSize.is_some()),
            ("cuptiPmSamplingCounterDataImageInitialize", table.cuptiPmSamplingCounterDataImageInitialize.is_some()),
            ("cuptiPmSamplingGetCounterDataInfo", table.cuptiPmSamplingGetCounterDataInfo.is_some()),
            ("cuptiPmSamplingCounterDataGetSampleInfo", table.cuptiPmSamplingCounterDataGetSampleInfo.is_some()),
        ]
        .into_iter()
        .find_map(|(name, there)| (!there).then_some(name))
    }

    /// CUPTI's clock now, in ns: the clock that samples carry. Takes less than 100 ns.
    ///
    /// # Errors
    /// The status.
    pub(crate) fn now(&self) -> Result<u64, CuptiError> {
        let mut time = 0;
        optional_call!(self, cuptiGetTimestamp, &mut time).map(|()| time)
    }

    /// The name of a function that callbacks can be asked for.
    ///
    /// # Errors
    /// That there is none of this number, or CUPTI does not tell.
    pub(crate) fn callback_name(&self, domain: u32, id: u32) -> Result<&'static CStr, CuptiError> {
        let mut name = std::ptr::null();
        optional_call!(self, cuptiGetCallbackName, domain, id, &mut name)?;
        // SAFETY: a string of CUPTI's own table, which is never unloaded.
        Ok(if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } })
    }

    /// Asks for callbacks of one function.
    pub(crate) fn enable(&self, subscriber: *mut c_void, domain: u32, id: u32) -> Result<(), CuptiError> {
        // SAFETY: the subscriber is ours.
        let status = unsafe { (self.table.cuptiEnableCallback)(1, subscriber, domain, id) };
        Self::check("cuptiEnableCallback", status)
    }
}

const _: () = assert!(std::mem::size_of::<CallbackData>() == 72);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{cupti_function, fake_cupti, no_callback};

    #[test]
    fn another_subscriber_is_named_where_cupti_tells_it() {
        let (error, holder) = fake_cupti().subscribe(no_callback).expect_err("another tool was first");
        assert_eq!((error.call, error.status.0), ("cuptiSubscribe_v2", 39));
        assert_eq!(holder.as_deref(), Some("another profiler"));
        // CUPTI before 13.0 has but the older call.
        let old = |name: &CStr| if name == c"cuptiSubscribe_v2" { std::ptr::null_mut() } else { cupti_function(name) };
        let old = Cupti::of(Path::new("/lib/libcupti.so.12"), &old).expect("that function may be missing");
        assert!(old.subscribe(no_callback).is_ok());
        crate::fake::script("cuptiSubscribe", &[39]);
        let (error, holder) = old.subscribe(no_callback).expect_err("another tool was first");
        assert_eq!((error.status.0, holder), (39, None));
    }

    #[test]
    fn a_cupti_that_lacks_a_function_is_told_of_with_what_to_do() {
        let old = |name: &CStr| {
            if name.to_bytes().starts_with(b"cuptiRangeProfiler") { std::ptr::null_mut() } else { cupti_function(name) }
        };
        let error = Cupti::of(Path::new("/opt/libcupti.so.12"), &old).expect_err("it is too old").to_string();
        for part in ["libcupti.so", "/opt/libcupti.so.12", "cuptiRangeProfilerEnable", "12.6", "KREPLAY_CUPTI"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn an_older_cupti_does_without_sampling() {
        assert_eq!(fake_cupti().lacks_sampling(), None);
        let older = |name: &CStr| {
            if name.to_bytes().starts_with(b"cuptiPmSampling") { std::ptr::null_mut() } else { cupti_function(name) }
        };
        let older = Cupti::of(Path::new("/opt/libcupti.so.12"), &older).expect("what is missing may be");
        assert_eq!(older.lacks_sampling(), Some("cuptiPmSamplingSetConfig"));
    }
}
