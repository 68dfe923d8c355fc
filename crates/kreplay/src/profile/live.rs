//! The line on the terminal while the program runs.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::progress::Progress;

/// How often the line is drawn.
const EVERY: Duration = Duration::from_millis(200);

/// Draws until dropped, then leaves the terminal as it was. Draws nothing where stderr is no terminal, and none where stdout is one
/// too: the program writes there, and a line that is drawn anew wipes what it left unfinished, such as a question.
#[derive(Debug)]
pub(super) struct Live {
    running: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Live {
    /// Starts to draw.
    pub(super) fn start(quiet: bool, progress: Arc<Progress>) -> Self {
        if quiet || !io::stderr().is_terminal() || io::stdout().is_terminal() {
            return Self { running: None };
        }
        let (stop, stopped) = mpsc::channel();
        let draw = move || {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("kreplay: {msg}, {elapsed}") {
                bar.set_style(style);
            }
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                bar.set_message(progress.line());
                bar.tick();
            }
            bar.finish_and_clear();
        };
        // Without a thread there is no line.
        let thread = std::thread::Builder::new().name("live".into()).spawn(draw).ok();
        Self { running: thread.map(|thread| (stop, thread)) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
