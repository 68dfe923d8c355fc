//! What is written is read again, all of it and nothing else.

mod common;

use common::*;
use kreplay_protocol::*;
use kreplay_store::*;

fn readings(dispatch: u64, pass: Option<u32>, value: Value) -> FromLibrary {
    FromLibrary::Readings(Readings {
        dispatch,
        pass,
        values: vec![Reading {
            counter: 0,
            instance: 0,
            value,
            derived: pass.is_none(),
            bound: pass.is_none().then_some(0.25),
        }],
    })
}

fn dispatches(reader: &Reader) -> Vec<DispatchRow> {
    let mut all = Vec::new();
    reader
        .for_each_dispatch(|row| {
            all.push(row);
            Ok::<_, StoreError>(())
        })
        .unwrap();
    all
}

#[test]
fn a_job_of_two_processes_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a b?#%.kreplay");
    let mut writer = create(&path);
    for pid in [100, 200] {
        let process = writer.add_process(&hello(pid)).unwrap();
        for message in descriptions() {
            writer.add(process, &message).unwrap();
        }
        writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(1)))).unwrap();
        writer
            .add(
                process,
                &FromLibrary::Window(Window {
                    number: 7,
                    agent: 1,
                    kind: WindowKind::Batch,
                    dispatches: 1,
                    operations: 2,
                    closed_by: "full".into(),
                    bytes: dispatch(1).bytes,
                    phases: dispatch(1).phases,
                    clock_mhz: Some(1980),
                }),
            )
            .unwrap();
        // Later passes come in any order, and later than anything else.
        writer.add(process, &readings(1, Some(1), Value::Count(u64::from(pid) + 1))).unwrap();
        writer.add(process, &readings(1, Some(0), Value::Count(u64::from(pid)))).unwrap();
        writer.add(process, &readings(1, None, Value::Real(0.5))).unwrap();
        writer
            .add(process, &FromLibrary::Summary(Summary { replayed: 1, not_selected: 9, ..Summary::default() }))
            .unwrap();
        writer.end_process(process, if pid == 100 { ProcessEnd::InOrder } else { ProcessEnd::Lost }).unwrap();
    }
    writer.finish(RunEnd { end_unix_ns: 5, exit_code: Some(3), ..RunEnd::default() }).unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "the file does not stand alone");

    let reader = Reader::open(&path).unwrap();
    let run = reader.run().unwrap();
    assert_eq!(run.command, run_info().command);
    assert_eq!(run.state, RunState::Complete);
    assert_eq!((run.exit_code, run.exit_signal), (Some(3), None));
    assert_eq!(run.settings["counters"][0], "SQ_WAVES");

    let processes = reader.processes().unwrap();
    assert_eq!(
        processes.iter().map(|row| (row.pid, row.state)).collect::<Vec<_>>(),
        [(100, ProcessState::Ended), (200, ProcessState::Lost)]
    );
    assert_eq!(processes[0].not_selected, Some(9));
    assert_eq!((processes[0].records, processes[0].records_made), (1, Some(1)));
    assert_eq!(reader.agents().unwrap().len(), 2);
    assert_eq!(reader.plan_passes().unwrap().len(), 4);
    assert_eq!(reader.plan_passes().unwrap()[1].counters[0].name, "SQ_WAVES");
    assert_eq!(reader.windows().unwrap()[1].phases, dispatch(1).phases);

    let all = dispatches(&reader);
    assert_eq!(all.len(), 2);
    for (row, pid) in all.iter().zip([100u64, 200]) {
        let wrote = dispatch(1);
        assert_eq!(row.kernel, "scale");
        assert!(row.simulated);
        assert_eq!((row.grid, row.block, row.stream), (wrote.grid, wrote.block, wrote.stream));
        assert_eq!((row.bytes, row.phases, row.divergence), (wrote.bytes, wrote.phases, wrote.divergence));
        assert_eq!((&row.write_set, &row.notes), (&wrote.write_set, &wrote.notes));
        assert_eq!(row.window_kind, Some(WindowKind::Batch));
        assert_eq!(row.audit, wrote.audit);
        let values: Vec<_> = row.readings.iter().map(|reading| (reading.pass, reading.value)).collect();
        let how: Vec<_> = row.readings.iter().map(|reading| (reading.way, reading.bound)).collect();
        assert_eq!(how, [(None, Some(0.25)), (Some(Way::Ranges), None), (Some(Way::Ranges), None)]);
        assert_eq!(values, [(None, Value::Real(0.5)), (Some(0), Value::Count(pid)), (Some(1), Value::Count(pid + 1))]);
    }
}

#[test]
fn passes_are_neither_dropped_nor_summed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("passes.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    for message in descriptions() {
        writer.add(process, &message).unwrap();
    }
    writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(1)))).unwrap();
    for pass in 0..3 {
        writer.add(process, &readings(1, Some(pass), Value::Count(512))).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
    let all = dispatches(&Reader::open(&path).unwrap());
    assert_eq!(all.len(), 1);
    assert_eq!(
        all[0].readings.iter().map(|reading| (reading.pass, reading.value)).collect::<Vec<_>>(),
        [(Some(0), Value::Count(512)), (Some(1), Value::Count(512)), (Some(2), Value::Count(512))]
    );
}

