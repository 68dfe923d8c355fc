//! The command's side of the socket.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use kreplay_protocol::{
    FrameReader, FromCommand, FromLibrary, PREAMBLE_BYTES, Settings, check_preamble, encode_command, preamble,
};

/// The command, at a socket of its own.
pub(crate) struct Command {
    directory: tempfile::TempDir,
    pub(crate) listener: UnixListener,
}

impl Command {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("s")).unwrap();
        Self { directory, listener }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("s")
    }

    /// Accepts one process, says hello, and gives all its messages until it closes.
    pub(crate) fn serve(&self, settings: Settings) -> (UnixStream, FrameReader<UnixStream>, FromLibrary) {
        let (mut stream, _) = self.listener.accept().unwrap();
        let mut first = [0; PREAMBLE_BYTES];
        stream.read_exact(&mut first).unwrap();
        check_preamble(&first).unwrap();
        let mut reader = FrameReader::new(stream.try_clone().unwrap());
        let hello = reader.next_message().unwrap().unwrap();
        stream.write_all(&preamble()).unwrap();
        stream.write_all(&encode_command(&FromCommand::Settings(settings)).unwrap()).unwrap();
        (stream, reader, hello)
    }
}
