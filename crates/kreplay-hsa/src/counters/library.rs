//! The AQL profile library: where its functions come from, and safe calls of them.

use super::ffi::{
    EXTENSION_AQLPROFILE, Event, GetMajorExtensionTable, INFO_BLOCK_COUNTERS, INFO_BLOCK_ID, INFO_PMC_DATA, IdQuery,
    InfoData, Profile, SUCCESS, Status, Table,
};
use kreplay_engine::CountersError;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::ptr::null;

/// The file that ROCr and everybody else opens.
const FILE: &CStr = c"libhsa-amd-aqlprofile64.so";

/// The functions of the AQL profile library, all there.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    error_string: unsafe extern "C" fn(*mut *const c_char) -> Status,
    validate_event: unsafe extern "C" fn(u64, *const Event, *mut bool) -> Status,
    pub(super) start: unsafe extern "C" fn(*mut Profile, *mut super::ffi::Packet) -> Status,
    pub(super) stop: unsafe extern "C" fn(*const Profile, *mut super::ffi::Packet) -> Status,
    pub(super) read: unsafe extern "C" fn(*const Profile, *mut super::ffi::Packet) -> Status,
    pub(super) get_info: unsafe extern "C" fn(*const Profile, u32, *mut c_void) -> Status,
    iterate_data: unsafe extern "C" fn(*const Profile, super::ffi::Callback, *mut c_void) -> Status,
}

fn unavailable(what: impl std::fmt::Display) -> CountersError {
    CountersError::Unavailable(format!(
        "{what}. The AQL profile library ({}) counts on AMD GPUs; it comes with ROCm's profiler packages \
         (hsa-amd-aqlprofile), and with kreplay for the software GPU",
        FILE.to_string_lossy()
    ))
}

impl Library {
    /// Asks ROCr for its extension table; `get_major_extension_table` is its `hsa_system_get_major_extension_table`.
    /// Where ROCr cannot find the library, it is opened directly.
    ///
    /// # Errors
    /// [`CountersError::Unavailable`] when there is no such library, or it lacks a function.
    ///
    /// # Safety
    /// The pointer is that function of an initialised ROCr.
    pub unsafe fn through_rocr(get_major_extension_table: *const c_void) -> Result<Self, CountersError> {
        if get_major_extension_table.is_null() {
            return Self::open();
        }
        // SAFETY: the caller's.
        let get = unsafe { transmute::<*const c_void, GetMajorExtensionTable>(get_major_extension_table) };
        let mut table = EMPTY;
        // SAFETY: the caller's; the table has the length that is told.
        let status = unsafe { get(EXTENSION_AQLPROFILE, 1, size_of::<Table>(), (&raw mut table).cast()) };
        if status == SUCCESS { Self::from_table(&table) } else { Self::open() }
    }

