//! What can run again: recorded dispatches and memory operations.

use super::HsaAgent;
use super::scratch::{Buffer, piece};
use super::tasks::PIECE;
use crate::abi::{Dispatch, Packet, TYPE_DISPATCH, ordered};
use kreplay_engine::{AgentError, Move};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Constants of a dispatch lie at multiples of this.
const ALIGNMENT: usize = 64;

/// A dispatch, a copy or a fill that can run any number of times.
pub struct HsaWork(Kind);

enum Kind {
    /// A packet, whose argument bytes lie in memory of our own.
    Dispatch { packet: Packet, arguments: Option<Saved> },
    /// Copies within the device, or from memory of our own.
    Copy { moves: Vec<Move>, source: Option<Arc<Saved>>, valid: Valid },
}

/// What recorded work is to do.
pub(super) enum Again<'a> {
    /// Submit this packet; it has no completion signal.
    Packet(Packet),
    /// Make these copies.
    Moves(&'a [Move]),
    /// Nothing: in pass 0 it did not happen.
    Nothing,
}

/// Whether the call that was recorded did what it was recorded for. It is not known before the call has returned, or its
/// copy has ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Valid(Arc<AtomicBool>);

impl Valid {
    /// It did.
    pub(crate) fn confirm(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_confirmed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Bytes in memory of our own that device work reads.
pub(crate) struct Saved {
    buffer: Option<Buffer>,
    bytes: usize,
    agent: Arc<HsaAgent>,
}

impl Saved {
    fn new(agent: &Arc<HsaAgent>, bytes: usize) -> Result<Self, AgentError> {
        let buffer = Some(agent.own()?.buffer(bytes)?);
        Ok(Self { buffer, bytes, agent: Arc::clone(agent) })
    }

    /// Bytes of host memory that it takes.
    fn held(&self) -> u64 {
        self.buffer.as_ref().map_or(0, Buffer::bytes)
    }

    fn address(&self) -> u64 {
        self.buffer.as_ref().map_or(0, Buffer::address)
    }

    /// Writes into it. Nothing reads it yet.
    fn fill(&self, offset: usize, bytes: &[u8]) {
        if let Some(buffer) = &self.buffer {
            buffer.write(offset, bytes);
        }
    }

    /// Fills it from `source`. Nothing reads it yet.
    ///
    /// # Safety
    /// As many bytes as it was made for can be read there.
    pub(crate) unsafe fn fill_from(&self, source: u64) {
        // SAFETY: the caller's.
        self.fill(0, unsafe { std::slice::from_raw_parts(source as *const u8, self.bytes) });
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        // A pass whose deadline expired may still read it: it is reused only after the queue was seen idle.
        if let Some(buffer) = self.buffer.take()
            && let Ok(mut own) = self.agent.own()
        {
            own.retire(buffer);
        }
    }
}

impl HsaWork {
    /// Records a dispatch whose argument bytes are `arguments`. Each of `constants` is what the pointer at an offset of
    /// the arguments points to: read by the dispatch, and kept here.
    pub(crate) fn record(
        agent: &Arc<HsaAgent>,
        dispatch: &Dispatch,
        arguments: &[u8],
        constants: &[(usize, Vec<u8>)],
    ) -> Result<Self, AgentError> {
        let places = constants.iter().scan(arguments.len(), |end, (_, constant)| {
            let place = end.next_multiple_of(ALIGNMENT);
            *end = place + constant.len();
            Some(place)
        });
        let places: Vec<usize> = places.collect();
        let bytes = places.iter().zip(constants).map(|(place, (_, constant))| place + constant.len()).next_back();
        let bytes = bytes.unwrap_or(arguments.len());
        let saved = if bytes == 0 {
            None
        } else {
            let saved = Saved::new(agent, bytes)?;
            saved.fill(0, arguments);
            for (place, (offset, constant)) in places.iter().zip(constants) {
                saved.fill(*place, constant);
                saved.fill(*offset, &(saved.address() + *place as u64).to_le_bytes());
            }
            Some(saved)
        };
        let kernarg = saved.as_ref().map_or(dispatch.kernarg, Saved::address);
        let header = ordered(TYPE_DISPATCH);
        let packet = Packet::from(Dispatch { header, kernarg, completion: Default::default(), ..*dispatch });
        Ok(Self(Kind::Dispatch { packet, arguments: saved }))
    }

    /// Bytes of host memory that a copy of so many bytes to the device holds, at least; a fill with so many likewise.
    pub(crate) fn held_for(bytes: u64, fills: bool) -> u64 {
        piece(if fills { bytes.min(PIECE) } else { bytes })
    }

    /// Records a copy within the device. It counts once it was confirmed.
    pub(crate) fn copy(to: u64, from: u64, bytes: u64) -> (Self, Valid) {
        let valid = Valid::default();
        let moves = vec![Move { to, from, bytes }];
        (Self(Kind::Copy { moves, source: None, valid: valid.clone() }), valid)
    }

    /// Records a copy to the device of bytes that are still to be saved. It counts once it was confirmed.
    pub(crate) fn upload(
        agent: &Arc<HsaAgent>,
        to: u64,
        bytes: usize,
    ) -> Result<(Self, Arc<Saved>, Valid), AgentError> {
        let source = Arc::new(Saved::new(agent, bytes)?);
        let valid = Valid::default();
        let moves = vec![Move { to, from: source.address(), bytes: bytes as u64 }];
        let work = Self(Kind::Copy { moves, source: Some(Arc::clone(&source)), valid: valid.clone() });
        Ok((work, source, valid))
    }

    /// Records a fill with `count` words. It counts once it was confirmed.
    pub(crate) fn fill(agent: &Arc<HsaAgent>, to: u64, value: u32, count: u64) -> Result<(Self, Valid), AgentError> {
        let bytes = count * 4;
        let piece = bytes.min(PIECE);
        let source = Saved::new(agent, piece as usize)?;
        source.fill(0, &value.to_ne_bytes().repeat(piece as usize / 4));
        let from = source.address();
        let moves = (0..bytes.div_ceil(PIECE))
            .map(|at| Move { to: to + at * PIECE, from, bytes: (bytes - at * PIECE).min(PIECE) })
            .collect();
        let valid = Valid::default();
        Ok((Self(Kind::Copy { moves, source: Some(Arc::new(source)), valid: valid.clone() }), valid))
    }

    /// What it does when it runs again.
    pub(super) fn again(&self) -> Again<'_> {
        match &self.0 {
            Kind::Dispatch { packet, .. } => Again::Packet(*packet),
            Kind::Copy { valid, .. } if !valid.is_confirmed() => Again::Nothing,
            Kind::Copy { moves, .. } => Again::Moves(moves),
        }
    }

    /// Bytes of host memory that it holds.
    pub(super) fn bytes(&self) -> u64 {
        match &self.0 {
            Kind::Dispatch { arguments, .. } => arguments.as_ref().map_or(0, Saved::held),
            Kind::Copy { source, .. } => source.as_ref().map_or(0, |saved| saved.held()),
        }
    }
}
