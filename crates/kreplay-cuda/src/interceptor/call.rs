//! The parameters of a launch, in all forms.

use super::code::FunctionInfo;
use super::ids::Form;
use crate::agent::{Launch, LaunchForm, cooperative_attribute, kept_attributes, note_per_thread};
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{
    LaunchAttribute, LaunchCooperativeParams, LaunchKernelExParams, LaunchKernelParams,
};
use crate::tables::{Driver, Function, Stream};
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// A launch as the program asked for it. Pointers are the program's, valid during its call.
pub(super) struct Call {
    pub(super) function: Function,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) stream: Stream,
    pub(super) arguments: *mut *mut c_void,
    pub(super) extra: *mut *mut c_void,
    pub(super) attributes: Vec<LaunchAttribute>,
}

/// The function that a launch names, which is all that a launch that is not selected is asked for.
///
/// # Safety
/// `parameters` are those of a function of this form, in its *enter* callback.
pub(super) unsafe fn function_of(form: Form, parameters: *const c_void) -> Option<Function> {
    match form {
        // SAFETY: both have the function first.
        Form::Plain | Form::Cooperative => Some(unsafe { parameters.cast::<Function>().read() }),
        // SAFETY: promised by the caller.
        Form::Extended => Some(unsafe { (*parameters.cast::<LaunchKernelExParams>()).function }),
        Form::MultiDevice | Form::Old => None,
    }
}

/// The stream that a launch names, which whoever drains the context has to know of; null where the launch is not read.
///
/// # Safety
/// As [`function_of`].
pub(super) unsafe fn stream_named(form: Form, parameters: *const c_void) -> Stream {
    match form {
        // SAFETY: promised by the caller.
        Form::Plain => unsafe { (*parameters.cast::<LaunchKernelParams>()).stream },
        // SAFETY: promised by the caller.
        Form::Cooperative => unsafe { (*parameters.cast::<LaunchCooperativeParams>()).stream },
        Form::Extended => {
            // SAFETY: promised by the caller; the program hands a configuration to the driver.
            let config = unsafe { (*parameters.cast::<LaunchKernelExParams>()).config.as_ref() };
            config.map_or(Stream::NULL, |config| config.stream)
        }
        Form::MultiDevice | Form::Old => Stream::NULL,
    }
}

impl Call {
    /// Reads the parameters of a launch.
    ///
    /// # Safety
    /// `parameters` are those of a function of this form, in its *enter* callback.
    pub(super) unsafe fn read(form: Form, parameters: *const c_void) -> Option<Self> {
        match form {
            Form::Plain => {
                // SAFETY: promised by the caller.
                let p = unsafe { parameters.cast::<LaunchKernelParams>().read() };
                Some(Self {
                    function: p.function,
                    grid: p.grid,
                    block: p.block,
                    shared: p.shared,
                    stream: p.stream,
                    arguments: p.arguments,
                    extra: p.extra,
                    attributes: Vec::new(),
                })
            }
            Form::Cooperative => {
                // SAFETY: promised by the caller.
                let p = unsafe { parameters.cast::<LaunchCooperativeParams>().read() };
                Some(Self {
                    function: p.function,
                    grid: p.grid,
                    block: p.block,
                    shared: p.shared,
                    stream: p.stream,
                    arguments: p.arguments,
                    extra: std::ptr::null_mut(),
                    attributes: vec![cooperative_attribute()],
                })
            }
            Form::Extended => {
                // SAFETY: promised by the caller.
                let p = unsafe { parameters.cast::<LaunchKernelExParams>().read() };
                if p.config.is_null() {
                    return None;
                }
                // SAFETY: the program hands a configuration to the driver.
                let config = unsafe { p.config.read() };
                let attributes = if config.attributes.is_null() || config.attribute_count == 0 {
                    &[][..]
                } else {
                    // SAFETY: the configuration says how many there are.
                    unsafe { std::slice::from_raw_parts(config.attributes, config.attribute_count as usize) }
                };
                Some(Self {
                    function: p.function,
                    grid: config.grid,
                    block: config.block,
                    shared: config.shared,
                    stream: config.stream,
                    arguments: p.arguments,
                    extra: p.extra,
                    attributes: kept_attributes(attributes),
                })
            }
            Form::MultiDevice | Form::Old => None,
        }
    }