#[test]
fn a_note_may_come_after_its_dispatches_and_stands_behind_theirs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    for message in descriptions() {
        writer.add(process, &message).unwrap();
    }
    for (number, notes) in [(1, vec!["first".to_owned(), "second".to_owned()]), (2, Vec::new()), (3, Vec::new())] {
        writer.add(process, &FromLibrary::Dispatch(Box::new(Dispatch { notes, ..dispatch(number) }))).unwrap();
    }
    for text in ["lost", "lost again"] {
        writer.add(process, &FromLibrary::Note(Note { dispatches: vec![1, 2], text: text.into() })).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
    let all = dispatches(&Reader::open(&path).unwrap());
    let notes: Vec<_> = all.iter().map(|row| row.notes.iter().map(String::as_str).collect::<Vec<_>>()).collect();
    assert_eq!(notes, [vec!["first", "second", "lost", "lost again"], vec!["lost", "lost again"], vec![]]);
}

#[test]
fn a_record_that_comes_twice_is_told_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("twice.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    for message in descriptions() {
        writer.add(process, &message).unwrap();
    }
    for value in [5, 6] {
        writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(1)))).unwrap();
        writer.add(process, &readings(1, Some(0), Value::Count(value))).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
    let reader = Reader::open(&path).unwrap();
    let all = dispatches(&reader);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].readings.len(), 1);
    assert_eq!(all[0].readings[0].value, Value::Count(5));
    let codes: Vec<_> = reader.warnings().unwrap().into_iter().map(|row| row.code).collect();
    assert_eq!(codes, ["duplicate_dispatch", "duplicate_reading"]);
}

#[test]
fn declines_are_counted_with_and_without_an_explanation() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("declines.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    for (number, reason) in [(1, "no_backing"), (2, "no_backing"), (3, "collective")] {
        let declined = Dispatch { outcome: Outcome::Declined, reason: Some(reason.into()), ..dispatch(number) };
        writer.add(process, &FromLibrary::Dispatch(Box::new(declined))).unwrap();
    }
    let warning = Warning { code: "no_backing".into(), text: "No room; make some.".into() };
    writer.add(process, &FromLibrary::Warning(warning)).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let rows = Reader::open(&path).unwrap().warnings().unwrap();
    let got: Vec<_> = rows.iter().map(|row| (row.code.as_str(), row.text.as_str(), row.dispatches)).collect();
    assert_eq!(got, [("collective", "", 1), ("no_backing", "No room; make some.", 2)]);
}

#[test]
fn extreme_values_keep_what_can_be_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(u64::MAX)))).unwrap();
    let values = [
        Value::Count(0),
        Value::Count((1 << 53) + 1),
        Value::Count(i64::MAX as u64),
        Value::Count(u64::MAX),
        Value::Real(-0.25),
        Value::Real(f64::INFINITY),
        Value::Real(f64::NAN),
    ];
    for (pass, value) in (0..).zip(values) {
        writer.add(process, &readings(u64::MAX, Some(pass), value)).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
    let all = dispatches(&Reader::open(&path).unwrap());
    assert_eq!(all[0].number, u64::MAX);
    let got: Vec<_> = all[0].readings.iter().map(|reading| reading.value).collect();
    assert_eq!(got[..3], values[..3]);
    // Above 2^63 a count is rounded, and is a real number from then on.
    assert_eq!(got[3], Value::Real(u64::MAX as f64));
    assert_eq!(got[4..6], values[4..6]);
    assert!(matches!(got[6], Value::Real(real) if real.is_nan()));
    assert!(all[0].readings[0].counter.name.contains("never described"));
}

#[test]
fn real_numbers_that_are_whole_keep_their_value_and_sign() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("whole.kreplay");
    let mut writer = create(&path);
    let process = writer.add_process(&hello(1)).unwrap();
    writer.add(process, &FromLibrary::Dispatch(Box::new(dispatch(1)))).unwrap();
    let values = [-1.0, -12.0, -0.0, 3.0, -1e15, -1e18, -1e300, i64::MIN as f64];
    for (pass, value) in (0..).zip(values) {
        writer.add(process, &readings(1, Some(pass), Value::Real(value))).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
    let got: Vec<_> = dispatches(&Reader::open(&path).unwrap())[0].readings.iter().map(|row| row.value).collect();
    assert_eq!(got.iter().map(|value| value.as_f64()).collect::<Vec<_>>(), values);
    for (value, got) in values.into_iter().zip(got) {
        assert_eq!(matches!(got, Value::Real(_)), value < 0.0, "{value} is read as {got:?}: whole numbers are counts");
    }
}
