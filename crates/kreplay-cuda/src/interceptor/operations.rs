//! Copies, sets and whatever else touches memory outside launches.

use super::copies::{Copied, ELSEWHERE, Place, copies, one_plane, sets};
use super::ids::{From, Written};
use super::operation_streams::{operation_stream, submitted_to};
use super::peers::Reached;
use super::pending::{Pending, push};
use super::{Interceptor, locked};
use crate::agent::{CONTEXTS, CudaWork};
use crate::tables::Context;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{CopyParams, CopyPeerParams, CopyRectangle, SetParams, SetRectangleParams};
use crate::tables::graph_structs::{CopyNodeParams, SetNodeParams};
use kreplay_engine::{Operation, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Interceptor {
    /// *Enter* of an operation: it does not fall into a window by chance. An open batch window records it where it can be
    /// done again, and is closed where it cannot.
    pub(super) fn operation_enter(&self, data: &CallbackData, id: u32, written: Written) {
        let capturing = self.capturing();
        if capturing && self.operation_is_captured(data, id) {
            return;
        }
        let kind = self.kind(data, written);
        if matches!((written, &kind), (Written::Host | Written::Copy(_), Kind::Reads)) {
            // SAFETY: CUPTI hands the parameters of a function of these classes, which all begin so.
            let p = unsafe { data.parameters.cast::<CopyParams>().read() };
            self.host_written(p.to, p.bytes as u64);
        }
        let range = written_range(data, written, &kind);
        let peers = self.peers(data, written);
        let (mut guards, mut early) = (Vec::new(), Vec::new());
        // SAFETY: CUPTI hands the parameters of the function with this number.
        let mut reached = Reached::from(data.context, unsafe { submitted_to(id, data.parameters) });
        // An address says nothing about its context, so the operation is kept out of every context's windows; memory of
        // another context is not put back by this one's.
        for state in self.all_contexts() {
            if let Some(call) = state.early_call() {
                early.push(call);
                continue;
            }
            let Some(driven) = state.driven() else { continue };
            driven.agent.note_operation();
            let mut work = || self.repeat(data, &kind);
            let operation = match &kind {
                // Its window could not do it again.
                _ if state.context != data.context && peers.reach(state.context) => {
                    // While something is captured nothing is recorded into streams, and no window opens.
                    if !capturing {
                        reached.push(driven);
                    }
                    Operation::Foreign
                }
                _ if state.context != data.context => Operation::Elsewhere,
                Kind::Reads => Operation::Reads,
                Kind::Foreign => Operation::Foreign,
                Kind::Other => Operation::Other,
                // What it copies from may have to be waited for. No window is open, as far as this can be told.
                _ if capturing => Operation::Other,
                Kind::Within | Kind::Upload { .. } | Kind::Set(_) | Kind::Rows(_) => {
                    Operation::Repeatable { bytes: kind.kept(), record: &mut work }
                }
            };
            guards.push(driven.engine.memory_operation(operation));
            if let Some(range) = range {
                driven.engine.region_written(range);
            }
        }
        if !guards.is_empty() || !early.is_empty() {
            push(data.correlation_id, Pending::Guards { guards, reached, _early: early });
        }
    }

    /// Whether an operation goes into a capture: it does not run then.
    fn operation_is_captured(&self, data: &CallbackData, id: u32) -> bool {
        // SAFETY: CUPTI hands the parameters of the function with this number.
        let stream = unsafe { operation_stream(id, data.parameters) };
        stream.is_some_and(|stream| self.is_captured_stream(stream))
    }

    /// Other contexts whose memory an operation reaches.
    fn peers(&self, data: &CallbackData, written: Written) -> Peers {
        if CONTEXTS.load(Ordering::Relaxed) < 2 {
            return Peers::These(Vec::new());
        }
        let p = data.parameters;
        let addresses = match written {
            Written::Nothing => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                vec![unsafe { p.cast::<CopyParams>().read() }.to]
            }
            // Copies of arrays and batches between devices are not looked into.
            Written::Unknown => return Peers::All,
            Written::Copy(_) | Written::Host => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                let p = unsafe { p.cast::<CopyParams>().read() };
                vec![p.to, p.from]
            }
            Written::Peer => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<CopyPeerParams>().read() };
                vec![p.to, p.from]
            }
            // SAFETY: as above.
            Written::Set(_) => vec![unsafe { p.cast::<SetParams>().read() }.to],
            // SAFETY: as above.
            Written::Rectangle(_) => vec![unsafe { p.cast::<SetRectangleParams>().read() }.to],
            Written::Copy2D => {
                // SAFETY: as above; the description is the first parameter.
                let p = unsafe { p.cast::<*const CopyRectangle>().read() };
                // SAFETY: the program hands it to the driver, which is about to read it.
                unsafe { p.as_ref() }.map_or_else(Vec::new, |p| vec![p.to_device, p.from_device])
            }
            Written::Copy3D => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<*const CopyNodeParams>().read() };
                // SAFETY: as above.
                unsafe { p.as_ref() }.map_or_else(Vec::new, |p| vec![p.to_device, p.from_device])
            }
        };
        let live = locked(&self.live);
        let owners = addresses.into_iter().filter_map(|address| live.owner(address));
        Peers::These(owners.filter(|owner| *owner != data.context).collect())
    }

    /// What an operation does, seen from a window.
    fn kind(&self, data: &CallbackData, written: Written) -> Kind {
        let rows = |copied: Result<Copied, &'static str>| match copied {
            Ok(Copied::ToHost(ranges)) => {
                ranges.into_iter().for_each(|(base, bytes)| self.host_written(base, bytes));
                Kind::Reads
            }
            Ok(copied) => Kind::Rows(copied),
            Err(ELSEWHERE) => Kind::Foreign,
            Err(_) => Kind::Other,
        };
        let place = |address| self.place(data.context, address);
        match written {
            Written::Nothing | Written::Host => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                let p = unsafe { data.parameters.cast::<CopyParams>().read() };
                let live = locked(&self.live);
                // The driver goes by addresses, whatever direction the function is named for.
                match (live.is_device(data.context, p.to), live.is_device(data.context, p.from)) {
                    _ if live.is_anothers(data.context, p.to) => Kind::Foreign,
                    (true, true) => Kind::Within,
                    (true, false) => Kind::Other,
                    (false, _) => Kind::Reads,
                }
            }
            Written::Set(element) => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                let p = unsafe { data.parameters.cast::<SetParams>().read() };
                // Memory of the host is nothing that may be written again.
                if locked(&self.live).is_device(data.context, p.to) { Kind::Set(element) } else { Kind::Foreign }
            }
            Written::Copy(from) => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                let p = unsafe { data.parameters.cast::<CopyParams>().read() };
                let live = locked(&self.live);
                // What another context allocated is nothing that could be put back, or read here.
                if [p.to, p.from].iter().any(|address| live.is_anothers(data.context, *address)) {
                    return Kind::Foreign;
                }
                let sides = (live.is_device(data.context, p.to), live.is_device(data.context, p.from), from);
                drop(live);
                match sides {
                    (true, true, _) => Kind::Within,
                    (true, false, From::Host | From::Anywhere) => Kind::Upload { from, bytes: p.bytes as u64 },
                    // A variable of a module is no allocation, and no memory of the host either.
                    (false, true, From::Anywhere) if place(p.to) != Place::Elsewhere => Kind::Reads,
                    // Between two places on the host, or memory that nobody told of.
                    _ => Kind::Foreign,
                }
            }
            Written::Rectangle(element) => {
                // SAFETY: as above.
                let p = unsafe { data.parameters.cast::<SetRectangleParams>().read() };
                rows(sets(
                    &SetNodeParams {
                        to: p.to,
                        pitch: p.pitch,
                        value: p.value,
                        element: u32::from(element),
                        width: p.width,
                        height: p.height,
                    },
                    &place,
                ))
            }
            Written::Copy2D => {
                // SAFETY: as above; the description is the first parameter.
                let p = unsafe { data.parameters.cast::<*const CopyRectangle>().read() };
                if p.is_null() {
                    return Kind::Other;
                }
                // SAFETY: the program hands it to the driver, which is about to read it.
                rows(copies(&one_plane(&unsafe { p.read() }), &place))
            }
            Written::Copy3D => {
                // SAFETY: as above; the description is the first parameter.
                let p = unsafe { data.parameters.cast::<*const CopyNodeParams>().read() };
                if p.is_null() {
                    return Kind::Other;
                }
                // SAFETY: as above.
                rows(copies(&unsafe { p.read() }, &place))
            }
            Written::Peer => Kind::Foreign,
            Written::Unknown => Kind::Other,
        }
    }

    /// Where an address is that may be the host's or a device's.
    pub(super) fn place(&self, context: Context, address: u64) -> Place {
        if locked(&self.live).is_device(context, address) {
            return Place::Device;
        }
        let _depth = crate::agent::Depth::enter();
        if self.driver.is_host(address) {
            Place::Host
        } else if self.driver.is_managed(address) {
            Place::Managed
        } else {
            Place::Elsewhere
        }
    }

    /// What does an operation again. Bytes of the host are saved now: the program may change them once the call is done.
    fn repeat(&self, data: &CallbackData, kind: &Kind) -> Option<CudaWork> {
        let p = data.parameters;
        match kind {
            Kind::Within => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                let p = unsafe { p.cast::<CopyParams>().read() };
                Some(CudaWork::Copy { to: p.to, from: p.from, bytes: p.bytes as u64 })
            }
            Kind::Upload { from: source, .. } => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<CopyParams>().read() };
                // Memory of another device, or of another process, is nothing that could be read here; nor is a variable, of
                // which a program may say that it is the host's.
                let host = || match self.place(data.context, p.from) {
                    Place::Host => true,
                    Place::Managed => *source == From::Host,
                    Place::Device | Place::Elsewhere => false,
                };
                if p.from == 0 || p.bytes == 0 || !host() || !self.host_settled(p.from, p.bytes as u64) {
                    return None;
                }
                upload(p.to, p.from, p.bytes as u64)
            }
            Kind::Set(element) => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<SetParams>().read() };
                Some(CudaWork::Fill { to: p.to, value: p.value, element: *element, count: p.count as u64 })
            }
            Kind::Rows(Copied::Device(works)) => Some(CudaWork::All(works.clone().into())),
            Kind::Rows(Copied::Upload(rows)) => {
                if !rows.iter().all(|(_, from, bytes)| self.host_settled(*from, *bytes)) {
                    return None;
                }
                rows.iter()
                    .map(|(to, from, bytes)| upload(*to, *from, *bytes))
                    .collect::<Option<_>>()
                    .map(CudaWork::All)
            }
            Kind::Reads | Kind::Foreign | Kind::Other | Kind::Rows(Copied::ToHost(_)) => None,
        }
    }
}

