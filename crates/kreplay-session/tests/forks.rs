//! A forked child has its parent's session in its memory.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use kreplay_engine::Recorder;
use kreplay_protocol::{
    FrameReader, FromCommand, FromLibrary, PREAMBLE_BYTES, Settings, check_preamble, encode_command, preamble,
};
use kreplay_session::{Backend, Session};

/// Does `work` in a forked child and waits for it. `None`: it hung, and was killed.
fn in_child(work: impl FnOnce()) -> Option<i32> {
    // SAFETY: the child runs only what follows, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the child without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    assert!(child > 0);
    let mut status = 0;
    let start = Instant::now();
    loop {
        // SAFETY: a child of ours, and a place for how it ended.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return Some(status);
        }
        if start.elapsed() > Duration::from_secs(30) {
            // SAFETY: as above.
            unsafe { libc::kill(child, libc::SIGKILL) };
            // SAFETY: as above.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_forked_child_says_nothing_and_leaves_its_parents_connection_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let program = std::thread::spawn(move || {
        let session = Session::connect(&path, Backend::Hsa).unwrap().unwrap();
        let recorder = session.recorder();
        recorder.warn("before", "the parent's".into());
        let mut session = Some(session);
        let ended = in_child(|| {
            let session = session.take().unwrap();
            session.recorder().warn("child", "nobody is to hear this".into());
            session.finish();
            drop(session);
        });
        assert_eq!(ended, Some(0), "the child hung or died");
        let session = session.unwrap();
        assert!(session.alive());
        recorder.warn("after", "the parent's".into());
        session.finish();
    });
    let (mut stream, _) = listener.accept().unwrap();
    let mut first = [0; PREAMBLE_BYTES];
    stream.read_exact(&mut first).unwrap();
    check_preamble(&first).unwrap();
    let mut reader = FrameReader::new(stream.try_clone().unwrap());
    assert!(matches!(reader.next_message().unwrap(), Some(FromLibrary::Hello(_))));
    stream.write_all(&preamble()).unwrap();
    stream.write_all(&encode_command(&FromCommand::Settings(Settings::default())).unwrap()).unwrap();
    let mut said = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        match message {
            FromLibrary::Warning(warning) => said.push(warning.code),
            FromLibrary::Summary(_) => said.push("summary".into()),
            other => panic!("nobody said {other:?}"),
        }
    }
    program.join().unwrap();
    assert_eq!(said, ["before", "after", "summary"]);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the child connected");
}
