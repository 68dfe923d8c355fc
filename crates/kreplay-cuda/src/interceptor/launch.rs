//! Launches: what the engine decides about them, and what *enter* leaves for *exit*.

use super::call::{Call, function_of, note_stream, stream_named, stream_of, symbol};
use super::code::FunctionInfo;
use super::context::{ContextState, Driven};
use super::ids::Form;
use super::peers::Beside;
use super::pending::{LastOf, Pending, pop, push, push_without_engine};
use super::{Interceptor, locked, recent};
use crate::agent::{CONTEXTS, CudaWork, launching_on};
use crate::tables::Function;
use crate::tables::callback::CallbackData;
use kreplay_engine::{
    AgentId, Arguments, Decision, Decline, DispatchId, DispatchInfo, Geometry, KernelInfo, LastPass, Traits,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Interceptor {
    /// *Enter* of a launch. One that is not selected is only looked up: nothing of it is read but the function and the
    /// stream.
    pub(super) fn launch_enter(&self, data: &CallbackData, form: Form, per_thread: bool) {
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let (function, stream) = unsafe { (function_of(form, data.parameters), stream_named(form, data.parameters)) };
        note_stream(stream, per_thread);
        if self.capturing() && self.is_captured(data, form, per_thread) {
            return;
        }
        let Some(function) = function else { return self.describe_unreadable(data, form, None) };
        // `None`: this thread has not launched it, or not lately.
        let asked = recent::with(data.context, function, |state, function| {
            let known = |selected| Known { state: Arc::clone(state), function: Arc::clone(function), selected };
            match self.ask(state, function, data, (form, per_thread)) {
                Some(Asked::Describe(selected)) => Some(known(selected)),
                Some(Asked::Passed) | None => None,
            }
        });
        match asked {
            Some(None) => {}
            Some(Some(known)) => self.describe(data, form, per_thread, &known),
            None => self.meet(data, form, per_thread, function),
        }
    }

    /// As above, of a function that this thread has not launched lately.
    #[cold]
    #[inline(never)]
    fn meet(&self, data: &CallbackData, form: Form, per_thread: bool, function: Function) {
        let epoch = recent::epoch();
        let state = self.context(data.context);
        // Perhaps nobody wants it: then nothing but its name is needed.
        let function = state.functions.named(function, || symbol(data));
        recent::keep(epoch, &state, &function);
        if let Some(Asked::Describe(selected)) = self.ask(&state, &function, data, (form, per_thread)) {
            self.describe(data, form, per_thread, &Known { state, function, selected });
        }
    }

    /// Asks the filter about a launch, with or without an engine. `None` when there can be none.
    fn ask(
        &self,
        state: &Arc<ContextState>,
        function: &FunctionInfo,
        data: &CallbackData,
        form: (Form, bool),
    ) -> Option<Asked> {
        let left_out = function.is_left_out(&self.process);
        if let Some(call) = state.early_call() {
            let selected = if left_out {
                self.process.leave_out(AgentId(0));
                None
            } else {
                self.process.select(AgentId(0), &function.kernel)
            };
            if selected.is_none() {
                state.launches_unseen(self);
                let beside = self.beside_unprofiled(data, form, state, function);
                push_without_engine(data.correlation_id, Some(call), beside);
                return Some(Asked::Passed);
            }
            return Some(Asked::Describe(selected));
        }
        let Some(driven) = state.driven() else {
            // None could be made.
            state.launches_unseen(self);
            let beside = self.beside_unprofiled(data, form, state, function);
            push_without_engine(data.correlation_id, None, beside);
            return None;
        };
        Some(pass_by(driven, function, left_out, data))
    }

    /// Whether a launch goes into a capture: it does not run then, and its graph's launches are seen when they come.
    fn is_captured(&self, data: &CallbackData, form: Form, per_thread: bool) -> bool {
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let Some(call) = (unsafe { Call::read(form, data.parameters) }) else { return false };
        self.is_captured_stream(stream_of(call.stream, per_thread))
    }

    /// The launch is described to the engine.
    #[inline(never)]
    fn describe(&self, data: &CallbackData, form: Form, per_thread: bool, known: &Known) {
        let Known { state, function, selected } = known;
        let (driven, unwaited) = self.engine_now(state);
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let Some(call) = (unsafe { Call::read(form, data.parameters) }) else {
            return self.describe_unreadable(data, form, Some(*selected));
        };
        let stream = stream_of(call.stream, per_thread);
        let geometry = Geometry { groups: call.grid, items: call.block };
        let Some(driven) = driven else {
            let info = DispatchInfo {
                kernel: function.kernel.clone(),
                geometry,
                stream: stream.raw(),
                ..bare("".into(), 0, unwaited.unwrap_or(Decline::AgentLost))
            };
            let beside = self.beside_unprofiled(data, (form, per_thread), state, function);
            return self.without_engine(data, state, (*selected, &info, unwaited), beside);
        };
        let (arguments, decline, unrestorable) = if unwaited.is_some() {
            // The driver must not be asked to load or wait.
            (None, unwaited, None)
        } else {
            state.functions.look(state, &self.driver, function);
            let arguments = call.packed_arguments(&self.driver, function);
            let bytes = arguments.as_ref().map(|(bytes, _)| &**bytes);
            let unrestorable = self.unrestorable(driven, function, bytes);
            // Its peers in other contexts may be launched by this thread, behind it.
            let waited_for = driven.counters.as_ref().is_some_and(|counters| counters.waits());
            let collective = function.collective && waited_for && CONTEXTS.load(Ordering::Relaxed) > 1;
            (arguments, collective.then_some(Decline::Collective), unrestorable)
        };
        let info = DispatchInfo {
            kernel: function.kernel.clone(),
            geometry,
            stream: stream.raw(),
            arguments: match &arguments {
                Some((bytes, _)) => Arguments::Known(Arc::clone(bytes)),
                None => Arguments::Unknown,
            },
            traits: Traits { decline, unrestorable, collective: function.collective, ..Traits::default() },
        };
        let record = || {
            let (arguments, form) = arguments.ok_or(Decline::UnknownArguments)?;
            Ok(CudaWork::Launch(call.launch(arguments, form)))
        };
        launching_on(stream);
        let beside = match &info.arguments {
            Arguments::Known(bytes) => self.beside_peers(data.context, stream, bytes),
            _ => Beside::default(),
        };
        let decision = match selected {
            Some(id) => driven.engine.dispatch_selected(*id, &info, record),
            None => driven.engine.dispatch_unselected(&info, record),
        };
        match decision {
            Decision::Run(guard) | Decision::Recorded(guard) => {
                driven.agent.note_launch();
                push(data.correlation_id, Pending::run(guard, beside));
            }
            Decision::Window(mut window) => {
                window.run_until_last();
                driven.agent.note_launch();
                driven.agent.set_pass_stream(Some(stream));
                let (agent, counters) = (driven.agent.clone(), driven.counters.clone());
                let last = LastOf { window, agent, counters, beside };
                push(data.correlation_id, Pending::Window(Box::new(last)));
            }
        }
        if unwaited.is_none() {
            state.has_waited();
        }
    }

    /// A launch whose parameters are not known to us is described. `asked`: what the filter said, where it was asked already.
    #[cold]
    fn describe_unreadable(&self, data: &CallbackData, form: Form, asked: Option<Option<DispatchId>>) {
        let state = self.context(data.context);
        let (driven, unwaited) = self.engine_now(&state);
        let reason = match form {
            Form::MultiDevice => Decline::CooperativeMultiDevice,
            _ => Decline::UnknownArguments,
        };
        let info = bare(symbol(data), 0, unwaited.unwrap_or(reason));
        // It may reach any memory, and run on several devices.
        let mut beside = self.beside_all(data.context, None);
        let Some(driven) = driven else {
            let selected = asked.unwrap_or_else(|| self.process.select(state.agent_id(self), &info.kernel));
            let early = self.tell_without_engine(&state, selected, &info, unwaited);
            return push_without_engine(data.correlation_id, early, beside);
        };
        let record = || Err(Decline::UnknownArguments);
        let decision = match asked {
            Some(Some(id)) => driven.engine.dispatch_selected(id, &info, record),
            Some(None) => driven.engine.dispatch_unselected(&info, record),
            None => driven.engine.dispatch(&info, record),
        };
        driven.agent.note_launch();
        // It declines, so it has no window.
        if let Decision::Run(guard) | Decision::Recorded(guard) = decision {
            beside.guards.push(guard);
        }
        push(data.correlation_id, Pending::beside(beside));
    }

    /// *Exit* of a launch.
    pub(super) fn launch_exit(&self, data: &CallbackData, returned: i32) {
        match pop(data.correlation_id) {
            Some(Pending::Window(last)) => {
                window_exit(*last, returned, |status| self.driver.status_name("the launch", status));
            }
            Some(pending) if returned != 0 => pending.refused(|what| self.driver.status_name(what, returned)),
            Some(pending) => pending.submitted(),
            None => {}
        }
    }

    /// Why a launch cannot be replayed, by its code and by what its arguments are beside pointers to memory that was told of.
    pub(super) fn unrestorable(
        &self,
        driven: &Driven,
        function: &FunctionInfo,
        arguments: Option<&[u8]>,
    ) -> Option<Decline> {
        let pages = || {
            let arguments = arguments.filter(|_| driven.agent.uses_host_pages())?;
            self.reaches_host_pages(&*function.layout(&self.driver)?, arguments)
        };
        function.unrestorable().or_else(|| self.reaches_surface(arguments)).or_else(pages)
    }

    /// Whether an argument is a live surface: the array behind it cannot be put back.
    fn reaches_surface(&self, arguments: Option<&[u8]>) -> Option<Decline> {
        if self.surface_references.load(Ordering::Relaxed) {
            return Some(Decline::UntrackedMemory);
        }
        let surfaces = locked(&self.surfaces);
        if surfaces.is_empty() {
            return None;
        }
        let words = arguments?.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_ne_bytes));
        words.filter(|word| surfaces.contains(word)).map(|_| Decline::UntrackedMemory).next()
    }
}

