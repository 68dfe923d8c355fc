//! Nothing of other threads falls between the fences of a dispatch.

use crate::setup::{Mixed, counted, setup_with};
use crate::support::{InLine, Odd, add, info, launch};
use kreplay_engine::{
    ByPlan, ClosingReason, Decision, EveryKernel, GraphNode, Operation, Outcome, Settings, WindowMode,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn no_fence_holds_what_another_thread_submits() {
    // In line, and where pass 0 of a window that records is counted.
    for (names, outcome) in [(["a"].as_slice(), Outcome::Counted), (&["a", "b"], Outcome::Replayed)] {
        threads_keep_out_of_fences(names, &outcome);
    }
}

fn threads_keep_out_of_fences(names: &[&str], outcome: &Outcome) {
    let settings = Settings { window: WindowMode::Batch, ..counted(names) };
    let setup = Arc::new(setup_with(settings, InLine::default(), Arc::new(Odd), Arc::new(ByPlan)));
    let before = setup.word();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let setup = &setup;
            scope.spawn(move || {
                let apart = || assert!(!setup.counters.fenced.load(Ordering::SeqCst), "within a fence");
                for round in 0..200 {
                    match (thread + round) % 4 {
                        0 => drop(launch(&setup.engine, &info(1), 0, &add(setup.region, 1))),
                        1 => drop(launch(&setup.engine, &info(2), 0, &add(setup.region, 1))),
                        2 => {
                            let guard = setup.engine.memory_operation(Operation::Reads);
                            apart();
                            drop(guard);
                        }
                        _ => {
                            let guard = setup.engine.operation();
                            apart();
                            drop(guard);
                        }
                    }
                    if round % 64 == 63 {
                        setup.engine.close_window();
                    }
                }
            });
        }
    });
    setup.finish();
    assert_eq!(setup.word(), before + 400);
    let records = setup.log.take_dispatches();
    assert_eq!(records.len(), 200);
    assert!(records.iter().all(|record| record.outcome == *outcome && record.divergence.is_none()));
    let readings = setup.log.readings();
    assert_eq!((readings.len(), readings.iter().all(|(_, values)| !values.is_empty())), (200, true));
}

#[test]
fn what_another_thread_submits_waits_for_the_end_of_a_fence() {
    for names in [["a"].as_slice(), &["a", "b"]] {
        for operation in 0..4 {
            let settings = Settings { window: WindowMode::Batch, ..counted(names) };
            let setup = setup_with(settings, InLine::default(), Arc::new(Odd), Arc::new(ByPlan));
            let work = add(setup.region, 1);
            let Decision::Recorded(guard) = setup.engine.dispatch(&info(1), || Ok(work.clone())) else {
                panic!("it is not counted");
            };
            let (fenced, submitted) = (AtomicBool::new(true), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let guard = match operation {
                        0 => Some(setup.engine.memory_operation(Operation::Reads)),
                        1 => Some(setup.engine.memory_operation(Operation::Repeatable {
                            bytes: 0,
                            record: &mut || Some(add(setup.region, 0)),
                        })),
                        2 => {
                            drop(launch(&setup.engine, &info(2), 0, &work));
                            None
                        }
                        // No business of this agent's.
                        _ => Some(setup.engine.memory_operation(Operation::Elsewhere)),
                    };
                    let within = fenced.load(Ordering::SeqCst);
                    submitted.store(true, Ordering::SeqCst);
                    assert_eq!(within, operation == 3, "operation {operation} with {names:?}");
                    drop(guard);
                });
                // Time to be wrong in; the operation that need not wait is waited for.
                let start = Instant::now();
                while !submitted.load(Ordering::SeqCst)
                    && (operation == 3 || start.elapsed() < Duration::from_millis(30))
                {
                    std::thread::yield_now();
                }
                setup.agent.program_launch(0, &work);
                fenced.store(false, Ordering::SeqCst);
                drop(guard);
            });
            setup.finish();
        }
    }
}

/// A window of a single pass that opens just as another ends, as another thread's may, is closed as well.
#[test]
fn no_window_of_a_single_pass_is_open_beside_a_graph() {
    let settings = Settings { window: WindowMode::Batch, ..counted(&["a", "b"]) };
    let setup = Arc::new(setup_with(settings, InLine::default(), Arc::new(EveryKernel), Arc::new(Mixed)));
    let before = setup.word();
    let work = add(setup.region, 1);
    let Decision::Recorded(guard) = setup.engine.dispatch(&info(101), || Ok(work.clone())) else { panic!("recorded") };
    setup.agent.program_launch(0, &work);
    drop(guard);
    let next = Arc::clone(&setup);
    assert!(setup.engine.hold_free(Box::new(move || next.launch(&info(1)))).is_ok(), "a window records");
    let guard = setup.engine.dispatch_graph(vec![GraphNode::Unrecordable("host function")]);
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Launch); 2]);
    drop(guard);
    assert_eq!(setup.word(), before + 2);
    let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Outcome::Replayed, Outcome::Counted]);
}
