//! Several threads, several agents.

mod support;

use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    ByPlan, Decision, Engine, EveryKernel, LastPass, Outcome, Process, Range, Region, RegionKind, RestoreMode,
    Settings, ShadowMode, WindowMode, Writers,
};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use support::{add, allocate, info, launch, settings};

fn process(settings: Settings) -> (Arc<Process>, Arc<Log>) {
    let log = Log::new();
    (Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone()), log)
}

fn engine(id: u64, process: &Arc<Process>) -> (Arc<MemoryAgent>, Arc<Engine<MemoryAgent>>) {
    let agent = MemoryAgent::builder(id).build();
    let engine = Engine::new(agent.clone(), None, process.clone()).unwrap();
    (agent, engine)
}

#[test]
fn two_agents_have_windows_at_the_same_time() {
    let (process, log) = process(settings(3));
    let ((one, first), (two, second)) = (engine(1, &process), engine(2, &process));
    let (a, b) = (allocate(&one, &first, 4096), allocate(&two, &second, 4096));
    let Decision::Window(mut window) = first.dispatch(&info(1), || Ok(add(a, 1))) else { panic!("no window") };
    window.run_until_last();
    // While the first agent's window is open, the second agent's opens and closes, on this and on another thread.
    assert_eq!(launch(&second, &info(2), 0, &add(b, 1)).unwrap().outcome, Outcome::Replayed);
    let other = second.clone();
    let status = std::thread::spawn(move || launch(&other, &info(2), 0, &add(b, 1)).unwrap()).join().unwrap();
    assert_eq!(status.outcome, Outcome::Replayed);
    one.program_launch(0, &add(a, 1));
    assert_eq!(window.close(LastPass::Submitted).outcome, Outcome::Replayed);
    assert_eq!(log.take_dispatches().len(), 3);
}

#[test]
fn siblings_are_kept_out_for_the_whole_window() {
    let (process, _) = process(settings(3));
    let (agent, engine) = engine(1, &process);
    let a = allocate(&agent, &engine, 4096);
    let b = allocate(&agent, &engine, 4096);
    let Decision::Window(mut window) = engine.dispatch(&info(1), || Ok(add(a, 1))) else { panic!("no window") };
    let open = Arc::new(AtomicBool::new(true));
    let (started, began) = mpsc::channel();
    let siblings: Vec<_> = (0..4)
        .map(|kind| {
            let (engine, agent, open, started) = (engine.clone(), agent.clone(), open.clone(), started.clone());
            std::thread::spawn(move || {
                started.send(()).unwrap();
                match kind {
                    0 => drop(engine.operation()),
                    1 => drop(engine.region_retire(b.base).unwrap()),
                    2 => {
                        let range = Range::new(agent.program_allocate(64), 64);
                        engine.region_born(Region { range, kind: RegionKind::Device, writers: Writers::Seen });
                    }
                    _ => {
                        launch(&engine, &info(2), 1, &add(Range::new(a.base, 64), 0));
                    }
                }
                assert!(!open.load(Ordering::SeqCst), "sibling {kind} came through an open window");
            })
        })
        .collect();
    (0..4).for_each(|_| began.recv().unwrap());
    // Time for a sibling that is not kept out to show itself; a sound engine passes at any speed.
    std::thread::sleep(Duration::from_millis(30));
    window.run_until_last();
    agent.program_launch(0, &add(a, 1));
    std::thread::sleep(Duration::from_millis(30));
    open.store(false, Ordering::SeqCst);
    window.close(LastPass::Submitted);
    siblings.into_iter().for_each(|sibling| sibling.join().unwrap());
}

