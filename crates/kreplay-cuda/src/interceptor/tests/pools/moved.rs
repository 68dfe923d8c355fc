//! Memory that was freed to a pool and that the driver may have taken away or moved.

use super::*;

#[test]
fn memory_that_the_driver_takes_away_all_the_same_is_not_used() {
    let p = Pooled::new();
    p.launch(p.first);
    p.launch(p.plain);
    p.free(p.first, 0);
    // An allocation elsewhere for which the driver finds no room.
    let elsewhere = p.plain;
    p.program.call(cbid::MEM_ALLOC, "", &MemAllocParams { pointer: &raw const elsewhere, bytes: 0 }, || {
        fake::pool_trim(p.pool);
        0
    });
    p.allocate(p.first, 8192);
    p.close();
    assert!(p.declined());
    assert_eq!((word(p.plain), word(p.first)), (1, 0xdddd_dddd), "nothing ran again");
    assert_eq!(fake::pool_threshold(p.pool), OWN_THRESHOLD);
    // The next window is whole.
    p.launch(p.first);
    p.free(p.first, 0);
    p.close();
    assert_eq!(p.outcomes(), [Outcome::Replayed]);
}

#[test]
fn an_allocation_for_which_freed_memory_may_be_moved_ends_the_window_first() {
    let (p, elsewhere) = Pooled::large();
    let open = || {
        p.launch(p.first);
        p.launch(p.second);
        p.free(p.second, 0);
    };
    open();
    p.allocate(p.first + MIB, 6 * MIB);
    p.free(p.first + MIB, 0);
    assert_eq!(p.closings(), [], "there is room among what is known to be mapped");
    p.allocate_while(elsewhere, 12 * MIB, || {
        assert_eq!(p.closings(), [ClosingReason::Memory]);
        // What is free is not where it was.
        zero(p.second);
    });
    assert_eq!(p.outcomes(), vec![Outcome::Replayed; 2]);
    p.free(elsewhere, 0);
    p.allocate(p.second, 5 * MIB);
    open();
    // Nobody could know that the driver would not use what is free.
    p.allocate(elsewhere, 5 * MIB);
    p.close();
    let outcomes = p.outcomes();
    let [Outcome::Declined { reason: Decline::PassFailed, detail }, _] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(detail.contains("5242880 lie where nothing was known to be mapped"), "{detail}");
    assert_eq!((word(p.first), word(p.second)), (2, 1));
}

#[test]
fn growth_explains_an_allocation_that_was_alone() {
    let (p, elsewhere) = Pooled::large();
    let grown = || {
        p.allocate_while(elsewhere, 5 * MIB, || fake::pool_grow(p.pool, 8 * MIB));
    };
    for alone in [true, false] {
        p.launch(p.first);
        p.free(p.second, 0);
        if alone {
            grown();
        } else {
            p.allocate_while(p.first + 2 * MIB, MIB, grown);
        }
        p.close();
        if alone {
            assert_eq!(p.outcomes(), [Outcome::Replayed]);
        } else {
            assert!(p.declined(), "it may be the other's growth");
        }
        p.free(elsewhere, 0);
        p.allocate(p.second, 5 * MIB);
        // What was known of it goes, as if the pool had given it back.
        fake::pool_shrink(p.pool, 8 * MIB);
    }
    assert_eq!(p.closings(), [ClosingReason::Unrecordable, ClosingReason::Failed]);
}

#[test]
fn what_happens_to_a_pool_while_a_stream_is_captured_is_not_known() {
    for captured in [false, true] {
        let (p, _) = Pooled::large();
        p.free(p.second, 0);
        if captured {
            p.program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
        }
        p.allocate(p.first + 2 * MIB, MIB);
        if captured {
            p.program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
        }
        p.launch(p.plain);
        p.free(p.first, 0);
        p.allocate(p.first + 3 * MIB, 6 * MIB);
        let expected: &[ClosingReason] = if captured { &[ClosingReason::Memory] } else { &[] };
        assert_eq!(p.closings(), expected);
        p.close();
        assert_eq!(p.outcomes(), [Outcome::Replayed]);
    }
}
