//! Invariant 7: what is not selected costs nothing; nor does what comes after the end of the program.

use crate::setup::rig;
use crate::support::{add, allocate, info, launch, settings};
use kreplay_engine::conformance::{Kernel, Log, Rig, World};
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{ByPlan, Decision, Engine, EveryKernel, Filter, KernelInfo, LastPass, Outcome, Process, Settings};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

struct Only(u64, AtomicU32);

impl Filter for Only {
    fn select(&self, kernel: &KernelInfo) -> bool {
        self.1.fetch_add(1, Ordering::SeqCst);
        kernel.key == self.0
    }
}

#[test]
fn invariant_7_a_dispatch_that_is_not_selected_is_never_snapshotted_and_asked_about_once() {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let filter = Arc::new(Only(5, AtomicU32::new(0)));
    let process = Process::new(settings(4), filter.clone(), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    for _ in 0..10 {
        let run = engine.dispatch(&info(1), || panic!("a launch that is not selected is not recorded"));
        assert!(matches!(run, Decision::Run(_)));
    }
    assert_eq!((agent.usage().allocations, agent.calls().len()), (0, 1), "only its memory was asked for, at the start");
    assert_eq!((log.not_selected(), log.take_dispatches().len()), (10, 0));
    launch(&engine, &info(5), 0, &add(region, 1)).expect("a window");
    assert_eq!(filter.1.load(Ordering::SeqCst), 11, "once a dispatch, never per pass");
}

#[test]
fn after_the_end_of_the_program_launches_run_as_they_are() {
    let rig = rig();
    let mut world = World::new(&rig, Settings::default());
    let a = world.allocate(4096);
    world.launch(&Kernel::Add { at: a, value: 1 });
    world.engine.finish(Instant::now() + Duration::from_secs(10));
    assert!(world.launch(&Kernel::Add { at: a, value: 1 }).is_none());
    world.check("after the end");
    assert_eq!(world.log.take_dispatches().len(), 1);
    let agent = rig.agent();
    assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
}

#[test]
fn the_end_of_the_program_does_not_wait_for_a_window_longer_than_told() {
    let agent = MemoryAgent::builder(0).build();
    let process = Process::new(settings(3), Arc::new(EveryKernel), Arc::new(ByPlan), Log::new());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    let Decision::Window(mut window) = engine.dispatch(&info(1), || Ok(add(region, 1))) else { panic!("no window") };
    let other = engine.clone();
    std::thread::spawn(move || other.finish(Instant::now() + Duration::from_millis(20))).join().unwrap();
    window.run_until_last();
    agent.program_launch(0, &add(region, 1));
    assert_eq!(window.close(LastPass::Submitted).outcome, Outcome::Replayed);
}
