//! Memory of which something else becomes known while windows record: what another thread opens at once does not use it as
//! what it was.

use crate::setup::{batch, setup};
use crate::support::{Setup, add, allocate, info, launch};
use kreplay_engine::{
    Arguments, ClosingReason, Decision, Decline, DispatchInfo, DispatchRecord, Member, ModuleVariable, Outcome, Range,
    Region, RegionKind, Writers,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn imported(range: Range) -> Region {
    Region { range, kind: RegionKind::Imported, writers: Writers::Others }
}

fn finish(setup: &Setup) {
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
}

/// At the end of the open window, and of `more` that follow, a launch comes that opens another: as those of another thread do.
fn launch_at_the_end(setup: &Setup, more: u32) {
    let (agent, log) = (Arc::clone(&setup.agent), Arc::clone(&setup.log));
    let next = Setup { agent, engine: Arc::clone(&setup.engine), log, region: setup.region };
    let free = Box::new(move || {
        next.launch(1);
        if more > 0 {
            launch_at_the_end(&next, more - 1);
        }
    });
    assert!(setup.engine.hold_free(free).is_ok(), "a window records");
}

#[test]
fn a_change_does_not_fall_into_the_window_that_opens_as_another_ends() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    setup.launch(1);
    launch_at_the_end(&setup, 0);
    setup.engine.region_changed(imported(setup.region));
    finish(&setup);
    assert_eq!(setup.word(), before + 2);
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Unrecordable); 2]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.outcome == Outcome::Replayed));
}

/// However fast they are opened, it comes to an end; then the open one is not replayed.
#[test]
fn a_change_that_windows_come_faster_than_spoils_the_open_one() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    setup.launch(1);
    // As many as are ended for it, and one.
    launch_at_the_end(&setup, 2);
    setup.engine.region_changed(imported(setup.region));
    finish(&setup);
    assert_eq!(setup.word(), before + 4);
    let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes[..3], [Outcome::Replayed, Outcome::Replayed, Outcome::Replayed]);
    assert!(matches!(outcomes[3..], [Outcome::Declined { reason: Decline::PassFailed, .. }]), "{outcomes:?}");
}

/// What is told of a range is of all that is known there, by whatever base.
#[test]
fn a_change_of_a_range_is_one_of_all_that_it_holds() {
    let setup = setup(batch(3), None);
    let (before, region) = (setup.word(), setup.region);
    setup.launch(1);
    setup.engine.region_changed(imported(Range::new(region.base - 64, region.bytes + 64)));
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Unrecordable)]);
    finish(&setup);
    assert_eq!(setup.word(), before + 1);
    assert_eq!(setup.log.last_dispatch().outcome, Outcome::Replayed);
}

#[test]
fn variables_that_take_the_place_of_recorded_memory_spoil_the_window() {
    let setup = setup(batch(3), None);
    let (before, region) = (setup.word(), setup.region);
    setup.launch(1);
    let variable = |base, managed| ModuleVariable {
        name: "count".into(),
        range: Range::new(base, region.bytes + 64),
        constant: false,
        managed,
    };
    setup.engine.code_loaded(5, vec![variable(region.base, true)]);
    finish(&setup);
    assert_eq!(setup.word(), before + 1, "the replays do not run on what they do not put back");
    let outcome = setup.log.last_dispatch().outcome;
    assert!(matches!(outcome, Outcome::Declined { reason: Decline::PassFailed, .. }), "{outcome:?}");
}

/// A launch was looked at, then memory that it reaches became others', and another launch opened a window.
#[test]
fn a_launch_is_looked_at_again_before_it_joins_a_window_that_opened_since() {
    let setup = setup(batch(3), None);
    let (before, region) = (setup.word(), setup.region);
    let other = allocate(&setup.agent, &setup.engine, 64);
    let reaching = DispatchInfo { arguments: Arguments::Known(region.base.to_le_bytes().to_vec().into()), ..info(1) };
    let work = add(region, 1);
    let decision = setup.engine.dispatch(&reaching, || {
        setup.engine.region_changed(imported(region));
        launch(&setup.engine, &info(3), 0, &add(other, 1));
        Ok(work.clone())
    });
    let (Decision::Run(guard) | Decision::Recorded(guard)) = decision else { panic!("a kernel window") };
    setup.agent.program_launch(0, &work);
    drop(guard);
    finish(&setup);
    assert_eq!(setup.word(), before + 1);
    let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert!(matches!(outcomes[0], Outcome::Declined { reason: Decline::ImportedMemory, .. }), "{outcomes:?}");
    assert_eq!(outcomes[1], Outcome::Replayed, "the other's");
}

/// The same of several launches that are submitted at once: all of them go in, or none.
#[test]
fn launches_that_come_together_are_looked_at_again_before_they_join_a_window() {
    let setup = setup(batch(3), None);
    let (before, region) = (setup.word(), setup.region);
    let other = allocate(&setup.agent, &setup.engine, 64);
    let arguments = Arguments::Known(region.base.to_le_bytes().to_vec().into());
    let works = [add(other, 1), add(region, 1)];
    let (first, second) = (works[0].clone(), works[1].clone());
    let guard = setup.engine.submission(vec![
        Member { info: info(1), operation: false, record: Box::new(|| Ok(first)) },
        Member {
            info: DispatchInfo { arguments, ..info(5) },
            operation: false,
            record: Box::new(|| {
                setup.engine.region_changed(imported(region));
                launch(&setup.engine, &info(3), 0, &add(other, 1));
                Ok(second)
            }),
        },
    ]);
    works.iter().for_each(|work| setup.agent.program_launch(0, work));
    drop(guard);
    finish(&setup);
    assert_eq!(setup.word(), before + 1);
    let records = setup.log.take_dispatches();
    let replayed = |record: &DispatchRecord| record.outcome == Outcome::Replayed;
    let key = |record: &DispatchRecord| record.kernel.key;
    assert_eq!(records.iter().filter(|record| replayed(record)).map(key).collect::<Vec<_>>(), [3]);
    assert_eq!(records.len(), 3);
}
