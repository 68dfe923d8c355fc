//! One small job: replayed, counted, declined, divergent, derived, two processes.

use std::path::Path;

use kreplay_protocol::*;
use kreplay_store::{Existing, ProcessEnd, RunEnd, RunInfo, Writer};

/// A dispatch that was replayed in two passes.
pub(crate) fn dispatch(number: u64, kernel: u32) -> Dispatch {
    Dispatch {
        number,
        agent: 1,
        kernel,
        grid: [16, 2, 1],
        block: [64, 1, 1],
        stream: 5,
        thread: 3,
        argument_bytes: Some(24),
        start_ns: 1_000 * number,
        end_ns: 1_000 * number + 500,
        outcome: Outcome::Replayed,
        reason: None,
        detail: String::new(),
        plan: Some(0),
        passes_asked: 2,
        passes_done: 2,
        window: Some(number),
        write_set: Vec::new(),
        write_set_cut: false,
        bytes: Bytes {
            footprint: 3 << 20,
            write_set: 8192,
            captured: TierBytes { device: 3 << 20, host: 0 },
            restored: TierBytes { device: 8192, host: 0 },
            compared: 6 << 20,
            staging_high_water: 0,
            device_held: 3 << 20,
        },
        phases: Phases {
            drain: 1_000,
            capture: 2_000,
            passes: 3_000,
            compare: 500,
            restore: 400,
            verify: 300,
            commit: 200,
        },
        divergence: None,
        audit: None,
        notes: Vec::new(),
    }
}

/// Writes it into a file.
pub(crate) fn job(path: &Path) {
    let run = RunInfo {
        command: vec!["./app".into(), "8".into()],
        directory: "/home/user".into(),
        host: "machine".into(),
        settings: Settings { counters: vec!["SQ_WAVES".into(), "L2_HIT".into()], ..Settings::default() },
        start_unix_ns: 1_700_000_000_000_000_000,
    };
    let mut writer = Writer::create(path, Existing::Refuse, &run).unwrap();
    for pid in [100, 101] {
        let hello = Hello {
            pid,
            parent: 1,
            exe: "/home/user/app".into(),
            argv: run.command.clone(),
            start_unix_ns: 1_700_000_000_000_000_000,
            library_version: "0.1.0".into(),
        };
        let process = writer.add_process(&hello).unwrap();
        let counter = |number, name: &str, unit: &str| {
            FromLibrary::Counter(Counter { number, name: name.into(), unit: unit.into(), block: "SQ".into() })
        };
        let mut messages = vec![
            FromLibrary::Agent(Agent {
                number: 1,
                name: "Software GPU".into(),
                chip: "gfx90a".into(),
                backend: "hsa".into(),
                simulated: true,
                memory_bytes: Some(1 << 34),
            }),
            counter(0, "SQ_WAVES", "wave"),
            counter(1, "TCC_HIT", "request"),
            counter(2, "L2_HIT", "%"),
            FromLibrary::Plan(Plan {
                number: 0,
                agent: 1,
                passes: vec![
                    PlanPass { counters: vec![0], way: Way::Ranges, price_ns: 1_000_000 },
                    PlanPass { counters: vec![0, 1], way: Way::Sampling, price_ns: 20_000 },
                ],
            }),
            FromLibrary::Kernel(Kernel { number: 0, name: "scale(float*, \"q\", float)".into() }),
            FromLibrary::Kernel(Kernel { number: 1, name: "graph_\u{1b}[31mkernel".into() }),
        ];
        let value = |counter, value| Reading {
            counter,
            instance: 0,
            value,
            derived: counter == 2,
            bound: (counter == 1).then_some(0.05),
        };
        for number in 1..=2 {
            let mut replayed = dispatch(number, 0);
            if pid == 101 && number == 2 {
                replayed.divergence = Some(Divergence {
                    kind: DivergenceKind::Output,
                    pass: Some(1),
                    range: Range { base: 4096, bytes: 4096 },
                    bytes: 4096,
                });
            }
            messages.push(FromLibrary::Dispatch(Box::new(replayed)));
            let readings = |pass, values| FromLibrary::Readings(Readings { dispatch: number, pass, values });
            messages.push(readings(Some(0), vec![value(0, Value::Count(32 * number))]));
            messages.push(readings(Some(1), vec![value(0, Value::Count(32 * number)), value(1, Value::Count(7))]));
            messages.push(readings(None, vec![value(2, Value::Real(0.875))]));
        }
        if pid == 100 {
            messages.push(FromLibrary::Dispatch(Box::new(dispatch(4, 0))));
            // The same of two passes, in other words for numbers only.
            for at in [17, 2000] {
                let text = format!("values are lost: something else ran at {at} ns");
                messages.push(FromLibrary::Note(Note { dispatches: vec![4], text }));
            }
        }
        messages.push(FromLibrary::Dispatch(Box::new(Dispatch {
            outcome: Outcome::Declined,
            reason: Some("graph_launch".into()),
            passes_done: 1,
            window: None,
            bytes: Bytes::default(),
            phases: Phases::default(),
            ..dispatch(3, 1)
        })));
        messages.push(FromLibrary::Warning(Warning {
            code: "graph_launch".into(),
            text: "the kernel is part of a graph launch; run with graphs off".into(),
        }));
        for (number, kind, dispatches, closed_by) in
            [(1, WindowKind::Kernel, 1, "done"), (2, WindowKind::Batch, 3, "full"), (3, WindowKind::Batch, 1, "time")]
        {
            messages.push(FromLibrary::Window(Window {
                number,
                agent: 1,
                kind,
                dispatches,
                operations: 0,
                closed_by: closed_by.into(),
                bytes: Bytes::default(),
                phases: Phases::default(),
                clock_mhz: Some(1755 + 45 * number as u32),
            }));
        }
        messages.push(FromLibrary::Summary(Summary {
            replayed: 2,
            declined: vec![("graph_launch".into(), 1)],
            not_selected: 4,
            kernel_windows: 2,
            ..Summary::default()
        }));
        for message in &messages {
            writer.add(process, message).unwrap();
        }
        writer.end_process(process, ProcessEnd::InOrder).unwrap();
    }
    writer
        .finish(RunEnd {
            end_unix_ns: 1_700_000_001_500_000_000,
            exit_code: Some(0),
            exit_signal: None,
            incomplete: false,
        })
        .unwrap();
}
