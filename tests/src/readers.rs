//! One entry for every reader of bytes that come from outside. Each must answer, whatever the bytes are: with a value
//! or an error, never by a panic, by hanging or by taking memory without bound.
//!
//! The fuzz targets (`fuzz/`) and the suite of seeded mutations (`tests/suites/readers.rs`) call the same entries.

use std::io::Cursor;
use std::path::Path;

use kreplay_protocol::{
    FrameReader, FromCommand, FromLibrary, Hello, Settings, Summary, check_preamble, decode, decode_command, encode,
    encode_command, read_command,
};
use kreplay_store::{Existing, Reader, RunEnd, RunInfo, StoreError, Writer};

/// Frames of both sides, a lone payload, and the preamble. Gives the number of messages understood.
///
/// # Panics
/// When a reader panics, or a message that was read cannot be written.
pub fn protocol(bytes: &[u8]) -> usize {
    let mut understood = 0;
    let mut frames = FrameReader::new(Cursor::new(bytes));
    while let Ok(Some(message)) = frames.next_message() {
        // What was understood can be said again.
        assert!(encode(&message).is_ok(), "a message that was read does not fit into a frame");
        understood += 1;
    }
    let mut commands = Cursor::new(bytes);
    while let Ok(Some(_)) = read_command(&mut commands) {
        understood += 1;
    }
    let _ = decode(bytes);
    let _ = decode_command(bytes);
    if let Some(preamble) = bytes.first_chunk() {
        understood += usize::from(check_preamble(preamble).is_ok());
    }
    understood
}

/// Machine code of the software GPU's chip, instruction by instruction. Gives the number of instructions understood.
///
/// # Panics
/// When the decoder or the printer panics.
pub fn instructions(bytes: &[u8]) -> usize {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    // From every word, as a branch may land anywhere.
    let decoded = (0..words.len()).filter_map(|at| softgpu::isa::decode(&words[at..]).ok());
    decoded.inspect(|instruction| drop(instruction.mnemonic())).count()
}

/// A `.kreplay` file with this content; it must be left as it is. Tells whether it was read to its end.
///
/// # Panics
/// When the reader panics or changes the file, or no temporary file can be written.
pub fn store(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("run.kreplay");
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    let whole = read_all(&path).is_ok();
    assert_eq!(std::fs::read(&path).expect("the file is still there"), bytes, "the reader changed the file");
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("the folder can be read").count(),
        1,
        "a file appeared beside it"
    );
    whole
}

fn read_all(path: &Path) -> Result<(), StoreError> {
    let reader = Reader::open(path)?;
    reader.run()?;
    reader.processes()?;
    reader.agents()?;
    reader.plan_passes()?;
    reader.windows()?;
    reader.warnings()?;
    reader.for_each_dispatch(|_| Ok(()))
}

/// Valid input of [`protocol`], to begin from.
///
/// # Panics
/// When a message does not fit into a frame.
pub fn protocol_seeds() -> Vec<Vec<u8>> {
    let library = [FromLibrary::Hello(hello()), FromLibrary::Summary(Summary::default())];
    let command = [FromCommand::Settings(Settings::default()), FromCommand::Refused { why: "full".to_owned() }];
    let mut seeds: Vec<Vec<u8>> = library.iter().map(|message| encode(message).expect("it is short")).collect();
    seeds.extend(command.iter().map(|message| encode_command(message).expect("it is short")));
    seeds.push(seeds.concat());
    seeds.push(kreplay_protocol::preamble().to_vec());
    seeds
}

/// Valid input of [`store`], to begin from.
///
/// # Panics
/// When it cannot be written.
pub fn store_seed() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("seed.kreplay");
    let run = RunInfo {
        command: vec!["program".to_owned()],
        directory: "/".to_owned(),
        host: "host".to_owned(),
        settings: Settings::default(),
        start_unix_ns: 1,
    };
    let mut writer = Writer::create(&path, Existing::Refuse, &run).expect("a file can be made");
    let process = writer.add_process(&hello()).expect("a process can be added");
    writer.add(process, &FromLibrary::Summary(Summary::default())).expect("a record can be added");
    writer.finish(RunEnd::default()).expect("a run can be finished");
    std::fs::read(&path).expect("the file can be read")
}

fn hello() -> Hello {
    Hello {
        pid: 2,
        parent: 1,
        exe: "/program".to_owned(),
        argv: vec!["program".to_owned()],
        start_unix_ns: 3,
        library_version: "0".to_owned(),
    }
}
