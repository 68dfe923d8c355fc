//! What the command receives of a program, and what the program notices of the command: nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kreplay_engine::{
    AgentDescription, AgentId, AgentRecord, Capabilities, Decline, DispatchId, DispatchRecord, Geometry, KernelInfo,
    Outcome, Plan, PlannedCounter, PlannedPass, Reading, Recorder, Value, Way,
};
use kreplay_protocol::{FromLibrary, Settings};
use kreplay_session::{Backend, Session};

use crate::command::Command;

fn agent() -> AgentRecord {
    AgentRecord {
        description: AgentDescription {
            id: AgentId(4),
            name: "Software GPU".into(),
            chip: "gfx90a".into(),
            simulated: true,
            capabilities: Capabilities::default(),
        },
        memory: None,
        plan: Plan {
            passes: vec![PlannedPass {
                index: 0,
                counters: vec![PlannedCounter { name: "SQ_WAVES".into(), block: "SQ".into(), unit: "wave".into() }],
                way: Way::Ranges,
                price: Duration::from_micros(3),
            }],
        },
    }
}

fn dispatch(id: u64, outcome: Outcome) -> DispatchRecord {
    DispatchRecord {
        id: DispatchId(id),
        agent: AgentId(4),
        kernel: KernelInfo { key: 1, name: "scale".into() },
        geometry: Geometry { groups: [2, 1, 1], items: [64, 1, 1] },
        stream: 1,
        argument_bytes: Some(16),
        thread: 1,
        window: None,
        outcome,
        passes_asked: 1,
        passes_done: 1,
        divergence: None,
        audit: None,
        phases: Default::default(),
        bytes: Default::default(),
        write_set: None,
        start: Duration::ZERO,
        notes: Vec::new(),
    }
}

fn reading(pass: u32, value: u64) -> Reading {
    Reading {
        dispatch: 0,
        pass,
        counter: "SQ_WAVES".into(),
        unit: "wave".into(),
        value: Value::Count(value),
        derived: false,
        bound: Some(0.5),
    }
}

/// Runs `program` with a session for the software GPU, and gives all that the command received.
fn messages(program: impl FnOnce(&Session) + Send + 'static) -> Vec<FromLibrary> {
    let command = Command::new();
    let path = command.path();
    let program = std::thread::spawn(move || {
        let session = Session::connect(&path, Backend::Hsa).unwrap().expect("the software GPU is the HSA backend's");
        program(&session);
        session.finish();
        assert!(!session.alive());
    });
    let (_stream, mut reader, hello) = command.serve(Settings::default());
    let mut all = vec![hello];
    while let Some(message) = reader.next_message().unwrap() {
        all.push(message);
    }
    program.join().unwrap();
    all
}

#[test]
fn everything_is_described_before_it_is_named_and_once() {
    let all = messages(|session| {
        let recorder = session.recorder();
        recorder.agent(agent());
        for id in 0..2 {
            recorder.dispatch(dispatch(id, Outcome::Replayed));
            recorder.readings(DispatchId(id), vec![reading(0, 7), reading(1, 8)]);
        }
        recorder.lost(&[DispatchId(0), DispatchId(1)], "somebody came".into());
    });
    let kinds: Vec<&str> = all
        .iter()
        .map(|message| match message {
            FromLibrary::Hello(hello) => {
                assert_eq!(hello.pid, std::process::id());
                "hello"
            }
            FromLibrary::Agent(agent) => {
                assert!(agent.simulated);
                "agent"
            }
            FromLibrary::Counter(_) => "counter",
            FromLibrary::Plan(_) => "plan",
            FromLibrary::Kernel(_) => "kernel",
            FromLibrary::Window(_) => "window",
            FromLibrary::Dispatch(_) => "dispatch",
            FromLibrary::Readings(readings) => {
                assert_eq!(readings.values.len(), 1);
                assert_eq!(readings.values[0].bound, Some(0.5));
                "readings"
            }
            FromLibrary::Note(note) => {
                assert_eq!((&note.dispatches[..], note.text.as_str()), (&[0, 1][..], "somebody came"));
                "note"
            }
            FromLibrary::Warning(_) => "warning",
            FromLibrary::Summary(_) => "summary",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "hello", "agent", "counter", "plan", "kernel", "dispatch", "readings", "readings", "dispatch", "readings",
            "readings", "note", "summary"
        ]
    );
}