/// Contexts whose memory an operation of another one reaches.
enum Peers {
    These(Vec<Context>),
    /// Any may be.
    All,
}

impl Peers {
    fn reach(&self, context: Context) -> bool {
        match self {
            Self::These(contexts) => contexts.contains(&context),
            Self::All => true,
        }
    }
}

/// A copy of what is on the host now; `None` where there is no room for it.
pub(super) fn upload(to: u64, from: u64, bytes: u64) -> Option<CudaWork> {
    let mut content = Vec::new();
    content.try_reserve_exact(usize::try_from(bytes).ok()?).ok()?;
    // SAFETY: the program hands this memory of the host to the driver, which is about to read it.
    content.extend_from_slice(unsafe { std::slice::from_raw_parts(from as *const u8, bytes as usize) });
    Some(CudaWork::Upload { to, content: Arc::new(content) })
}

/// What an operation does, seen from a window.
enum Kind {
    /// Reads device memory.
    Reads,
    /// Copies within the device.
    Within,
    /// Copies so many bytes to the device, from there.
    Upload { from: From, bytes: u64 },
    /// Fills, by the element's bytes.
    Set(u8),
    /// Copies or fills row by row.
    Rows(Copied),
    /// Reaches memory that is not this context's, or that nobody told of.
    Foreign,
    /// Anything else.
    Other,
}

