//! Where words of ours go. `profile` says everything on stderr: stdout is the program's.

use std::io::{self, IsTerminal, Write};

use crate::error::ExpectedError;

/// Writes one line to stderr. A closed stderr is no reason to end a profile.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The width of the terminal that stderr or stdout is; `None` when it is none.
pub(crate) fn terminal_width(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<u16> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// Writes to stdout. A reader that has gone (`| head`) is no error.
pub(crate) fn to_stdout<E: Into<ExpectedError>>(
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), ExpectedError> {
    let mut out = Watched { inner: io::BufWriter::new(io::stdout().lock()), reader_gone: false };
    let written = write(&mut out).map_err(Into::into);
    let flushed = out.flush();
    if out.reader_gone {
        return Ok(());
    }
    written?;
    flushed.map_err(|source| ExpectedError::Io { what: "stdout".into(), action: "written", source })
}

/// A writer that remembers whether its reader has gone, however the error is wrapped on its way up.
struct Watched<W> {
    inner: W,
    reader_gone: bool,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            self.reader_gone |= error.kind() == io::ErrorKind::BrokenPipe;
        }
        done
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.inner.write(bytes);
        self.watch(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.inner.flush();
        self.watch(done)
    }
}