    /// Opens the library by its name.
    ///
    /// # Errors
    /// [`CountersError::Unavailable`] when there is no such library, or it lacks a function.
    pub fn open() -> Result<Self, CountersError> {
        // SAFETY: a C string. The library's initialisers are the vendor's, and ROCr would run them too. It is never
        // closed.
        let library = unsafe { libc::dlopen(FILE.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            // SAFETY: the error of the call above, on this thread.
            let error = unsafe { libc::dlerror() };
            let error = if error.is_null() {
                "it cannot be opened".to_owned()
            } else {
                // SAFETY: a C string until the next call of the dl functions on this thread.
                unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned()
            };
            return Err(unavailable(error));
        }
        // SAFETY: a handle of `dlopen` and a C string.
        let symbol = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
        // SAFETY: each symbol is a function of the signature that the interface defines for its name, or null.
        let table = unsafe {
            Table {
                version_major: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_version_major")),
                version_minor: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_version_minor")),
                error_string: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_error_string")),
                validate_event: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_validate_event")),
                start: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_start")),
                stop: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_stop")),
                read: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_read")),
                legacy_get_pm4: None,
                get_info: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_get_info")),
                iterate_data: transmute::<*mut c_void, Option<_>>(symbol(c"hsa_ven_amd_aqlprofile_iterate_data")),
            }
        };
        Self::from_table(&table)
    }

    pub(super) fn from_table(table: &Table) -> Result<Self, CountersError> {
        let missing = |name: &str| unavailable(format!("it has no function hsa_ven_amd_aqlprofile_{name}"));
        let version_major = table.version_major.ok_or_else(|| missing("version_major"))?;
        // SAFETY: the interface's function; it takes nothing.
        if unsafe { version_major() } < 1 {
            return Err(unavailable("its version is below 1"));
        }
        Ok(Self {
            error_string: table.error_string.ok_or_else(|| missing("error_string"))?,
            validate_event: table.validate_event.ok_or_else(|| missing("validate_event"))?,
            start: table.start.ok_or_else(|| missing("start"))?,
            stop: table.stop.ok_or_else(|| missing("stop"))?,
            read: table.read.ok_or_else(|| missing("read"))?,
            get_info: table.get_info.ok_or_else(|| missing("get_info"))?,
            iterate_data: table.iterate_data.ok_or_else(|| missing("iterate_data"))?,
        })
    }

    /// `Ok`, or the error with the library's own sentence.
    pub(super) fn check(&self, call: &'static str, status: Status) -> Result<(), CountersError> {
        if status == SUCCESS {
            return Ok(());
        }
        let mut text: *const c_char = null();
        // SAFETY: the pointer may be written.
        let told = unsafe { (self.error_string)(&raw mut text) } == SUCCESS && !text.is_null();
        // SAFETY: the library's C string, good until its next error on this thread.
        let text = if told { unsafe { CStr::from_ptr(text) }.to_string_lossy() } else { "".into() };
        Err(CountersError::Failed { call, status: format!("status {status:#x} {}", text.trim()).trim_end().to_owned() })
    }

    /// Number and instances of a block.
    pub(super) fn block(&self, agent: u64, name: &str) -> Result<(u32, u32), CountersError> {
        let name = CString::new(name).unwrap_or_default();
        let mut query = IdQuery { name: name.as_ptr(), id: 0, instances: 0 };
        let profile = Profile::of(agent, &[]);
        // SAFETY: a profile without buffers; the value is of the attribute's type, and its name lives.
        let status = unsafe { (self.get_info)(&raw const profile, INFO_BLOCK_ID, (&raw mut query).cast()) };
        self.check("hsa_ven_amd_aqlprofile_get_info(BLOCK_ID)", status)?;
        Ok((query.id, query.instances))
    }

    /// Slots of a block's instances.
    pub(super) fn slots(&self, agent: u64, event: Event) -> Result<u32, CountersError> {
        self.number(agent, &[event], INFO_BLOCK_COUNTERS, "hsa_ven_amd_aqlprofile_get_info(BLOCK_COUNTERS)")
    }

    /// An attribute that is a 32-bit number.
    pub(super) fn number(
        &self,
        agent: u64,
        events: &[Event],
        attribute: u32,
        call: &'static str,
    ) -> Result<u32, CountersError> {
        let profile = Profile::of(agent, events);
        let mut value = 0_u32;
        // SAFETY: a profile without buffers, whose events live; the value is of the attribute's type.
        let status = unsafe { (self.get_info)(&raw const profile, attribute, (&raw mut value).cast()) };
        self.check(call, status)?;
        Ok(value)
    }

    /// Whether the agent can count an event.
    pub(super) fn validate(&self, agent: u64, event: Event) -> Result<bool, CountersError> {
        let mut result = false;
        // SAFETY: an event and a result.
        let status = unsafe { (self.validate_event)(agent, &raw const event, &raw mut result) };
        self.check("hsa_ven_amd_aqlprofile_validate_event", status)?;
        Ok(result)
    }

    /// What a read stored: each event with a sample's value, in the library's order, which is the same for every read
    /// of the same events.
    pub(super) fn decode(
        &self,
        agent: u64,
        events: &[Event],
        stored: &mut [u64],
    ) -> Result<Vec<(Event, u64)>, CountersError> {
        unsafe extern "C" fn collect(kind: u32, data: *mut InfoData, user: *mut c_void) -> Status {
            // SAFETY: what is given to `iterate_data` below, and what it promises.
            let (values, data) = unsafe { (&mut *user.cast::<Vec<(Event, u64)>>(), &*data) };
            if kind == INFO_PMC_DATA {
                values.push((data.data.event, data.data.result));
            }
            SUCCESS
        }
        let mut profile = Profile::of(agent, events);
        profile.output.ptr = stored.as_mut_ptr().cast();
        profile.output.size = size_of_val(stored) as u32;
        let mut values: Vec<(Event, u64)> = Vec::new();
        // SAFETY: events and output live; the callback's user data is the vector.
        let status = unsafe { (self.iterate_data)(&raw const profile, collect, (&raw mut values).cast()) };
        self.check("hsa_ven_amd_aqlprofile_iterate_data", status)?;
        Ok(values)
    }
}

impl Profile {
    /// A profile without buffers. It borrows the events: they must outlive its use.
    pub(super) fn of(agent: u64, events: &[Event]) -> Self {
        let none = super::ffi::Descriptor { ptr: std::ptr::null_mut(), size: 0 };
        Self {
            agent,
            kind: 0,
            events: events.as_ptr(),
            event_count: events.len() as u32,
            parameters: null(),
            parameter_count: 0,
            output: none,
            commands: none,
        }
    }
}

const EMPTY: Table = Table {
    version_major: None,
    version_minor: None,
    error_string: None,
    validate_event: None,
    start: None,
    stop: None,
    read: None,
    legacy_get_pm4: None,
    get_info: None,
    iterate_data: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_a_function_is_refused_by_its_name() {
        unsafe extern "C" fn one() -> u32 {
            1
        }
        unsafe extern "C" fn text(_: *mut *const c_char) -> Status {
            SUCCESS
        }
        let mut table = EMPTY;
        let refused = |table: &Table| match Library::from_table(table) {
            Err(CountersError::Unavailable(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(refused(&table).contains("_version_major"));
        table.version_major = Some(one);
        assert!(refused(&table).contains("_error_string"));
        table.error_string = Some(text);
        assert!(refused(&table).contains("_validate_event"));
    }

    #[test]
    fn a_missing_library_says_what_to_do() {
        // Not installed in the places where the tests run, unless somebody did.
        if let Err(error) = Library::open() {
            let text = error.to_string();
            assert!(text.contains("libhsa-amd-aqlprofile64.so") && text.contains("ROCm"), "{text}");
        }
    }
}
