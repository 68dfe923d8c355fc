//! Which stream an operation is submitted to.

use super::call::stream_of;
use crate::tables::Stream;
use std::ffi::c_void;

/// The stream of a copy, a set or another operation. `None`: it is of a function that takes none and is done when it returns, or
/// of the default stream, which is never captured.
///
/// # Safety
/// `parameters` are those of the function with this number.
pub(super) unsafe fn operation_stream(id: u32, parameters: *const c_void) -> Option<Stream> {
    place(id)?;
    // SAFETY: promised by the caller.
    Some(unsafe { submitted_to(id, parameters) }).filter(|stream| *stream != Stream::LEGACY)
}

/// The stream that an operation is submitted to. One of a function that takes none goes to the default stream, and may not be done when it
/// returns.
///
/// # Safety
/// As [`operation_stream`].
pub(super) unsafe fn submitted_to(id: u32, parameters: *const c_void) -> Stream {
    match place(id) {
        Some((offset, per_thread)) => {
            // SAFETY: promised by the caller: the function has its stream there.
            stream_of(unsafe { parameters.cast::<u8>().add(offset).cast::<Stream>().read() }, per_thread)
        }
        // Their forms for the thread's own default stream.
        None => stream_of(Stream::NULL, (397..=416).contains(&id)),
    }
}

/// Where the parameters hold the stream, in bytes; and whether a null one is the thread's own. Numbers by their vendor names, each
/// with its `_ptsz` twin.
fn place(id: u32) -> Option<(usize, bool)> {
    Some(match id {
        // cuMemcpyHtoDAsync, DtoHAsync, DtoDAsync, cuMemcpyAsync; cuMemsetD8Async, D16, D32.
        277 | 279 | 281 | 306 | 216 | 218 | 220 => (24, false),
        421 | 422 | 423 | 418 | 428..=430 => (24, true),
        // cuMemcpy2DAsync, 3DAsync, 3DPeerAsync.
        289 | 291 | 321 => (8, false),
        424 | 425 | 427 => (8, true),
        // cuMemcpyHtoAAsync, AtoHAsync.
        293 | 283 => (32, false),
        419 | 420 => (32, true),
        // cuMemcpyPeerAsync; cuMemsetD2D8Async, D2D16, D2D32.
        319 | 222 | 224 | 226 => (40, false),
        426 | 431..=433 => (40, true),
        // cuStreamWriteValue32, cuStreamBatchMemOp, cuStreamWriteValue64, and their second versions.
        460 | 462 | 475 | 663 | 665 | 667 => (0, false),
        461 | 463 | 476 | 664 | 666 | 668 => (0, true),
        // cuMemBatchDecompressAsync, cuMemDiscardBatchAsync, cuMemcpy3DBatchAsync.
        761 | 789 | 778 => (32, false),
        762 | 790 | 779 => (32, true),
        // cuMemcpyBatchAsync; its second version and that of 3D; cuMemDiscardAndPrefetchBatchAsync.
        776 => (64, false),
        777 => (64, true),
        796 | 791 => (56, false),
        797 | 792 => (56, true),
        798 => (24, false),
        799 => (24, true),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::ids::{Class, class};
    use super::*;

    #[test]
    fn every_stream_is_of_an_operation() {
        let placed: Vec<u32> = (0..1000).filter(|id| place(*id).is_some()).collect();
        assert!(placed.iter().all(|id| matches!(class(*id), Some(Class::Operation(_)))));
        // Of those without one: copies and sets that are done when they return.
        let without: Vec<u32> =
            (0..1000).filter(|id| matches!(class(*id), Some(Class::Operation(_))) && place(*id).is_none()).collect();
        let done = [249, 250, 251, 252, 253, 254, 276, 278, 280, 282, 284, 285, 286, 287, 288, 290, 292, 305, 318, 320];
        assert_eq!(without, done.into_iter().chain(397..=416).collect::<Vec<u32>>());
    }

    #[test]
    fn the_default_stream_is_never_captured() {
        let words = [0usize; 9];
        // SAFETY: more words than the function has parameters.
        let stream = |id| unsafe { operation_stream(id, words.as_ptr().cast()) };
        assert_eq!((stream(776), stream(777), stream(276)), (None, Some(Stream::PER_THREAD), None));
        // SAFETY: as above.
        let goes_to = |id| unsafe { submitted_to(id, words.as_ptr().cast()) };
        assert_eq!([776, 777, 276, 397].map(goes_to), [Stream::LEGACY, Stream::PER_THREAD].repeat(2)[..]);
    }
}
