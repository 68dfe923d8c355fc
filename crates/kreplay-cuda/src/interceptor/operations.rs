//! Copies, sets and whatever else touches memory outside launches.

use super::ids::Written;
use super::pending::{Pending, push};
use super::{Interceptor, locked};
use crate::agent::CudaWork;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{CopyParams, CopyPeerParams, SetParams, SetRectangleParams};
use kreplay_engine::{Operation, Range};

impl Interceptor {
    /// *Enter* of an operation: it does not fall into a window by chance. An open batch window records it where it can be
    /// done again, and is closed where it cannot.
    pub(super) fn operation_enter(&self, data: &CallbackData, written: Written) {
        if self.capturing() {
            return;
        }
        let range = written_range(data, written);
        let kind = self.kind(data, written);
        let mut guards = Vec::new();
        // An address says nothing about its context, so the operation is kept out of every context's windows; memory of
        // another context is not put back by this one's.
        for state in self.all_contexts() {
            let Some(driven) = state.driven() else { continue };
            let mut work = || repeat(data, kind);
            let operation = match kind {
                _ if state.context != data.context => Operation::Reads,
                Kind::Reads => Operation::Reads,
                Kind::Other => Operation::Other,
                Kind::Within | Kind::Upload | Kind::Set(_) => Operation::Repeatable(&mut work),
            };
            guards.push(driven.engine.memory_operation(operation));
            if let Some(range) = range {
                driven.engine.region_written(range);
            }
        }
        if !guards.is_empty() {
            push(data.correlation_id, Pending::Guards { _guards: guards });
        }
    }

    /// What an operation does, seen from a window.
    fn kind(&self, data: &CallbackData, written: Written) -> Kind {
        match written {
            Written::Nothing => Kind::Reads,
            Written::Set(element) => Kind::Set(element),
            Written::Copy => {
                // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
                let p = unsafe { data.parameters.cast::<CopyParams>().read() };
                let live = locked(&self.live);
                match (live.is_device(p.to), live.is_device(p.from)) {
                    (true, true) => Kind::Within,
                    (true, false) => Kind::Upload,
                    (false, true) => Kind::Reads,
                    // Between two places on the host, or memory that nobody told of.
                    (false, false) => Kind::Other,
                }
            }
            Written::Peer | Written::Rectangle(_) | Written::Unknown => Kind::Other,
        }
    }
}

/// What an operation does, seen from a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Reads device memory.
    Reads,
    /// Copies within the device.
    Within,
    /// Copies to the device.
    Upload,
    /// Fills, by the element's bytes.
    Set(u8),
    /// Anything else.
    Other,
}

/// What does the operation again. Bytes of the host are saved now: the program may change them once the call is done.
fn repeat(data: &CallbackData, kind: Kind) -> Option<CudaWork> {
    let p = data.parameters;
    match kind {
        Kind::Within => {
            // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
            let p = unsafe { p.cast::<CopyParams>().read() };
            Some(CudaWork::Copy { to: p.to, from: p.from, bytes: p.bytes as u64 })
        }
        Kind::Upload => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<CopyParams>().read() };
            if p.from == 0 || p.bytes == 0 {
                return None;
            }
            // SAFETY: the program hands this memory to the driver, which is about to read it.
            let content = unsafe { std::slice::from_raw_parts(p.from as *const u8, p.bytes) };
            Some(CudaWork::Upload { to: p.to, content: content.into() })
        }
        Kind::Set(element) => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<SetParams>().read() };
            Some(CudaWork::Fill { to: p.to, value: p.value, element, count: p.count as u64 })
        }
        Kind::Reads | Kind::Other => None,
    }
}

/// What an operation writes; everything where that is not looked into.
fn written_range(data: &CallbackData, written: Written) -> Option<Range> {
    let p = data.parameters;
    match written {
        Written::Nothing => None,
        Written::Unknown => Some(Range::new(0, u64::MAX)),
        Written::Copy => {
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
