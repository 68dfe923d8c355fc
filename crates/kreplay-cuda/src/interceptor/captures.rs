//! Captures of streams: while one is open nothing of ours may allocate or wait.

use super::call::stream_of;
use super::ids::Class;
use super::pending::{Pending, push};
use super::{Interceptor, locked};
use crate::tables::callback::CallbackData;
use crate::tables::{Context, Stream};
use kreplay_engine::ClosingReason;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The captures of the process.
#[derive(Debug, Default)]
pub(super) struct Captures {
    /// Those that are open or are about to begin.
    open: Arc<AtomicU64>,
    /// The streams that they began in, until they end there or the stream goes; with their contexts.
    streams: Mutex<HashMap<Captured, Context>>,
}

/// A stream that is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Captured {
    stream: Stream,
    /// Whose it is where every thread has one of this name, in each context.
    owner: Option<(Context, usize)>,
}

impl Captured {
    /// A stream as this thread names it.
    fn new(context: Context, stream: Stream) -> Self {
        Self { stream, owner: (stream == Stream::PER_THREAD).then(|| (context, this_thread())) }
    }
}

/// The program's call that begins a capture. The capture is none if this is dropped before [`Captures::began`].
#[derive(Debug)]
pub(super) struct Beginning(Option<Arc<AtomicU64>>);

impl Drop for Beginning {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Captures {
    /// Whether some stream of the process is being captured, or is about to be.
    pub(super) fn any(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    /// A capture is about to begin. It counts before the call, so that nothing of ours falls between.
    #[must_use]
    fn beginning(&self) -> Beginning {
        self.open.fetch_add(1, Ordering::SeqCst);
        Beginning(Some(Arc::clone(&self.open)))
    }

    /// It has begun.
    fn began(&self, mut beginning: Beginning, captured: Captured, context: Context) {
        // A stream whose end was not seen is counted already.
        if locked(&self.streams).insert(captured, context).is_none() {
            beginning.0 = None;
        }
    }

    /// Whether a capture that began in this stream is open.
    fn holds(&self, captured: Captured) -> bool {
        self.any() && locked(&self.streams).contains_key(&captured)
    }

    /// The capture of a stream has ended, if there was one.
    fn ended(&self, captured: Captured) {
        self.end(|one, _| *one == captured);
    }

    /// A stream goes, and its capture with it.
    pub(super) fn stream_gone(&self, stream: Stream) {
        self.end(|one, _| one.stream == stream && one.owner.is_none());
    }

    /// A context goes, and its streams with it.
    pub(super) fn context_gone(&self, context: Context) {
        self.end(|_, own| own == context);
    }

    fn end(&self, over: impl Fn(&Captured, Context) -> bool) {
        if !self.any() {
            return;
        }
        let mut streams = locked(&self.streams);
        let before = streams.len();
        streams.retain(|captured, context| !over(captured, *context));
        self.open.fetch_sub((before - streams.len()) as u64, Ordering::SeqCst);
    }
}

impl Interceptor {
    /// *Enter* of a call that begins a capture.
    pub(super) fn capture_enter(&self, data: &CallbackData) {
        let beginning = self.captures.beginning();
        self.wait_until_ready();
        // A window that is open would be closed later, and nothing may be allocated or waited for then.
        self.close_windows(ClosingReason::Capture);
        push(data.correlation_id, Pending::Capture(beginning));
    }

    /// *Exit* of such a call that succeeded.
    pub(super) fn capture_began(&self, data: &CallbackData, class: Class, beginning: Beginning) {
        if let Class::BeginCapture { per_thread } = class {
            self.captures.began(beginning, captured(data, per_thread), data.context);
        }
    }

    /// *Exit* of a call that ends a capture, or should have.
    pub(super) fn capture_exit(&self, data: &CallbackData, per_thread: bool, returned: i32) {
        let captured = captured(data, per_thread);
        if !self.captures.holds(captured) {
            return;
        }
        // A capture that was invalidated ends with an error; one that another stream or thread has to end goes on.
        let goes_on = returned != 0 && self.is_captured_stream(captured.stream);
        if !goes_on {
            self.captures.ended(captured);
        }
    }

    /// Whether what goes to a stream goes into a capture, as the driver says: it does not run then.
    pub(super) fn is_captured_stream(&self, stream: Stream) -> bool {
        let _depth = crate::agent::Depth::enter();
        self.driver.is_capturing(stream).unwrap_or(false)
    }
}

/// The stream of such a call.
fn captured(data: &CallbackData, per_thread: bool) -> Captured {
    // SAFETY: all these functions have the stream first.
    let stream = unsafe { data.parameters.cast::<Stream>().read() };
    Captured::new(data.context, stream_of(stream, per_thread))
}

/// A number that no two threads have at one time.
fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    // Past the end of the thread's storage there is one number for all.
    HERE.try_with(|here| std::ptr::from_ref(here) as usize).unwrap_or(0)
}
