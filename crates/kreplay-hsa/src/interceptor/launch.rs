//! The packets of one doorbell.
//!
//! The runtime calls the handler on the thread that rings a queue's doorbell, under the queue's own lock, with the packets
//! that became valid: one at a time up to ROCr 5, several in later ones. The handler may hand packets on once; older
//! runtimes do not allow twice.

use super::code::Kernel;
use super::guard;
use super::live::Reached;
use super::queues::ProgramQueue;
use super::state::{Backend, backend};
use super::unit::Unit;
use crate::abi::{Dispatch, Packet, TYPE_DISPATCH, ordered, set_ticks};
use crate::agent::{HsaAgent, HsaWork, Work};
use crate::tables::PacketWriter;
use kreplay_engine::{
    AgentError, Arguments, Decision, Decline, DispatchInfo, Geometry, KernelInfo, LastPass, Member, Operation, Range,
    Traits, Window,
};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Kernels with which HIP does copies and fills: memory operations, not launches by the program.
const BLIT_PREFIX: &str = "__amd_rocclr_";
/// Those that fill.
const FILL_PREFIX: &str = "__amd_rocclr_fillBuffer";

/// The handler that stands on every queue of the program.
pub(super) unsafe extern "C" fn packets_submitted(
    packets: *const Packet,
    count: u64,
    _index: u64,
    data: *mut c_void,
    writer: PacketWriter,
) {
    // SAFETY: the runtime passes `count` valid packets.
    let packets = unsafe { std::slice::from_raw_parts(packets, count as usize) };
    let handed_on = Cell::new(false);
    let hand_on = |packets: &[Packet]| {
        handed_on.set(true);
        if !packets.is_empty() {
            // SAFETY: the writer belongs to this call of the handler; the packets are valid.
            unsafe { writer(packets.as_ptr(), packets.len() as u64) };
        }
    };
    let ours = || {
        let Some(backend) = backend() else { return hand_on(packets) };
        let Some(_inside) = backend.enter() else { return hand_on(packets) };
        // SAFETY: `data` is the record of this queue, which lives as long as the queue.
        let queue = unsafe { &*data.cast::<ProgramQueue>() };
        Submission { backend, unit: &backend.units()[queue.unit], queue, hand_on: &hand_on }.take(packets);
    };
    // Whatever fails, the program's packets run exactly once.
    guard("a submission", ours, || {
        if !handed_on.get() {
            hand_on(packets);
        }
    });
}

/// One call of the handler.
pub(super) struct Submission<'a> {
    pub(super) backend: &'static Backend,
    pub(super) unit: &'a Unit,
    pub(super) queue: &'a ProgramQueue,
    pub(super) hand_on: &'a dyn Fn(&[Packet]),
}

