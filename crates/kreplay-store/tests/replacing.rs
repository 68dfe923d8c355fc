//! What becomes of a file whose name another run takes.

#[expect(dead_code, reason = "what other tests fill files with")]
mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use kreplay_store::*;

fn content(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// The files of a run whose command was killed: what it recorded is in the log.
fn killed_run(path: &Path) {
    let live = tempfile::tempdir().unwrap();
    let mut writer = create(&live.path().join(path.file_name().unwrap()));
    writer.add_process(&hello(1)).unwrap();
    for (file, bytes) in content(live.path()) {
        fs::write(path.with_file_name(file.file_name().unwrap()), bytes).unwrap();
    }
}

fn processes(path: &Path) -> usize {
    Reader::open(path).unwrap().processes().unwrap().len()
}

#[test]
fn what_is_replaced_is_there_again_when_the_run_does_not_begin() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.kreplay");
    killed_run(&path);
    let before = content(directory.path());
    assert!(before.len() > 1, "a killed run leaves a log");
    let draft = Draft::create(&path, Existing::Replace, &run_info()).unwrap();
    assert_eq!(processes(&path), 0, "the new file has the name");
    drop(draft);
    assert_eq!(content(directory.path()), before);
    assert_eq!(processes(&path), 1);
}

#[test]
fn what_is_replaced_goes_with_its_log_when_the_run_begins() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.kreplay");
    killed_run(&path);
    Draft::create(&path, Existing::Replace, &run_info()).unwrap().keep().finish(RunEnd::default()).unwrap();
    assert_eq!(processes(&path), 0);
    assert_eq!(content(directory.path()).into_keys().collect::<Vec<_>>(), [path]);
}

#[test]
fn a_run_that_does_not_begin_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    drop(Draft::create(&directory.path().join("new.kreplay"), Existing::Refuse, &run_info()).unwrap());
    assert_eq!(content(directory.path()), BTreeMap::new());
}

#[test]
fn a_name_that_was_taken_meanwhile_is_left_to_who_took_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.kreplay");
    create(&path).finish(RunEnd::default()).unwrap();
    let old = fs::read(&path).unwrap();
    let draft = Draft::create(&path, Existing::Replace, &run_info()).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "of somebody who is faster").unwrap();
    drop(draft);
    assert_eq!(fs::read_to_string(&path).unwrap(), "of somebody who is faster");
    let aside = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).find(|other| *other != path);
    assert_eq!(fs::read(aside.unwrap().join("mine.kreplay")).unwrap(), old, "it is kept where it was moved to");
}

#[test]
fn an_empty_file_and_the_journal_of_its_first_moment_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("begun.kreplay");
    let journal = directory.path().join("begun.kreplay-journal");
    fs::write(&path, "").unwrap();
    fs::write(&journal, [0; 512]).unwrap();
    assert!(matches!(Writer::create(&path, Existing::Refuse, &run_info()), Err(StoreError::Exists { .. })));
    Writer::create(&path, Existing::Replace, &run_info()).unwrap().finish(RunEnd::default()).unwrap();
    assert_eq!(processes(&path), 0);
    assert!(!journal.exists());
    // What somebody else put beside an empty file is not ours.
    fs::write(&path, "").unwrap();
    fs::write(&journal, "dear diary").unwrap();
    let error = Writer::create(&path, Existing::Replace, &run_info()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(&journal).unwrap(), "dear diary");
}
