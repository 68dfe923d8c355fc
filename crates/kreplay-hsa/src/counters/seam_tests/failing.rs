//! What is lost, refused or given back.

use super::*;

#[test]
fn what_the_device_does_not_store_is_never_a_value() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    assert!(window(&counters, &queue, &plan, 1).is_ok());
    queue.deaf.store(true, Ordering::Relaxed);
    let error = window(&counters, &queue, &plan, 1).expect_err("nothing was stored");
    assert!(matches!(error, CountersError::Discarded(_)), "{error}");
}

#[test]
fn counters_of_32_bits_go_round() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    let wide = window(&counters, &queue, &plan, 3).expect("readings");
    queue.narrow.store(true, Ordering::Relaxed);
    assert_eq!(window(&counters, &queue, &plan, 3).expect("readings"), wide);
    assert!(queue.ahead.lock().expect("lock").is_some(), "values were stored in 32 bits");
    // What is not stored stays told apart.
    queue.deaf.store(true, Ordering::Relaxed);
    let error = window(&counters, &queue, &plan, 1).expect_err("nothing was stored");
    assert!(matches!(error, CountersError::Discarded(_)), "{error}");
}

#[test]
fn what_is_lost_of_one_dispatch_costs_the_others_nothing() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    let whole = window(&counters, &queue, &plan, 3).expect("readings");
    counters.open(&plan, 3).expect("opens");
    for pass in &plan.passes {
        counters.begin(pass).expect("begins");
        for index in 0..3 {
            queue.deaf.store(index == 1, Ordering::Relaxed);
            counters.before(index).expect("before");
            queue.bank.accumulate(&work(index));
            counters.after(index).expect("after");
        }
        counters.end().expect("ends");
    }
    let found = delivery(&counters);
    let lost = |lost: &LostReadings| lost.dispatches == Some(1..2) && matches!(lost.why, CountersError::Discarded(_));
    assert!(!found.lost.is_empty() && found.lost.iter().all(lost), "{:?}", found.lost);
    let kept: Vec<Reading> = whole.into_iter().filter(|reading| reading.dispatch != 1).collect();
    assert_eq!(found.readings, kept);
}

#[test]
fn a_broken_queue_fails_and_later_windows_count_again() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    counters.open(&plan, 1).expect("opens");
    counters.begin(&plan.passes[0]).expect("begins");
    counters.before(0).expect("before");
    queue.broken.store(true, Ordering::Relaxed);
    assert!(counters.after(0).is_err());
    assert!(counters.end().is_err());
    counters.abandon();
    queue.broken.store(false, Ordering::Relaxed);
    assert!(!window(&counters, &queue, &plan, 2).expect("readings").is_empty());
}

#[test]
fn memory_is_used_again_and_given_back() {
    let queue = Arc::new(Queue::default());
    let live = || queue.live.lock().expect("lock").len();
    let counters = counters(&queue);
    let basic = plan(&counters, &["basic"], 1);
    window(&counters, &queue, &basic, 4).expect("readings");
    let allocated = queue.allocations.load(Ordering::Relaxed);
    for _ in 0..50 {
        window(&counters, &queue, &basic, 4).expect("readings");
    }
    assert_eq!(queue.allocations.load(Ordering::Relaxed), allocated, "nothing is allocated for a known plan");
    let before = live();
    window(&counters, &queue, &plan(&counters, &["lds"], 1), 1).expect("readings");
    assert_eq!(live(), before, "another plan's memory goes");
    drop(counters);
    assert_eq!(live(), 0);
}

#[test]
fn a_failed_allocation_fails_the_window_and_leaks_nothing() {
    for left in 0..6 {
        let queue = Arc::new(Queue::default());
        let counters = counters(&queue);
        let plan = plan(&counters, &["all"], 1);
        *queue.left.lock().expect("lock") = Some(left);
        assert!(counters.open(&plan, 1).is_err(), "{left}");
        *queue.left.lock().expect("lock") = None;
        assert!(!window(&counters, &queue, &plan, 1).expect("readings").is_empty());
        drop(counters);
        assert_eq!(queue.live.lock().expect("lock").len(), 0, "{left}");
    }
}

#[test]
fn an_unknown_chip_is_told_with_the_known_ones() {
    let queue = Arc::new(Queue::default());
    let error = AqlCounters::new(queue, library(), 1, "gfx803", false, DEVICE).err().expect("unknown");
    assert!(error.to_string().contains("gfx803") && error.to_string().contains("gfx90a"), "{error}");
}

#[test]
fn the_library_decides_what_a_real_agents_list_holds() {
    // The software GPU's library behind an agent that does not call itself simulated: the list is what the library
    // offers.
    let queue = Arc::new(Queue::default());
    let counters = AqlCounters::new(queue, library(), 1, "gfx90a", false, DEVICE).expect("counters");
    assert!(counters.catalogue().counter("SQ_WAVES").is_some());
    assert!(counters.catalogue().counter("TCC_HIT").is_none());
    assert!(counters.catalogue().metric("L2CacheHit").is_none());
    let none = AqlCounters::new(Arc::new(Queue::default()), library(), 0, "gfx90a", false, DEVICE);
    let error = none.err().expect("handle zero is no agent");
    assert!(error.to_string().contains("handle is zero"), "{error}");
}