impl Submission<'_> {
    fn take(&self, packets: &[Packet]) {
        let dispatches = packets.iter().filter(|packet| packet.kind() == TYPE_DISPATCH).count();
        let others_wait_only = packets.iter().all(|packet| packet.kind() == TYPE_DISPATCH || packet.is_barrier());
        match dispatches {
            // They touch no memory, but what comes behind them waits with them, and others may wait for them.
            0 if others_wait_only => self.barriers(packets),
            0 => self.operation(packets),
            1 if others_wait_only && packets[0].kind() == TYPE_DISPATCH => self.one(packets),
            _ if others_wait_only => self.group(packets),
            _ => self.unknown(packets),
        }
    }

    /// Passes packets on that the engine must know of, but that are no launch.
    fn operation(&self, packets: &[Packet]) {
        let held = self.unit.engine.operation();
        // Which ranges it writes is not known.
        self.unit.engine.region_written(Range::new(0, u64::MAX));
        self.pass_on(packets);
        drop(held);
    }

    /// Launches among packets of a vendor's own: each is declined and they run as they are.
    fn unknown(&self, packets: &[Packet]) {
        for dispatch in packets.iter().filter_map(Packet::dispatch) {
            let kernel = self.backend.code.kernel(dispatch.kernel_object);
            if kernel.name.starts_with(BLIT_PREFIX) {
                continue;
            }
            let mut info = self.describe(&dispatch, &kernel);
            info.traits.decline = Some(Decline::MultiPacket);
            drop(self.unit.engine.dispatch(&info, || Err(Decline::MultiPacket)));
        }
        self.operation(packets);
    }

    /// Several launches in one submission, or barriers before one. They can be handed on only once, and all together.
    fn group(&self, packets: &[Packet]) {
        let launches: Vec<(Dispatch, Kernel)> = packets
            .iter()
            .filter_map(Packet::dispatch)
            .map(|dispatch| (dispatch, self.backend.code.kernel(dispatch.kernel_object)))
            .collect();
        let blit = launches.iter().any(|(_, kernel)| kernel.name.starts_with(BLIT_PREFIX));
        let members = launches.iter().map(|(dispatch, kernel)| {
            let operation = kernel.name.starts_with(BLIT_PREFIX);
            let mut info = self.describe(dispatch, kernel);
            let arguments = info.arguments.clone();
            if !operation {
                return Member { info, operation, record: Box::new(move || self.record(dispatch, &arguments)) };
            }
            info.traits.own_window = false;
            let record = move || self.record_blit(dispatch, kernel, &arguments).ok_or(Decline::MultiPacket);
            Member { info, operation, record: Box::new(record) }
        });
        let held = self.unit.engine.submission(members.collect());
        if blit {
            self.unit.engine.region_written(Range::new(0, u64::MAX));
        }
        self.pass_on(packets);
        drop(held);
    }

    /// One launch, and perhaps barriers behind it.
    fn one(&self, packets: &[Packet]) {
        let Some(dispatch) = packets[0].dispatch() else { return (self.hand_on)(packets) };
        let kernel = self.backend.code.kernel(dispatch.kernel_object);
        if kernel.name.starts_with(BLIT_PREFIX) {
            return self.blit(packets, &dispatch, &kernel);
        }
        let engine = &self.unit.engine;
        let selected = engine.select(&KernelInfo { key: dispatch.kernel_object, name: Arc::clone(&kernel.name) });
        if selected.is_none()
            && let Some(held) = engine.pass_by()
        {
            self.pass_on(packets);
            return drop(held);
        }
        let info = self.describe(&dispatch, &kernel);
        let _launching = selected.map(|_| self.queue.work.launching());
        // Kept until the window is closed or the packets were passed on.
        let _lent = match &info.arguments {
            Arguments::Known(bytes) if info.traits.own_window => Some(self.backend.lend(self.queue.unit, bytes)),
            _ => None,
        };
        let record = || self.record(&dispatch, &info.arguments);
        let decision = match selected {
            Some(id) => engine.dispatch_selected(id, &info, record),
            None => engine.dispatch_unselected(&info, record),
        };
        match decision {
            Decision::Run(held) | Decision::Recorded(held) => {
                self.pass_on(packets);
                drop(held);
            }
            Decision::Window(window) => self.window(window, &dispatch, packets),
        }
    }

    /// A copy or fill that HIP does with a kernel.
    fn blit(&self, packets: &[Packet], dispatch: &Dispatch, kernel: &Kernel) {
        let mut record = || self.record_blit(dispatch, kernel, &arguments(dispatch, kernel));
        // Its arguments, and a pattern: a piece at the most.
        let bytes = HsaWork::held_for(0, false);
        let held = self.unit.engine.memory_operation(Operation::Repeatable { bytes, record: &mut record });
        // Which ranges it writes is not known.
        self.unit.engine.region_written(Range::new(0, u64::MAX));
        self.pass_on(packets);
        drop(held);
    }

    fn record_blit(&self, dispatch: &Dispatch, kernel: &Kernel, arguments: &Arguments) -> Option<HsaWork> {
        let Arguments::Known(bytes) = arguments else { return None };
        // The program may write its own memory before the replays read it.
        let reached = self.backend.allocations.reached(bytes, self.queue.unit, &kernel.pointers);
        if self.backend.reaches_host_pages(&reached.unknown) {
            return None;
        }
        let fills = kernel.name.starts_with(FILL_PREFIX);
        let constants = self.backend.constants(self.queue.unit, bytes, fills)?;
        HsaWork::record(&self.unit.agent, dispatch, bytes, &constants).ok()
    }

    /// What the agent can submit again.
    fn record(&self, dispatch: &Dispatch, arguments: &Arguments) -> Result<HsaWork, Decline> {
        let Arguments::Known(bytes) = arguments else { return Err(Decline::UnknownArguments) };
        HsaWork::record(&self.unit.agent, dispatch, bytes, &[]).map_err(|error| match error {
            AgentError::Exhausted { .. } => Decline::NoBacking,
            AgentError::Lost(_) => Decline::AgentLost,
            _ => Decline::CaptureFailed,
        })
    }

    /// Runs a window around the first of `packets`, a dispatch; the others are barriers behind it.
    fn window(&self, mut window: Window<HsaAgent>, dispatch: &Dispatch, packets: &[Packet]) {
        window.run_until_last();
        let api = &self.backend.api;
        let deadline = Instant::now() + self.backend.pass_deadline;
        let mut own = packets[0];
        own.header = ordered(TYPE_DISPATCH);
        let lowers = Work::other();
        self.backend.waits.lowers(&lowers, dispatch.completion);
        match self.unit.agent.run_last(own, deadline) {
            Ok(times) => {
                window.close(LastPass::Submitted);
                if dispatch.completion.handle != 0 {
                    // SAFETY: the program's signal lives until its packet has completed.
                    unsafe {
                        set_ticks(dispatch.completion, times);
                        (api.signal_subtract)(dispatch.completion, 1);
                    }
                }
                lowers.end();
                if packets.len() > 1 {
                    self.pass_on(&packets[1..]);
                }
            }
            // It runs longer than a pass may: the window is given up, and the program's queue waits for it.
            Err((AgentError::Deadline { .. }, Some(running))) => {
                self.pass_on_behind(running, dispatch.completion, &packets[1..]);
                lowers.end();
                window.close(LastPass::Submitted);
            }
            // It did not run, or our queue went into error: the program's own queue runs it, and shows its own error.
            Err(_) => {
                self.pass_on(packets);
                lowers.end();
                window.close(LastPass::Submitted);
            }
        }
    }

    fn describe(&self, dispatch: &Dispatch, kernel: &Kernel) -> DispatchInfo {
        let arguments = arguments(dispatch, kernel);
        let reached = match &arguments {
            Arguments::Known(bytes) => self.backend.allocations.reached(bytes, self.queue.unit, &kernel.pointers),
            _ => Reached::default(),
        };
        // The host writes its own memory while a batch window records, and managed memory goes unseen.
        let own_window = self.backend.lends(&reached) || self.backend.has_managed();
        let decline = if self.queue.cooperative {
            // Work-groups that wait for each other need the queue that the program made for them.
            Some(Decline::CooperativeMultiDevice)
        } else if self.backend.variables_exported.load(Ordering::Acquire) {
            Some(Decline::ImportedMemory)
        } else {
            self.backend.reaches_host_pages(&reached.unknown).then_some(Decline::UntrackedMemory)
        };
        let groups = |axis: usize| dispatch.grid[axis].div_ceil(u32::from(dispatch.workgroup[axis]).max(1));
        DispatchInfo {
            kernel: KernelInfo { key: dispatch.kernel_object, name: Arc::clone(&kernel.name) },
            geometry: Geometry { groups: [groups(0), groups(1), groups(2)], items: dispatch.workgroup.map(u32::from) },
            stream: self.queue.handle() as u64,
            arguments,
            traits: Traits { decline, own_window, ..Traits::default() },
        }
    }
}

/// The argument bytes, which the program wrote before it rang the doorbell.
fn arguments(dispatch: &Dispatch, kernel: &Kernel) -> Arguments {
    match kernel.argument_bytes {
        None => Arguments::Unknown,
        Some(0) => Arguments::Known(Arc::from([])),
        Some(_) if dispatch.kernarg == 0 => Arguments::Unknown,
        Some(bytes) => {
            // SAFETY: the packet says that its arguments are there, in memory that the host wrote.
            let bytes = unsafe { std::slice::from_raw_parts(dispatch.kernarg as *const u8, bytes as usize) };
            Arguments::Known(bytes.into())
        }
    }
}