impl Kind {
    /// Host memory that is kept to do it again, in bytes.
    fn kept(&self) -> u64 {
        match self {
            Self::Upload { bytes, .. } => *bytes,
            Self::Rows(Copied::Upload(rows)) => kept(rows),
            Self::Rows(Copied::Device(works)) => works.iter().map(CudaWork::bytes).sum(),
            _ => 0,
        }
    }
}

/// Host memory that is kept to copy these rows again, in bytes.
pub(super) fn kept(rows: &[(u64, u64, u64)]) -> u64 {
    rows.iter().fold(0, |sum, (_, _, bytes)| sum.saturating_add(*bytes))
}

/// What an operation writes; everything where that is not looked into.
fn written_range(data: &CallbackData, written: Written, kind: &Kind) -> Option<Range> {
    let p = data.parameters;
    match written {
        Written::Nothing | Written::Host if matches!(kind, Kind::Reads) => None,
        Written::Copy2D | Written::Copy3D => match kind {
            Kind::Reads => None,
            Kind::Rows(Copied::Device(works)) => hull(works.iter().map(|work| match work {
                CudaWork::Copy { to, bytes, .. } => (*to, *bytes),
                CudaWork::CopyBox(copy) => (copy.to.base, copy.to.span(copy.shape)),
                _ => (0, u64::MAX),
            })),
            Kind::Rows(Copied::Upload(rows)) => hull(rows.iter().map(|(to, _, bytes)| (*to, *bytes))),
            _ => Some(Range::new(0, u64::MAX)),
        },
        Written::Unknown => Some(Range::new(0, u64::MAX)),
        Written::Nothing | Written::Host | Written::Copy(_) => {
            // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
            let p = unsafe { p.cast::<CopyParams>().read() };
            Some(Range::new(p.to, p.bytes as u64))
        }
        Written::Peer => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<CopyPeerParams>().read() };
            Some(Range::new(p.to, p.bytes as u64))
        }
        Written::Set(element) => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<SetParams>().read() };
            Some(Range::new(p.to, (p.count as u64).saturating_mul(u64::from(element))))
        }
        Written::Rectangle(element) => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<SetRectangleParams>().read() };
            let row = (p.width as u64).saturating_mul(u64::from(element));
            let rows = (p.height as u64).saturating_sub(1).saturating_mul(p.pitch as u64);
            Some(Range::new(p.to, rows.saturating_add(row)))
        }
    }
}

/// The range from the first byte of all these to the last.
fn hull(rows: impl Iterator<Item = (u64, u64)>) -> Option<Range> {
    let ends = rows.map(|(base, bytes)| (base, base.saturating_add(bytes)));
    let (first, last) = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
    Some(Range::new(first, last - first))
}
