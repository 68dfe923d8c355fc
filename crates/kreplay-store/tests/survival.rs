//! What is left when the writer dies, and files that are not what they should be.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use kreplay_protocol::*;
use kreplay_store::*;
use proptest::prelude::*;

/// Every file of a directory with its content: reading must leave all of it as it was.
fn content(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

fn finished_file(path: &Path, dispatches: u64) {
    let mut writer = create(path);
    let process = writer.add_process(&hello(1)).unwrap();
    for message in descriptions() {
        writer.add(process, &message).unwrap();
    }
    for number in 0..dispatches {
        writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(number)))).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
}

fn numbers(path: &Path) -> Result<Vec<u64>, StoreError> {
    let reader = Reader::open(path)?;
    let mut all = Vec::new();
    reader.for_each_dispatch(|row| {
        all.push(row.number);
        Ok::<_, StoreError>(())
    })?;
    Ok(all)
}

#[test]
fn what_was_committed_survives_a_writer_that_stops_anywhere() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("live.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    for number in 0..50 {
        writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(number)))).unwrap();
        if number % 10 == 9 {
            writer.commit().unwrap();
            // What a reader would find if the writer were killed now: the same files, with nobody at them.
            let dead = tempfile::tempdir().unwrap();
            for (file, bytes) in content(directory.path()) {
                fs::write(dead.path().join(file.file_name().unwrap()), bytes).unwrap();
            }
            let before = content(dead.path());
            assert_eq!(numbers(&dead.path().join("live.kreplay")).unwrap(), (0..=number).collect::<Vec<_>>());
            assert_eq!(content(dead.path()), before, "reading changed something");
        }
    }
    // A live file can be read too.
    writer.commit().unwrap();
    assert_eq!(numbers(&path).unwrap().len(), 50);
    assert_eq!(Reader::open(&path).unwrap().run().unwrap().state, RunState::Recording);
}

#[test]
fn an_uncommitted_record_of_a_dead_writer_is_not_half_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("half.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(0)))).unwrap();
    assert!(writer.pending() > 0);
    assert_eq!(numbers(&path).unwrap(), Vec::<u64>::new());
}

#[test]
fn reading_a_finished_file_touches_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("done.kreplay");
    finished_file(&path, 3);
    let before = content(directory.path());
    assert_eq!(numbers(&path).unwrap(), [0, 1, 2]);
    assert_eq!(content(directory.path()), before);
}

#[test]
fn an_existing_file_is_kept_unless_told_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.kreplay");
    finished_file(&path, 1);
    let before = content(directory.path());
    assert!(matches!(Writer::create(&path, Existing::Refuse, &run_info()), Err(StoreError::Exists { .. })));
    assert_eq!(content(directory.path()), before);
    Writer::create(&path, Existing::Replace, &run_info()).unwrap().finish(RunEnd::default()).unwrap();
    assert_eq!(numbers(&path).unwrap(), Vec::<u64>::new());
}

#[test]
fn a_file_that_is_not_ours_is_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("thesis.txt");
    fs::write(&path, "do not lose this").unwrap();
    let got = Writer::create(&path, Existing::Replace, &run_info());
    assert!(matches!(got, Err(StoreError::Foreign { .. })), "{got:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "do not lose this");
}

#[test]
fn places_where_nothing_can_be_made_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("no/such/place.kreplay");
    let error = Writer::create(&path, Existing::Refuse, &run_info()).unwrap_err();
    assert!(matches!(error, StoreError::Path { .. }));
    assert!(error.to_string().contains("no/such/place.kreplay"), "{error}");
}

#[test]
fn foreign_files_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    for (bytes, expected) in [(&b""[..], "too short"), (&[b'x'; 4096][..], "not an SQLite database")] {
        fs::write(&path, bytes).unwrap();
        let error = Reader::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(other);
    assert!(Reader::open(&path).unwrap_err().to_string().contains("another program"));
    assert!(matches!(Reader::open(directory.path()), Err(StoreError::Foreign { .. })));
    assert!(matches!(Reader::open(&directory.path().join("none")), Err(StoreError::Path { .. })));
}

#[test]
fn nobody_waits_for_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        tell.send(Reader::open(&path).map(drop)).unwrap();
        tell.send(Writer::create(&path, Existing::Replace, &run_info()).map(drop)).unwrap();
    });
    for _ in 0..2 {
        let error = told.recv_timeout(std::time::Duration::from_secs(20)).expect("it waits").unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    }
}

#[test]
fn a_newer_file_is_named_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("newer.kreplay");
    finished_file(&path, 1);
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", STORE_VERSION.0 + 1).unwrap();
    drop(newer);
    let before = content(directory.path());
    let error = Reader::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::OtherVersion { found, .. } if found.0 == STORE_VERSION.0 + 1), "{error:?}");
    let replaced = Writer::create(&path, Existing::Replace, &run_info());
    assert!(matches!(replaced, Err(StoreError::OtherVersion { .. })), "{replaced:?}");
    assert_eq!(content(directory.path()), before);
}

#[test]
fn a_file_with_other_tables_than_its_version_defines_is_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("crafted.kreplay");
    finished_file(&path, 1);
    let crafted = rusqlite::Connection::open(&path).unwrap();
    crafted.execute_batch("DROP TABLE reading; CREATE VIEW reading AS SELECT * FROM dispatch").unwrap();
    drop(crafted);
    let error = Reader::open(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged { why, .. } if why.contains("reading")), "{error:?}");
}

#[test]
fn every_cut_of_a_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("whole.kreplay");
    finished_file(&path, 20);
    let whole = fs::read(&path).unwrap();
    let cut = directory.path().join("cut.kreplay");
    for len in (0..whole.len()).step_by(1021) {
        fs::write(&cut, &whole[..len]).unwrap();
        assert!(numbers(&cut).is_err(), "the first {len} of {} bytes were accepted", whole.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_files_are_read_or_refused_and_never_touched(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..8)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("flipped.kreplay");
        finished_file(&path, 3);
        let mut bytes = fs::read(&path).unwrap();
        for (at, bits) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(reader) = Reader::open(&path) {
            let _ = (reader.run(), reader.processes(), reader.agents(), reader.plan_passes(), reader.windows());
            let _ = reader.warnings();
            let _ = reader.for_each_dispatch(|_| Ok::<_, StoreError>(()));
        }
        prop_assert_eq!(content(directory.path()).into_values().collect::<Vec<_>>(), vec![bytes]);
    }
}
