//! The first exchange with the command.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kreplay_protocol::{
    FromCommand, FromLibrary, Hello, PREAMBLE_BYTES, ReceiveError, Settings, bounded_list, bounded_text,
    check_preamble, encode, preamble, read_command,
};

use crate::SessionError;

/// How long the command may take to answer. It answers from a thread that does nothing else.
const ANSWER: Duration = Duration::from_secs(10);

/// Connects to the command at `path` and receives its settings.
pub(crate) fn connect(path: &Path) -> Result<(UnixStream, Settings), SessionError> {
    let no_command = |source| SessionError::NoCommand { path: path.to_owned(), source };
    let mut stream = UnixStream::connect(path).map_err(no_command)?;
    stream.set_read_timeout(Some(ANSWER)).map_err(no_command)?;

    let mut first = preamble().to_vec();
    first.extend(encode(&FromLibrary::Hello(hello())).map_err(ReceiveError::from)?);
    // These few bytes fit into any socket's buffer, so nothing blocks here; no signal is raised if it is closed.
    send_all(&stream, &first).map_err(no_command)?;

    let mut theirs = [0; PREAMBLE_BYTES];
    stream.read_exact(&mut theirs).map_err(ReceiveError::from)?;
    check_preamble(&theirs).map_err(ReceiveError::from)?;
    match read_command(&mut stream)? {
        Some(FromCommand::Settings(settings)) => Ok((stream, settings)),
        Some(FromCommand::Refused { why }) => Err(SessionError::Refused { why }),
        None => Err(SessionError::NoSettings),
    }
}

fn send_all(stream: &UnixStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::net::send(stream, bytes, rustix::net::SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent.min(bytes.len())..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn hello() -> Hello {
    let exe = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Hello {
        pid: std::process::id(),
        parent: std::os::unix::process::parent_id(),
        exe: bounded_text(&exe),
        argv: bounded_list(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())),
        start_unix_ns: u64::try_from(start.as_nanos()).unwrap_or(u64::MAX),
        library_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Ends a connection that never became a session.
pub(crate) fn close(mut stream: UnixStream) {
    let _ = stream.flush();
    let _ = stream.shutdown(std::net::Shutdown::Both);
}
