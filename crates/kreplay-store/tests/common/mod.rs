//! A small job, written.

use std::path::Path;

use kreplay_protocol::*;
use kreplay_store::{Existing, RunInfo, Writer};

pub(crate) fn run_info() -> RunInfo {
    RunInfo {
        command: vec!["./app".into(), "--size".into(), "8".into()],
        directory: "/somewhere".into(),
        host: "machine".into(),
        settings: Settings { counters: vec!["SQ_WAVES".into()], ..Settings::default() },
        start_unix_ns: 1_700_000_000_000_000_000,
    }
}

pub(crate) fn create(path: &Path) -> Writer {
    Writer::create(path, Existing::Refuse, &run_info()).unwrap()
}

pub(crate) fn hello(pid: u32) -> Hello {
    Hello {
        pid,
        parent: 1,
        exe: "/bin/app".into(),
        argv: vec!["./app".into()],
        start_unix_ns: 1_700_000_000_000_000_001,
        library_version: "0.1.0".into(),
    }
}

pub(crate) fn descriptions() -> Vec<FromLibrary> {
    vec![
        FromLibrary::Agent(Agent {
            number: 1,
            name: "Software GPU".into(),
            chip: "gfx90a".into(),
            backend: "hsa".into(),
            simulated: true,
            memory_bytes: Some(1 << 34),
        }),
        FromLibrary::Counter(Counter { number: 0, name: "SQ_WAVES".into(), unit: "wave".into(), block: "SQ".into() }),
        FromLibrary::Plan(Plan {
            number: 0,
            agent: 1,
            passes: vec![PlanPass { counters: vec![0], way: Way::Ranges, price_ns: 5 }; 2],
        }),
        FromLibrary::Kernel(Kernel { number: 0, name: "scale".into() }),
    ]
}

pub(crate) fn dispatch(number: u64) -> Dispatch {
    Dispatch {
        number,
        agent: 1,
        kernel: 0,
        grid: [1, 2, 3],
        block: [64, 1, 1],
        stream: u64::MAX,
        thread: 3,
        argument_bytes: None,
        start_ns: 10,
        end_ns: 20,
        outcome: Outcome::Replayed,
        reason: None,
        detail: String::new(),
        plan: Some(0),
        passes_asked: 2,
        passes_done: 2,
        window: Some(7),
        write_set: vec![Range { base: u64::MAX - 4095, bytes: 4096 }],
        write_set_cut: false,
        bytes: Bytes {
            footprint: 1,
            write_set: 2,
            captured: TierBytes { device: 3, host: 4 },
            restored: TierBytes { device: 5, host: 6 },
            compared: 7,
            staging_high_water: 8,
            device_held: 9,
        },
        phases: Phases { drain: 1, capture: 2, passes: 3, compare: 4, restore: 5, verify: 6, commit: 7 },
        divergence: Some(Divergence {
            kind: DivergenceKind::Escaped,
            pass: Some(1),
            range: Range { base: 4096, bytes: 64 },
            bytes: 128,
        }),
        audit: Some(Audit { kind: AuditKind::Shadow, surprise_bytes: 3 }),
        notes: vec!["first".into(), "second".into()],
    }
}
