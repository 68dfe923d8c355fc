//! Launches, in all forms.

use super::function::FunctionInfo;
use super::ids::Form;
use super::pending::{Pending, push};
use super::{Interceptor, locked};
use crate::agent::{CudaWork, Launch, LaunchForm, cooperative_attribute, kept_attributes};
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{
    GraphLaunchParams, LaunchAttribute, LaunchCooperativeParams, LaunchKernelExParams, LaunchKernelParams,
};
use crate::tables::{Function, Stream};
use kreplay_engine::{Arguments, Decision, Decline, DispatchInfo, Geometry, KernelInfo, LastPass, Traits};
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A launch as the program asked for it. Pointers are the program's, valid during its call.
struct Call {
    function: Function,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Stream,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
    attributes: Vec<LaunchAttribute>,
}

impl Call {
    /// Reads the parameters of a launch.
    ///
    /// # Safety
    /// `parameters` are those of a function of this form, in its *enter* callback.
    unsafe fn read(form: Form, parameters: *const c_void) -> Option<Self> {
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

    /// The packed argument bytes, and the form that they are handed over in again.
    fn arguments(&self, function: &FunctionInfo) -> Option<(Arc<[u8]>, LaunchForm)> {
        if !self.extra.is_null() {
            return Some((packed(self.extra)?, LaunchForm::Packed));
        }
        let layout = function.layout.as_ref()?;
        let mut bytes = vec![0u8; layout.bytes()];
        if !layout.parameters.is_empty() && self.arguments.is_null() {
            return None;
        }
        for (index, (offset, size)) in layout.parameters.iter().enumerate() {
            // SAFETY: the program hands one pointer for each parameter, to as many bytes as the parameter has; the
            // driver is about to read them.
            unsafe {
                let from = *self.arguments.add(index);
                if from.is_null() {
                    return None;
                }
                std::ptr::copy_nonoverlapping(from.cast::<u8>(), bytes.as_mut_ptr().add(*offset), *size);
            }
        }
        Some((bytes.into(), LaunchForm::Pointers(Arc::clone(layout))))
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
fn stream_of(stream: Stream, per_thread: bool) -> Stream {
    match stream.is_null() {
        true if per_thread => Stream::PER_THREAD,
        true => Stream::LEGACY,
        false => stream,
    }
}

/// The name that CUPTI tells for a launch.
fn symbol(data: &CallbackData) -> Arc<str> {
    if data.symbol.is_null() {
        return "unknown kernel".into();
    }
    // SAFETY: CUPTI's string, valid in the callback.
    unsafe { CStr::from_ptr(data.symbol) }.to_string_lossy().into()
}

impl Interceptor {
    /// *Enter* of a launch.
    pub(super) fn launch_enter(&self, data: &CallbackData, form: Form, per_thread: bool) {
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let call = unsafe { Call::read(form, data.parameters) };
        if self.capturing() && self.context(data.context).driven().is_none() {
            // An engine cannot be made now, and a captured launch does not run.
            return;
        }
        let state = self.context(data.context);
        let Some(driven) = state.drive(self) else { return };
        let Some(call) = call else {
            let reason = match form {
                Form::MultiDevice => Decline::CooperativeMultiDevice,
                _ => Decline::UnknownArguments,
            };
            let info = bare(symbol(data), 0, reason);
            if let Decision::Run(guard) | Decision::Recorded(guard) =
                driven.engine.dispatch(&info, || Err(Decline::UnknownArguments))
            {
                push(data.correlation_id, Pending::Guard { _guard: guard });
            }
            return;
        };
        let stream = stream_of(call.stream, per_thread);
        let capturing = self.capturing();
        // While something is captured the driver must not be asked to load or wait.
        let function = if capturing {
            None
        } else {
            Some(state.functions.get(&state, &self.driver, call.function, || symbol(data)))
        };
        let arguments = function.as_ref().and_then(|function| call.arguments(function));
        let decline = match &function {
            None => Some(Decline::StreamCapture),
            Some(function) => {
                function.decline.or_else(|| self.reaches_surface(arguments.as_ref().map(|(bytes, _)| &**bytes)))
            }
        };
        let kernel = match &function {
            Some(function) => function.kernel.clone(),
            None => KernelInfo { key: call.function.raw(), name: symbol(data) },
        };
        let collective = function.as_ref().is_some_and(|function| function.collective);
        let info = DispatchInfo {
            kernel,
            geometry: Geometry { groups: call.grid, items: call.block },
            stream: stream.raw(),
            arguments: match &arguments {
                Some((bytes, _)) => Arguments::Known(Arc::clone(bytes)),
                None => Arguments::Unknown,
            },
            traits: Traits { decline, collective },
        };
        let record = || {
            let (arguments, form) = arguments.ok_or(Decline::UnknownArguments)?;
            Ok(CudaWork::Launch(Launch {
                function: call.function,
                grid: call.grid,
                block: call.block,
                shared: call.shared,
                attributes: call.attributes,
                arguments,
                form,
            }))
        };
        let decision = driven.engine.dispatch(&info, record);
        match decision {
            // The first counted batch window holds one dispatch: CUPTI must have counted a whole window of this size before
            // one may be left to the process's end, where its first one crashes.
            Decision::Recorded(guard) if !driven.counted.swap(true, Ordering::Relaxed) => {
                driven.agent.note_launch();
                push(data.correlation_id, Pending::Closing { guard, engine: Arc::clone(&driven.engine) });
            }
            Decision::Run(guard) | Decision::Recorded(guard) => {
                driven.agent.note_launch();
                push(data.correlation_id, Pending::Guard { _guard: guard });
            }
            Decision::Window(mut window) => {
                window.run_until_last();
                driven.agent.note_launch();
                driven.agent.set_pass_stream(Some(stream));
                push(
                    data.correlation_id,
                    Pending::Window {
                        window,
                        agent: Box::new(driven.agent.clone()),
                        counters: driven.counters.clone(),
                    },
                );
            }
        }
    }

    /// *Enter* of a graph launch: it runs as it is.
    pub(super) fn graph_enter(&self, data: &CallbackData, per_thread: bool) {
        // SAFETY: CUPTI hands the parameters of this function.
        let parameters = unsafe { data.parameters.cast::<GraphLaunchParams>().read() };
        if self.capturing() {
            return;
        }
        let state = self.context(data.context);
        let Some(driven) = state.drive(self) else { return };
        let mut info = bare("CUDA graph".into(), parameters.graph as u64, Decline::GraphLaunch);
        info.stream = stream_of(parameters.stream, per_thread).raw();
        if let Decision::Run(guard) | Decision::Recorded(guard) =
            driven.engine.dispatch(&info, || Err(Decline::GraphLaunch))
        {
            push(data.correlation_id, Pending::Guard { _guard: guard });
        }
    }

    /// Whether an argument is a live surface: the array behind it cannot be put back.
    fn reaches_surface(&self, arguments: Option<&[u8]>) -> Option<Decline> {
        let surfaces = locked(&self.surfaces);
        if surfaces.is_empty() {
            return None;
        }
        let words = arguments?.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_ne_bytes));
        words.filter(|word| surfaces.contains(word)).map(|_| Decline::UntrackedMemory).next()
    }
}

/// *Exit* of a launch that is the last pass of a window.
pub(super) fn window_exit(pending: Pending, returned: i32, name: impl FnOnce(i32) -> String) {
    let Pending::Window { window, agent, counters } = pending else { return };
    let last = if returned == 0 {
        if let Some(counters) = &counters {
            counters.launched();
        }
        LastPass::Submitted
    } else {
        LastPass::Failed(name(returned))
    };
    window.close(last);
    agent.set_pass_stream(None);
}

/// What is known of a launch that declines whatever it is.
fn bare(name: Arc<str>, key: u64, reason: Decline) -> DispatchInfo {
    DispatchInfo {
        kernel: KernelInfo { key, name },
        geometry: Geometry::default(),
        stream: 0,
        arguments: Arguments::Unknown,
        traits: Traits { decline: Some(reason), collective: false },
    }
}