    /// The same launch, with arguments of its own.
    pub(super) fn launch(self, arguments: Arc<[u8]>, form: LaunchForm) -> Launch {
        let Self { function, grid, block, shared, attributes, .. } = self;
        Launch { function, grid, block, shared, attributes, arguments, form }
    }

    /// The packed argument bytes, and the form that they are handed over in again.
    pub(super) fn packed_arguments(&self, driver: &Driver, function: &FunctionInfo) -> Option<(Arc<[u8]>, LaunchForm)> {
        if !self.extra.is_null() {
            return Some((packed(self.extra)?, LaunchForm::Packed));
        }
        let layout = function.layout(driver)?;
        if !layout.parameters.is_empty() && self.arguments.is_null() {
            return None;
        }
        // Made where they stay: of so exact an iterator there is one allocation.
        let mut shared: Arc<[u8]> = std::iter::repeat_n(0, layout.bytes()).collect();
        let bytes = Arc::get_mut(&mut shared)?;
        for (index, (offset, size)) in layout.parameters.iter().enumerate() {
            // SAFETY: the program hands one pointer for each parameter, to as many bytes as the parameter has; the
            // driver is about to read them.
            unsafe {
                let from = *self.arguments.add(index);
                if from.is_null() {
                    return None;
                }
                let (from, to) = (from.cast::<u8>(), bytes.as_mut_ptr().add(*offset));
                // Nearly all are of these sizes, for which nothing needs to be called.
                match *size {
                    8 => to.cast::<[u8; 8]>().write_unaligned(from.cast::<[u8; 8]>().read_unaligned()),
                    4 => to.cast::<[u8; 4]>().write_unaligned(from.cast::<[u8; 4]>().read_unaligned()),
                    size => std::ptr::copy_nonoverlapping(from, to, size),
                }
            }
        }
        Some((shared, LaunchForm::Pointers(layout)))
    }
}

/// The bytes of the packed form: tags with values, ended by a null tag.
fn packed(extra: *mut *mut c_void) -> Option<Arc<[u8]>> {
    const END: usize = 0;
    const BUFFER_POINTER: usize = 1;
    const BUFFER_SIZE: usize = 2;
    let (mut buffer, mut bytes) = (std::ptr::null::<u8>(), None);
    // More than two tags do not exist; a list that does not end is not read on and on.
    for pair in 0..4 {
        // SAFETY: the program hands a list that ends with a null tag to the driver.
        let tag = unsafe { *extra.add(pair * 2) } as usize;
        if tag == END {
            break;
        }
        // SAFETY: every tag but the last has a value.
        let value = unsafe { *extra.add(pair * 2 + 1) };
        match tag {
            BUFFER_POINTER => buffer = value.cast(),
            // SAFETY: the value of this tag is a pointer to the size.
            BUFFER_SIZE if !value.is_null() => bytes = Some(unsafe { value.cast::<usize>().read() }),
            _ => return None,
        }
    }
    match bytes? {
        0 => Some(Arc::new([])),
        _ if buffer.is_null() => None,
        // SAFETY: the program says how many bytes there are.
        bytes => Some(unsafe { std::slice::from_raw_parts(buffer, bytes) }.into()),
    }
}

/// The stream that a null handle means.
pub(super) fn stream_of(stream: Stream, per_thread: bool) -> Stream {
    match stream.is_null() {
        true if per_thread => Stream::PER_THREAD,
        true => Stream::LEGACY,
        false => stream,
    }
}

/// Work goes to this stream of a call's. Where it is the thread's own default stream nobody else can ask whether it is idle.
pub(super) fn note_stream(stream: Stream, per_thread: bool) {
    if stream_of(stream, per_thread) == Stream::PER_THREAD {
        note_per_thread();
    }
}

/// The name of the driver's function that is called, which CUPTI keeps as long as it is loaded: for good, since this library holds it.
pub(super) fn call_name(data: &CallbackData) -> Option<&'static str> {
    if data.function_name.is_null() {
        return None;
    }
    // SAFETY: a string of CUPTI's own table.
    unsafe { CStr::from_ptr(data.function_name) }.to_str().ok()
}

/// The name that CUPTI tells for a launch.
pub(super) fn symbol(data: &CallbackData) -> Arc<str> {
    if data.symbol.is_null() {
        return "unknown kernel".into();
    }
    // SAFETY: CUPTI's string, valid in the callback.
    unsafe { CStr::from_ptr(data.symbol) }.to_string_lossy().into()
}
