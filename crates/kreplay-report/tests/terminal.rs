//! Tables on terminals.

mod job;

use std::path::Path;

use job::{dispatch, job};
use kreplay_protocol::*;
use kreplay_report::{By, Format, Options, write_report, write_summary};
use kreplay_store::{Existing, ProcessId, Reader, RunInfo, Writer};

fn report(write: fn(&Path), by: By, width: u16) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.kreplay");
    write(&path);
    let mut out = Vec::new();
    let options = Options { format: Format::Table, by, width: Some(width) };
    write_report(&Reader::open(&path).unwrap(), &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A file of one process, and its number.
fn one_process(path: &Path, settings: Settings) -> (Writer, ProcessId) {
    let run = RunInfo {
        command: vec!["./app".into()],
        directory: "/home/user".into(),
        host: "machine".into(),
        settings,
        start_unix_ns: 1_700_000_000_000_000_000,
    };
    let mut writer = Writer::create(path, Existing::Refuse, &run).unwrap();
    let hello = Hello {
        pid: 100,
        parent: 1,
        exe: "/home/user/app".into(),
        argv: run.command.clone(),
        start_unix_ns: 1_700_000_000_000_000_000,
        library_version: "0.1.0".into(),
    };
    let process = writer.add_process(&hello).unwrap();
    (writer, process)
}

/// Two dispatches of one kernel, with long names, one pass, the same values.
fn uniform(path: &Path) {
    let (mut writer, process) = one_process(path, Settings::default());
    let counter = |number, name: &str, unit: &str| {
        FromLibrary::Counter(Counter { number, name: name.into(), unit: unit.into(), block: String::new() })
    };
    let kernel =
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1>>(int)";
    let mut messages = vec![
        FromLibrary::Agent(Agent {
            number: 1,
            name: "A GPU".into(),
            chip: "sm_90".into(),
            backend: "cuda".into(),
            simulated: false,
            memory_bytes: Some(1 << 34),
        }),
        counter(0, "dram__bytes_read.sum", "byte"),
        counter(1, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request"),
        FromLibrary::Plan(Plan {
            number: 0,
            agent: 1,
            passes: vec![PlanPass { counters: vec![0, 1], way: Way::Ranges, price_ns: 1_000 }],
        }),
        FromLibrary::Kernel(Kernel { number: 0, name: kernel.into() }),
    ];
    let value =
        |counter, count| Reading { counter, instance: 0, value: Value::Count(count), derived: false, bound: None };
    for number in 1..=2 {
        messages.push(FromLibrary::Dispatch(Box::new(Dispatch {
            passes_asked: 1,
            passes_done: 1,
            ..dispatch(number, 0)
        })));
        let values = vec![value(0, 8_589_934_592), value(1, 4)];
        messages.push(FromLibrary::Readings(Readings { dispatch: number, pass: Some(0), values }));
    }
    for message in &messages {
        writer.add(process, message).unwrap();
    }
    writer.commit().unwrap();
}

#[test]
fn what_all_rows_share_is_said_once_and_counters_stay_whole_by_kernel() {
    insta::assert_snapshot!(report(uniform, By::Kernel, 80));
}

#[test]
fn what_all_rows_share_is_said_once_and_counters_stay_whole_by_dispatch() {
    insta::assert_snapshot!(report(uniform, By::Dispatch, 80));
}

#[test]
fn table_by_kernel_in_80_columns() {
    insta::assert_snapshot!(report(job, By::Kernel, 80));
}

#[test]
fn table_by_dispatch_in_80_columns() {
    insta::assert_snapshot!(report(job, By::Dispatch, 80));
}

#[test]
fn a_wide_terminal_has_the_kernels_beside_their_values() {
    let text = report(job, By::Kernel, 160);
    let row = text.lines().find(|line| line.starts_with("scale(")).unwrap();
    assert!(row.contains("without values     0  SQ_WAVES"), "{row}");
    assert!(text.contains("Every value: simulated.\n"), "{text}");
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    for (by, width) in [(By::Kernel, 100), (By::Kernel, 60), (By::Dispatch, 100), (By::Dispatch, 60)] {
        let text = report(job, by, width);
        for line in text.lines() {
            assert!(line.chars().count() <= width.into(), "{line}");
        }
        for name in ["SQ_WAVES", "TCC_HIT", "L2_HIT", "request", "sampling", "graph_launch"] {
            assert!(text.contains(name), "{name} is broken in {text}");
        }
        assert!(!text.contains('\u{1b}'), "an escape sequence of a kernel's name reached the terminal");
    }
}

/// A job of fifteen kernels with one dispatch each: the last ones in windows of their own, the others in batch windows that took
/// `batch` nanoseconds.
fn many_kernels(path: &Path, batch: u64, own: u64) {
    let settings = Settings { window: WindowChoice::Batch, ..Settings::default() };
    let (mut writer, process) = one_process(path, settings);
    let mut messages = vec![FromLibrary::Window(Window {
        number: 100,
        agent: 1,
        kind: WindowKind::Batch,
        dispatches: 15,
        operations: 0,
        closed_by: "full".into(),
        bytes: Bytes::default(),
        phases: Phases { passes: batch, ..Phases::default() },
        clock_mhz: None,
    })];
    for number in 0..15 {
        messages.push(FromLibrary::Kernel(Kernel { number, name: format!("kernel_{number:02}") }));
        let phases = Phases { passes: if number >= 3 { own } else { 0 }, ..Phases::default() };
        messages.push(FromLibrary::Dispatch(Box::new(Dispatch { phases, ..dispatch(number.into(), number) })));
    }
    for message in &messages {
        writer.add(process, message).unwrap();
    }
    writer.commit().unwrap();
}

#[test]
fn a_summary_says_of_what_it_shows_no_more_than_is_known() {
    for (batch, own, costly) in
        [(1_000, 0, false), (0, 0, false), (1_000_000, 10, false), (100, 10, true), (0, 5, true)]
    {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.kreplay");
        many_kernels(&path, batch, own);
        let mut out = Vec::new();
        write_summary(&Reader::open(&path).unwrap(), Some(200), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (said, other) = ("these 12 took most of the windows' time.", "these are the first 12.");
        assert_eq!((text.contains(said), text.contains(other)), (costly, !costly), "{batch} {own}: {text}");
        assert!(text.contains("3 more kernels are in the report"), "{text}");
        assert_eq!(
            (text.contains("kernel_00"), text.contains("kernel_14")),
            (!costly, costly),
            "{batch} {own}: {text}"
        );
        assert!(
            text.contains("windows (--window batch): 1 batch with 15.0 kernels each (closed by: full 1)"),
            "{text}"
        );
    }
}
