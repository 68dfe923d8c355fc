//! Tables on terminals.

mod job;

use std::path::Path;

use job::{dispatch, job};
use kreplay_protocol::*;
use kreplay_report::{By, Format, Options, write_report};
use kreplay_store::{Existing, Reader, RunInfo, Writer};

fn report(write: fn(&Path), by: By, width: u16) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.kreplay");
    write(&path);
    let mut out = Vec::new();
    let options = Options { format: Format::Table, by, width: Some(width) };
    write_report(&Reader::open(&path).unwrap(), &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Two dispatches of one kernel, with long names, one pass, the same values.
fn uniform(path: &Path) {
    let run = RunInfo {
        command: vec!["./app".into()],
        directory: "/home/user".into(),
        host: "machine".into(),
        settings: Settings::default(),
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