#[test]
fn a_note_on_many_dispatches_goes_into_several_messages() {
    let all = messages(|session| {
        let dispatches: Vec<DispatchId> = (0..5_000).map(DispatchId).collect();
        session.recorder().lost(&dispatches, "somebody came".into());
    });
    let notes: Vec<_> = all
        .iter()
        .filter_map(|message| match message {
            FromLibrary::Note(note) => Some(&note.dispatches[..]),
            _ => None,
        })
        .collect();
    assert!(notes.len() > 1);
    assert_eq!(notes.concat(), (0..5_000).collect::<Vec<u64>>());
}

#[test]
fn declines_are_counted_all_and_explained_once() {
    let all = messages(|session| {
        let recorder = session.recorder();
        recorder.agent(agent());
        for id in 0..3 {
            let outcome = Outcome::Declined { reason: Decline::NoBacking, detail: "too big".into() };
            recorder.dispatch(dispatch(id, outcome));
            recorder.not_selected(AgentId(4));
        }
        recorder.warn("full_copy", "a region is copied whole".into());
        recorder.warn("full_copy", "a region is copied whole".into());
    });
    let warnings: Vec<&str> = all
        .iter()
        .filter_map(|message| match message {
            FromLibrary::Warning(warning) => Some(warning.code.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(warnings, ["no_backing", "full_copy"]);
    let Some(FromLibrary::Summary(summary)) = all.last() else { panic!("no summary: {all:?}") };
    assert_eq!(summary.declined, [("no_backing".to_owned(), 3)]);
    assert_eq!(summary.not_selected, 3);
    assert_eq!(summary.lost_records, 0);
}

#[test]
fn a_record_survives_a_process_that_ends_at_once() {
    // The session is dropped without `finish`, as if the process had been killed after the record.
    let command = Command::new();
    let path = command.path();
    let program = std::thread::spawn(move || {
        let session = Session::connect(&path, Backend::Hsa).unwrap().unwrap();
        session.recorder().dispatch(dispatch(9, Outcome::Counted));
    });
    let (_stream, mut reader, _) = command.serve(Settings::default());
    program.join().unwrap();
    let mut dispatches = 0;
    while let Some(message) = reader.next_message().unwrap() {
        assert!(!matches!(message, FromLibrary::Summary(_)));
        dispatches += u32::from(matches!(message, FromLibrary::Dispatch(_)));
    }
    assert_eq!(dispatches, 1);
}

#[test]
fn the_program_goes_on_when_the_command_dies() {
    let command = Command::new();
    let path = command.path();
    let program = std::thread::spawn(move || {
        let session = Session::connect(&path, Backend::Hsa).unwrap().unwrap();
        let recorder = session.recorder();
        let mut id = 0;
        while session.alive() {
            recorder.dispatch(dispatch(id, Outcome::Replayed));
            id += 1;
        }
        // Records after the death cost nothing and harm nothing.
        recorder.dispatch(dispatch(id, Outcome::Replayed));
        session.finish();
    });
    let (stream, reader, _) = command.serve(Settings::default());
    drop(reader);
    drop(stream);
    program.join().unwrap();
}

#[test]
fn threads_share_one_connection() {
    let all = messages(|session| {
        let recorder = session.recorder();
        recorder.agent(agent());
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let recorder = Arc::clone(&recorder);
                scope.spawn(move || {
                    for id in 0..250 {
                        recorder.dispatch(dispatch(thread * 1000 + id, Outcome::Replayed));
                    }
                });
            }
        });
    });
    let mut seen = BTreeSet::new();
    for message in &all {
        if let FromLibrary::Dispatch(dispatch) = message {
            assert!(seen.insert(dispatch.number));
        }
    }
    assert_eq!(seen.len(), 1000);
    assert_eq!(all.iter().filter(|message| matches!(message, FromLibrary::Kernel(_))).count(), 1);
}