/// *Exit* of a launch that is the last pass of a window.
#[cold]
fn window_exit(last: LastOf, returned: i32, name: impl FnOnce(i32) -> String) {
    let LastOf { window, agent, counters, beside } = last;
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
    // Not before: nothing of ours is to be counted with it.
    beside.reached.submitted();
}

/// What is to be done with a launch.
enum Asked {
    /// Nothing: it is kept out of windows until its *exit*.
    Passed,
    /// It is described to the engine, with its number where it is selected.
    Describe(Option<DispatchId>),
}

/// What is known of a launch that is described.
struct Known {
    state: Arc<ContextState>,
    function: Arc<FunctionInfo>,
    /// Its number where it is selected.
    selected: Option<DispatchId>,
}

/// Asks the filter about a launch, unless it is `left_out` whatever it is. One that is not selected goes by, unless a batch
/// window has to record it.
fn pass_by(driven: &Driven, function: &FunctionInfo, left_out: bool, data: &CallbackData) -> Asked {
    let selected = if left_out {
        driven.engine.leave_out();
        None
    } else {
        driven.engine.select(&function.kernel)
    };
    // With several contexts its arguments are looked at: it may write another one's memory.
    if selected.is_none()
        && CONTEXTS.load(Ordering::Relaxed) < 2
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