#[test]
fn threads_that_launch_write_allocate_and_free_at_once_get_their_own_results() {
    for (restore, shadow) in [
        (RestoreMode::Observed, ShadowMode::Safe),
        (RestoreMode::Observed, ShadowMode::Trusted),
        (RestoreMode::Full, ShadowMode::Safe),
    ] {
        let (process, log) = process(Settings { restore, shadow, ..settings(3) });
        let (agent, engine) = engine(1, &process);
        let inside = Arc::new(AtomicU32::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (agent, engine, inside) = (&agent, &engine, &inside);
                scope.spawn(move || {
                    let own = Range::new(agent.program_allocate(2048), 2048);
                    agent.with_memory(|memory| memory.bytes_mut(own).fill(0));
                    engine.region_born(Region { range: own, kind: RegionKind::Device, writers: Writers::Seen });
                    let mut expected = 0u32;
                    for round in 0..60u32 {
                        let inside = inside.clone();
                        let kernel = Work::new(move |memory| {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            for address in (own.base..own.end()).step_by(4) {
                                let value = memory.load(address).wrapping_mul(3).wrapping_add(1);
                                memory.store(address, value);
                            }
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                        launch(engine, &info(thread), thread, &kernel);
                        expected = expected.wrapping_mul(3).wrapping_add(1);
                        if round % 5 == 1 {
                            let guard = engine.operation();
                            engine.region_written(Range::new(own.base, 4));
                            let first = Range::new(own.base, 4);
                            agent.program_launch(thread, &add(first, 2));
                            agent.program_launch(thread, &add(first, u32::MAX - 1));
                            drop(guard);
                        }
                        if round % 7 == 3 {
                            let short = Range::new(agent.program_allocate(512), 512);
                            engine.region_born(Region { range: short, kind: RegionKind::Pool, writers: Writers::Seen });
                            launch(engine, &info(100), thread, &add(short, 1));
                            let retired = engine.region_retire(short.base).unwrap();
                            agent.program_synchronise();
                            agent.program_free(short.base);
                            drop(retired);
                        }
                    }
                    agent.program_synchronise();
                    let found = agent.with_memory(|memory| memory.load(own.base + 1024));
                    assert_eq!(found, expected, "thread {thread}");
                    assert_eq!(agent.with_memory(|memory| memory.load(own.base)), expected, "thread {thread}");
                });
            }
        });
        engine.finish(Instant::now() + Duration::from_secs(20));
        let records = log.take_dispatches();
        let windows: std::collections::BTreeSet<_> = records.iter().map(|record| record.window).collect();
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
        assert_eq!(windows.len(), records.len());
        assert_eq!((agent.usage().device, agent.usage().host), (0, 0), "everything came back");
    }
}

#[test]
fn a_window_may_be_closed_by_another_thread() {
    let (process, log) = process(settings(2));
    let (agent, engine) = engine(1, &process);
    let a = allocate(&agent, &engine, 4096);
    let Decision::Window(mut window) = engine.dispatch(&info(1), || Ok(add(a, 1))) else { panic!("no window") };
    let other = agent.clone();
    std::thread::spawn(move || {
        window.run_until_last();
        other.program_launch(0, &add(a, 1));
        window.close(LastPass::Submitted)
    })
    .join()
    .unwrap();
    assert_eq!(log.last_dispatch().outcome, Outcome::Replayed);
    launch(&engine, &info(1), 0, &add(a, 1)).expect("the gate is free again");
}

#[test]
fn what_no_batch_window_holds_never_falls_into_one_of_another_thread() {
    let (process, log) = process(Settings { window: WindowMode::Batch, ..settings(3) });
    let (agent, engine) = engine(1, &process);
    let threads = 4u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (agent, engine) = (&agent, &engine);
            let own = allocate(agent, engine, 256);
            scope.spawn(move || {
                for _ in 0..150 {
                    // Nobody describes it, so it cannot be recorded; the launch reads what it wrote.
                    let guard = engine.operation();
                    agent.program_launch(thread, &add(own, 7));
                    drop(guard);
                    launch(engine, &info(thread), thread, &add(own, 1));
                }
            });
        }
    });
    engine.finish(Instant::now() + Duration::from_secs(20));
    let records = log.take_dispatches();
    assert_eq!(records.len() as u64, threads * 150);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed));
    let divergent = records.iter().filter(|record| record.divergence.is_some()).count();
    assert_eq!(divergent, 0, "an operation ran within a window that did not record it");
}
