//! What can go wrong before the first record.

use std::io::Write;

use kreplay_protocol::{Device, FromCommand, PROTOCOL_VERSION, Settings, encode_command, preamble};
use kreplay_session::{Backend, Session, SessionError};

use crate::command::Command;

#[test]
fn another_backends_profile_is_left_alone() {
    let command = Command::new();
    let path = command.path();
    let program = std::thread::spawn(move || Session::connect(&path, Backend::Hsa).unwrap().is_none());
    let (_stream, mut reader, _) = command.serve(Settings { device: Device::Cuda, ..Settings::default() });
    assert_eq!(reader.next_message().unwrap(), None);
    assert!(program.join().unwrap());
}

#[test]
fn nobody_at_the_socket_is_an_error_not_a_wait() {
    let directory = tempfile::tempdir().unwrap();
    let got = Session::connect(&directory.path().join("none"), Backend::Hsa);
    assert!(matches!(got, Err(SessionError::NoCommand { .. })));
}

#[test]
fn another_version_is_an_error() {
    let command = Command::new();
    let path = command.path();
    let program = std::thread::spawn(move || Session::connect(&path, Backend::Hsa).map(drop));
    let (mut stream, _) = command.listener.accept().unwrap();
    let mut other = preamble();
    other[8..12].copy_from_slice(&(PROTOCOL_VERSION + 1).to_le_bytes());
    stream.write_all(&other).unwrap();
    let error = program.join().unwrap().unwrap_err();
    assert!(error.to_string().contains(&format!("version {}", PROTOCOL_VERSION + 1)), "{error}");
}

#[test]
fn a_command_that_refuses_is_told_apart() {
    let command = Command::new();
    let path = command.path();
    let program = std::thread::spawn(move || Session::connect(&path, Backend::Hsa).map(drop));
    let (mut stream, _) = command.listener.accept().unwrap();
    stream.write_all(&preamble()).unwrap();
    let refusal = FromCommand::Refused { why: "the disk is full".into() };
    stream.write_all(&encode_command(&refusal).unwrap()).unwrap();
    assert!(matches!(program.join().unwrap(), Err(SessionError::Refused { why }) if why == "the disk is full"));
}
