//! Every message survives the codec; no bytes make it panic.

use kreplay_protocol::*;
use proptest::prelude::*;

const BYTES: Bytes = Bytes {
    footprint: 1 << 30,
    write_set: 8192,
    captured: TierBytes { device: 1, host: 2 },
    restored: TierBytes { device: 4, host: 5 },
    compared: 6,
    staging_high_water: 77,
    device_held: 8,
};

const PHASES: Phases = Phases { drain: 1, capture: 2, passes: 3, compare: 4, restore: 5, verify: 6, commit: 7 };

fn dispatch() -> Dispatch {
    Dispatch {
        number: 7,
        agent: 1,
        kernel: 3,
        grid: [4, 2, 1],
        block: [256, 1, 1],
        stream: 9,
        thread: 4242,
        argument_bytes: Some(40),
        start_ns: 100,
        end_ns: 900,
        outcome: Outcome::Declined,
        reason: Some("graph_launch".into()),
        detail: "said so".into(),
        plan: Some(0),
        passes_asked: 3,
        passes_done: 1,
        window: Some(5),
        write_set: vec![Range { base: 0x7f00_0000_0000, bytes: 8192 }],
        write_set_cut: false,
        bytes: BYTES,
        phases: PHASES,
        divergence: Some(Divergence {
            kind: DivergenceKind::Escaped,
            pass: Some(2),
            range: Range { base: 4096, bytes: 4096 },
            bytes: 8192,
        }),
        audit: Some(Audit { kind: AuditKind::Reach, surprise_bytes: 12 }),
        notes: vec!["Trust is off.".into()],
    }
}

fn every_message() -> Vec<FromLibrary> {
    vec![
        FromLibrary::Hello(Hello {
            pid: 1,
            parent: 2,
            exe: "/bin/true".into(),
            argv: vec!["true".into(), String::new()],
            start_unix_ns: u64::MAX,
            library_version: "0.1.0".into(),
        }),
        FromLibrary::Agent(Agent {
            number: 1,
            name: "gfx90a".into(),
            chip: "gfx90a".into(),
            backend: "hsa".into(),
            simulated: true,
            memory_bytes: Some(64 << 30),
        }),
        FromLibrary::Counter(Counter { number: 0, name: "SQ_WAVES".into(), unit: "wave".into(), block: "SQ".into() }),
        FromLibrary::Plan(Plan {
            number: 0,
            agent: 1,
            passes: vec![PlanPass { counters: vec![0], way: Way::Sampling, price_ns: 2500 }],
        }),
        FromLibrary::Kernel(Kernel { number: 3, name: "scale(float*)".into() }),
        FromLibrary::Window(Window {
            number: 5,
            agent: 1,
            kind: WindowKind::Batch,
            dispatches: 12,
            operations: 4,
            closed_by: "full".into(),
            bytes: BYTES,
            phases: PHASES,
            clock_mhz: Some(1755),
        }),
        FromLibrary::Dispatch(Box::new(dispatch())),
        FromLibrary::Readings(Readings {
            dispatch: 7,
            pass: None,
            values: vec![
                Reading { counter: 0, instance: 0, value: Value::Count(u64::MAX), derived: false, bound: None },
                Reading { counter: 0, instance: 1, value: Value::Real(-0.5), derived: true, bound: Some(0.125) },
            ],
        }),
        FromLibrary::Note(Note { dispatches: vec![7, u64::MAX], text: "values are lost".into() }),
        FromLibrary::Warning(Warning { code: "no_backing".into(), text: "No room.".into() }),
        FromLibrary::Summary(Summary { declined: vec![("no_backing".into(), 2)], ..Summary::default() }),
    ]
}

