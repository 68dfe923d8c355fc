//! Launches: what the engine decides about them, and what *enter* leaves for *exit*.

use super::call::{Call, function_of, stream_of, symbol};
use super::context::{ContextState, Driven};
use super::ids::Form;
use super::pending::{LastOf, Pending, push};
use super::{Interceptor, locked, recent};
use crate::agent::{CudaWork, Launch, launching_on};
use crate::tables::callback::CallbackData;
use kreplay_engine::{
    AgentId, Arguments, Decision, Decline, DispatchId, DispatchInfo, Geometry, KernelInfo, LastPass, Traits,
};
use std::sync::Arc;

impl Interceptor {
    /// *Enter* of a launch. One that is not selected is only looked up: nothing of it is read but the function.
    pub(super) fn launch_enter(&self, data: &CallbackData, form: Form, per_thread: bool) {
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let function = unsafe { function_of(form, data.parameters) };
        if self.capturing() && self.is_captured(data, form, per_thread) {
            return;
        }
        let known = function.and_then(|function| {
            recent::with(data.context, function, |state, info| self.ask(state, &info.kernel, data))
        });
        match known.flatten() {
            Some(Asked::Passed) => return,
            Some(Asked::Describe(selected)) => return self.describe(data, form, per_thread, Some(selected)),
            None => {}
        }
        self.describe(data, form, per_thread, None);
    }

    /// Asks the filter about a launch, with or without an engine. `None` when there can be none.
    fn ask(&self, state: &Arc<ContextState>, kernel: &KernelInfo, data: &CallbackData) -> Option<Asked> {
        if let Some(call) = state.early_call() {
            let selected = self.process.select(AgentId(0), kernel);
            if selected.is_none() {
                push(data.correlation_id, Pending::Early { _call: call });
                return Some(Asked::Passed);
            }
            return Some(Asked::Describe(selected));
        }
        Some(pass_by(state.driven()?, kernel, data))
    }

    /// Whether a launch goes into a capture: it does not run then, and its graph's launches are seen when they come.
    fn is_captured(&self, data: &CallbackData, form: Form, per_thread: bool) -> bool {
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let Some(call) = (unsafe { Call::read(form, data.parameters) }) else { return false };
        let _depth = crate::agent::Depth::enter();
        self.driver.is_capturing(stream_of(call.stream, per_thread)).unwrap_or(false)
    }

    /// The launch is described to the engine. `asked`: what the filter said, where it was asked already.
    fn describe(&self, data: &CallbackData, form: Form, per_thread: bool, asked: Option<Option<DispatchId>>) {
        let capturing = self.capturing();
        let epoch = recent::epoch();
        let state = self.context(data.context);
        let mut asked = asked;
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let function = unsafe { function_of(form, data.parameters) };
        if let (None, Some(function)) = (asked, function) {
            // Perhaps nobody wants it: then nothing but its name is needed.
            let info = state.functions.named(function, || symbol(data));
            recent::keep(epoch, &state, function, &info);
            match self.ask(&state, &info.kernel, data) {
                Some(Asked::Passed) => return,
                Some(Asked::Describe(selected)) => asked = Some(selected),
                None => return,
            }
        }
        // An engine cannot be made while something is captured.
        let driven = if capturing { state.driven() } else { state.drive(self) };
        let Some(driven) = driven else { return };
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let Some(call) = (unsafe { Call::read(form, data.parameters) }) else {
            let reason = match form {
                Form::MultiDevice => Decline::CooperativeMultiDevice,
                _ => Decline::UnknownArguments,
            };
            let info = bare(symbol(data), 0, reason);
            let record = || Err(Decline::UnknownArguments);
            let decision = match asked {
                Some(Some(id)) => driven.engine.dispatch_selected(id, &info, record),
                Some(None) => driven.engine.dispatch_unselected(&info, record),
                None => driven.engine.dispatch(&info, record),
            };
            if let Decision::Run(guard) | Decision::Recorded(guard) = decision {
                push(data.correlation_id, Pending::Guard { guard });
            }
            return;
        };
        // While something is captured the driver must not be asked to load or wait.
        let function = if capturing {
            state.functions.named(call.function, || symbol(data))
        } else {
            state.functions.get(&state, &self.driver, call.function, || symbol(data))
        };
        let Some(selected) = asked else { return };
        let stream = stream_of(call.stream, per_thread);
        let (arguments, decline) = if capturing {
            (None, Some(Decline::StreamCapture))
        } else {
            let arguments = call.packed_arguments(&self.driver, &function);
            let surface = self.reaches_surface(arguments.as_ref().map(|(bytes, _)| &**bytes));
            // Its peers in other contexts may be launched by this thread, behind it.
            let waited_for = driven.counters.as_ref().is_some_and(|counters| counters.waits());
            let collective = function.collective && waited_for && self.all_contexts().len() > 1;
            (arguments, function.decline().or(surface).or(collective.then_some(Decline::Collective)))
        };
        let info = DispatchInfo {
            kernel: function.kernel.clone(),
            geometry: Geometry { groups: call.grid, items: call.block },
            stream: stream.raw(),
            arguments: match &arguments {
                Some((bytes, _)) => Arguments::Known(Arc::clone(bytes)),
                None => Arguments::Unknown,
            },
            traits: Traits { decline, collective: function.collective, ..Traits::default() },
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
        launching_on(stream);
        let decision = match selected {
            Some(id) => driven.engine.dispatch_selected(id, &info, record),
            None => driven.engine.dispatch_unselected(&info, record),
        };
        match decision {
            Decision::Run(guard) => {
                driven.agent.note_launch();
                push(data.correlation_id, Pending::Guard { guard });
            }
            Decision::Recorded(guard) => {
                driven.agent.note_launch();
                push(data.correlation_id, Pending::Guard { guard });
            }
            Decision::Window(mut window) => {
                window.run_until_last();
                driven.agent.note_launch();
                driven.agent.set_pass_stream(Some(stream));
                let last = LastOf { window, agent: driven.agent.clone(), counters: driven.counters.clone() };
                push(data.correlation_id, Pending::Window(Box::new(last)));
            }
        }
    }

    /// Whether an argument is a live surface: the array behind it cannot be put back.
    pub(super) fn reaches_surface(&self, arguments: Option<&[u8]>) -> Option<Decline> {
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
    let Pending::Window(last) = pending else { return };
    let LastOf { window, agent, counters } = *last;
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

/// What is to be done with a launch.
enum Asked {
    /// Nothing: it is kept out of windows until its *exit*.
    Passed,
    /// It is described to the engine, with its number where it is selected.
    Describe(Option<DispatchId>),
}

/// Asks the filter about a launch. One that is not selected goes by, unless a batch window has to record it.
fn pass_by(driven: &Driven, kernel: &KernelInfo, data: &CallbackData) -> Asked {
    let selected = driven.engine.select(kernel);
    if selected.is_none()
        && let Some(guard) = driven.engine.pass_by()
    {
        driven.agent.note_launch();
        push(data.correlation_id, Pending::Guard { guard });
        return Asked::Passed;
    }
    Asked::Describe(selected)
}

/// What is known of a launch that declines whatever it is.
pub(super) fn bare(name: Arc<str>, key: u64, reason: Decline) -> DispatchInfo {
    DispatchInfo {
        kernel: KernelInfo { key, name },
        geometry: Geometry::default(),
        stream: 0,
        arguments: Arguments::Unknown,
        traits: Traits { decline: Some(reason), ..Traits::default() },
    }
}
