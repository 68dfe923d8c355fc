//! One process's connection: frames into events.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use kreplay_protocol::{
    FrameReader, FromCommand, FromLibrary, Hello, PREAMBLE_BYTES, ReceiveError, Settings, check_preamble,
    encode_command, preamble,
};
use kreplay_store::ProcessEnd;

use super::events::{ConnectionId, Event, Events};

/// How long a process may take over its first words.
const FIRST_WORDS: Duration = Duration::from_secs(10);

/// Serves one connection until it closes. Errors become complaints: they harm nobody but this connection.
pub(super) fn receive(number: u64, mut stream: UnixStream, settings: &Settings, events: &Events) {
    let id = ConnectionId(number);
    // Once the recording thread is gone nobody is left to tell.
    match greet(&mut stream) {
        Ok(Some((hello, reader))) => {
            let end = serve(id, &hello, reader, stream, settings, events);
            let _ = events.send(Event::Closed { id, end });
        }
        Ok(None) => {}
        Err(error) => {
            // The connection is still open: the process that is let go may be the program's last, and what is said after
            // the program's end is heard by nobody.
            let _ = events.send(Event::Complaint(format!("a process could not be profiled: {error}")));
        }
    }
}

/// The first words. `Ok(None)`: somebody connected and said nothing.
fn greet(stream: &mut UnixStream) -> Result<Option<(Hello, FrameReader<UnixStream>)>, ReceiveError> {
    stream.set_read_timeout(Some(FIRST_WORDS))?;
    // Ours goes first, so that a library of another version can tell what is wrong.
    stream.write_all(&preamble())?;
    let mut theirs = [0; PREAMBLE_BYTES];
    if stream.read(&mut theirs[..1])? == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut theirs[1..])?;
    check_preamble(&theirs)?;
    let mut reader = FrameReader::new(stream.try_clone()?);
    match reader.next_message()? {
        Some(FromLibrary::Hello(hello)) => Ok(Some((hello, reader))),
        Some(_) => Err(std::io::Error::other("its first message was no hello").into()),
        None => Ok(None),
    }
}

/// Announces the process, tells it what to do, and passes on what it says. Whatever happens here, the process was
/// announced, so that its end must be too.
fn serve(
    id: ConnectionId,
    hello: &Hello,
    reader: FrameReader<UnixStream>,
    mut stream: UnixStream,
    settings: &Settings,
    events: &Events,
) -> ProcessEnd {
    let (answer, answered) = mpsc::sync_channel(1);
    let Ok(to_close) = stream.try_clone() else { return ProcessEnd::Lost };
    let connected = Event::Connected { id, hello: hello.clone(), stream: to_close, answer };
    let refused = match events.send(connected).map(|()| answered.recv()) {
        Ok(Ok(None)) => None,
        Ok(Ok(Some(why))) => Some(why),
        _ => Some("the profile has ended".to_owned()),
    };
    let words = match &refused {
        None => FromCommand::Settings(settings.clone()),
        Some(why) => FromCommand::Refused { why: why.clone() },
    };
    // The words are few, and the only failure is that the process has gone meanwhile.
    let told = encode_command(&words).is_ok_and(|frame| stream.write_all(&frame).is_ok());
    if refused.is_some() || !told || stream.set_read_timeout(None).is_err() {
        return ProcessEnd::Lost;
    }
    pass_on(id, hello, reader, events)
}

/// Messages into events, until the connection closes.
fn pass_on(id: ConnectionId, hello: &Hello, mut reader: FrameReader<UnixStream>, events: &Events) -> ProcessEnd {
    let mut end = ProcessEnd::Lost;
    loop {
        match reader.next_message() {
            Ok(Some(message)) => {
                if matches!(message, FromLibrary::Summary(_)) {
                    end = ProcessEnd::InOrder;
                }
                if events.send(Event::Message { id, message }).is_err() {
                    return end;
                }
            }
            Ok(None) => return end,
            // A process that is killed in the middle of a frame is lost as one that is killed between two.
            Err(ReceiveError::Socket(_)) => return end,
            Err(error) => {
                let complaint = format!("process {} ({}) is no longer recorded: {error}", hello.pid, hello.exe);
                let _ = events.send(Event::Complaint(complaint));
                return ProcessEnd::Lost;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreplay_protocol::PROTOCOL_VERSION;

    #[test]
    fn a_stranger_is_let_go_once_the_complaint_is_on_its_way() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (events, received) = mpsc::sync_channel(0);
        let thread = std::thread::spawn(move || receive(0, ours, &Settings::default(), &events));
        let mut other = preamble();
        other[8..12].copy_from_slice(&(PROTOCOL_VERSION + 1).to_le_bytes());
        theirs.write_all(&other).unwrap();
        theirs.read_exact(&mut other).unwrap();
        // Nobody takes the complaint yet. That the connection stays open shows only while it is waited for.
        theirs.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let early = theirs.read(&mut other).map_err(|error| error.kind());
        assert_eq!(early, Err(std::io::ErrorKind::WouldBlock));
        let Ok(Event::Complaint(text)) = received.recv() else { panic!("no complaint") };
        assert!(text.contains("come from different versions"), "{text}");
        thread.join().unwrap();
        assert_eq!(theirs.read(&mut other).unwrap(), 0);
    }
}