/// A message that is new has no place here, and must be among [`every_message`] too.
fn place(message: &FromLibrary) -> usize {
    match message {
        FromLibrary::Hello(_) => 0,
        FromLibrary::Agent(_) => 1,
        FromLibrary::Counter(_) => 2,
        FromLibrary::Plan(_) => 3,
        FromLibrary::Kernel(_) => 4,
        FromLibrary::Window(_) => 5,
        FromLibrary::Dispatch(_) => 6,
        FromLibrary::Readings(_) => 7,
        FromLibrary::Note(_) => 8,
        FromLibrary::Warning(_) => 9,
        FromLibrary::Summary(_) => 10,
    }
}

#[test]
fn every_message_survives_a_frame() {
    assert_eq!(every_message().iter().map(place).collect::<Vec<_>>(), (0..=10).collect::<Vec<_>>());
    let mut stream = Vec::new();
    for message in every_message() {
        stream.extend(encode(&message).unwrap());
    }
    let mut reader = FrameReader::new(stream.as_slice());
    for message in every_message() {
        assert_eq!(reader.next_message().unwrap(), Some(message));
    }
    assert_eq!(reader.next_message().unwrap(), None);
}

#[test]
fn settings_survive_a_frame() {
    let settings = FromCommand::Settings(Settings {
        filters: Filters { kernel: Some("a|b".into()), exclude: None, skip: 3, count: Some(4) },
        counters: vec!["SQ_WAVES".into()],
        ..Settings::default()
    });
    let frame = encode_command(&settings).unwrap();
    assert_eq!(read_command(&mut frame.as_slice()).unwrap(), Some(settings));
}

#[test]
fn every_cut_and_every_extra_byte_is_an_error() {
    for message in every_message() {
        let frame = encode(&message).unwrap();
        let payload = &frame[4..];
        for end in 0..payload.len() {
            assert!(decode(&payload[..end]).is_err(), "{message:?} cut at {end} was accepted");
        }
        let mut longer = payload.to_vec();
        longer.push(0);
        assert_eq!(decode(&longer), Err(DecodeError::TrailingBytes { bytes: longer.len(), extra: 1 }));
    }
}

#[test]
fn a_connection_that_breaks_inside_a_frame_is_told_from_one_that_closes() {
    let frame = encode(&every_message()[0]).unwrap();
    for end in 1..frame.len() {
        let got = read_library(&mut &frame[..end]);
        assert!(matches!(got, Err(ReceiveError::Socket(_))), "cut at {end}: {got:?}");
    }
    assert_eq!(read_library(&mut [].as_slice()).unwrap(), None);
}

#[test]
fn a_frame_that_announces_too_much_is_refused_before_it_is_read() {
    let mut bytes = (MAX_FRAME as u32 + 1).to_le_bytes().to_vec();
    bytes.extend([0; 16]);
    let got = read_library(&mut bytes.as_slice());
    assert!(matches!(got, Err(ReceiveError::Decode(DecodeError::TooLong { .. }))), "{got:?}");
}

#[test]
fn a_message_that_is_too_long_cannot_be_encoded() {
    let message = FromLibrary::Warning(Warning { code: String::new(), text: "x".repeat(MAX_FRAME) });
    assert!(matches!(encode(&message), Err(DecodeError::TooLong { .. })));
}

#[test]
fn the_longest_bounded_record_fits_into_a_frame() {
    let mut longest = dispatch();
    longest.write_set = vec![Range { base: u64::MAX, bytes: u64::MAX }; MAX_RANGES];
    encode(&FromLibrary::Dispatch(Box::new(longest))).unwrap();
}

proptest! {
    #[test]
    fn any_bytes_decode_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = decode(&bytes);
        let _ = decode_command(&bytes);
    }

    #[test]
    fn damaged_messages_decode_or_fail(which in 0usize..10, flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        let mut payload = encode(&every_message()[which]).unwrap()[4..].to_vec();
        for (at, bits) in flips {
            let at = at % payload.len();
            payload[at] ^= bits;
        }
        if let Ok(message) = decode(&payload) {
            // Whatever was accepted is a message: it can be said again.
            encode(&message).unwrap();
        }
    }
}
