//! Launches that are submitted together.

use crate::setup::{batch, setup};
use crate::support::{add, info, limits, settings};
use kreplay_engine::memory_agent::Work;
use kreplay_engine::{
    Arguments, BatchLimits, ClosingReason, Decline, DispatchInfo, Member, Outcome, Range, Region, RegionKind, Settings,
    Traits, Writers,
};
use std::time::{Duration, Instant};

fn member<'a>(key: u64, work: Work, traits: Traits) -> Member<'a, Work> {
    let info = DispatchInfo { traits, ..info(key) };
    Member { info, operation: false, record: Box::new(move || Ok(work)) }
}

#[test]
fn launches_that_are_submitted_together_are_recorded_together() {
    let setup = setup(Settings { batch: BatchLimits { dispatches: 3, ..limits() }, ..batch(3) }, None);
    let before = setup.word();
    let double = |at: Range| {
        Work::new(move |memory| {
            for address in (at.base..at.end()).step_by(4) {
                let value = memory.load(address);
                memory.store(address, value.wrapping_mul(2));
            }
        })
    };
    // 3 is selected, 2 is not; the order shows in the result.
    let works = [add(setup.region, 1), double(setup.region), add(setup.region, 5)];
    for _ in 0..2 {
        let members = works.iter().zip([1, 2, 3]).map(|(work, key)| member(key, work.clone(), Traits::default()));
        let guard = setup.engine.submission(members.collect());
        works.iter().for_each(|work| setup.agent.program_launch(0, work));
        drop(guard);
    }
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    let after = |value: u32| value.wrapping_add(1).wrapping_mul(2).wrapping_add(5);
    assert_eq!(setup.word(), after(after(before)));
    // Four dispatches do not fit a window of three, and no submission is cut in two.
    let closings = setup.closings();
    assert_eq!(closings.iter().map(|closing| (closing.0, closing.1)).collect::<Vec<_>>(), [(2, 1), (2, 1)]);
    assert_eq!(closings[0].2, ClosingReason::Full);
    let records = setup.log.take_dispatches();
    assert_eq!(records.iter().map(|record| record.kernel.key).collect::<Vec<_>>(), [1, 3, 1, 3]);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
}

#[test]
fn a_submission_that_cannot_be_recorded_runs_outside_of_windows_and_says_why() {
    let capture = Traits { decline: Some(Decline::StreamCapture), ..Traits::default() };
    let own = Traits { own_window: true, ..Traits::default() };
    let reasons = |settings: Settings, second: Traits| {
        let setup = setup(settings, None);
        let before = setup.word();
        setup.launch(1);
        let members = vec![member(1, add(setup.region, 1), Traits::default()), member(3, add(setup.region, 1), second)];
        let guard = setup.engine.submission(members);
        (0..2).for_each(|_| setup.agent.program_launch(0, &add(setup.region, 1)));
        drop(guard);
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.word(), before + 3);
        let records = setup.log.take_dispatches();
        assert!(records.iter().all(|record| record.divergence.is_none()));
        let reason = |key| {
            records.iter().filter(|record| record.kernel.key == key).find_map(|record| match &record.outcome {
                Outcome::Declined { reason, .. } => Some(*reason),
                _ => None,
            })
        };
        (reason(1), reason(3))
    };
    let multi = Some(Decline::MultiPacket);
    assert_eq!(reasons(batch(2), Traits::default()), (None, None));
    assert_eq!(reasons(batch(2), capture), (multi, Some(Decline::StreamCapture)));
    assert_eq!(reasons(batch(2), own), (multi, multi));
    let short = BatchLimits { dispatches: 1, ..limits() };
    assert_eq!(reasons(Settings { batch: short, ..batch(2) }, Traits::default()), (multi, multi));
    assert_eq!(reasons(settings(2), Traits::default()), (multi, multi), "kernel windows hold one launch each");
}

#[test]
fn a_memory_operation_among_them_is_recorded_and_never_counted() {
    let setup = setup(batch(2), None);
    let before = setup.word();
    // As a copy by a kernel from memory that launches decline for: its source is kept by who recorded it.
    let elsewhere = Range::new(1 << 40, 4096);
    let imported = Region { range: elsewhere, kind: RegionKind::Imported, writers: Writers::Others };
    setup.engine.region_born(imported);
    let mut operation = Member { operation: true, ..member(1, add(setup.region, 4), Traits::default()) };
    operation.info.arguments = Arguments::Known(elsewhere.base.to_le_bytes().to_vec().into());
    let guard = setup.engine.submission(vec![member(1, add(setup.region, 1), Traits::default()), operation]);
    [1, 4].into_iter().for_each(|value| setup.agent.program_launch(0, &add(setup.region, value)));
    drop(guard);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!((setup.word(), setup.log.not_selected()), (before + 5, 0));
    assert_eq!(setup.closings(), [(1, 1, ClosingReason::Exit)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}
