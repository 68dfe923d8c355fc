//! What is counted, of whom, and in which order.

use super::*;

#[test]
fn every_counter_of_every_dispatch_is_exact_over_several_passes() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["all"], 1);
    assert!(plan.passes.len() >= 5);
    // Two windows: the second uses the buffers of the first again.
    for dispatches in [3, 40] {
        let readings = window(&counters, &queue, &plan, dispatches).expect("readings");
        for index in 0..dispatches {
            for event in pmc::EVENTS {
                let cells = match event.spread {
                    pmc::Spread::Shared => 1,
                    pmc::Spread::Each => u64::from(pmc::Block::find(event.block).expect("block").cells()),
                };
                let expected = Value::Count((event.of)(&work(index)) * cells);
                assert_eq!(value(&readings, index, event.name), expected, "{} of {index}", event.name);
            }
        }
        let places: Vec<(u32, u32)> = readings.iter().map(|reading| (reading.dispatch, reading.pass)).collect();
        assert!(places.is_sorted(), "in dispatch order");
    }
}

#[test]
fn metrics_are_computed_from_their_counters() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    // The first four push the two counters of L1AccessesPerInst apart, into two passes.
    let l1 = ["TCP_TOTAL_READ", "TCP_TOTAL_WRITE", "TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "L1AccessesPerInst"];
    let others = ["FETCH_SIZE", "WRITE_SIZE", "VALUInsts", "VALUUtilization", "LDSConflictsPerInst"];
    let plan = plan(&counters, &[l1, others].concat(), 1);
    assert_eq!(plan.passes.len(), 2);
    let readings = window(&counters, &queue, &plan, 2).expect("readings");
    assert_eq!(value(&readings, 1, "L1AccessesPerInst"), Value::Real(15.5));
    assert_eq!(value(&readings, 1, "FETCH_SIZE"), Value::Real(200.0 * 64.0 / 1024.0));
    assert_eq!(value(&readings, 1, "WRITE_SIZE"), Value::Real(110.0 * 64.0 / 1024.0));
    assert_eq!(value(&readings, 0, "VALUInsts"), Value::Real(10.0));
    assert_eq!(value(&readings, 0, "VALUUtilization"), Value::Real(93.75));
    // No LDS instruction: not defined, so not there.
    assert!(!readings.iter().any(|reading| &*reading.counter == "LDSConflictsPerInst"));
    assert!(readings.iter().all(|reading| reading.derived == matches!(reading.value, Value::Real(_))));
}

#[test]
fn a_repeat_gives_every_counter_once_a_pass() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["SQ_WAVES", "VALUInsts"], 3);
    let readings = window(&counters, &queue, &plan, 2).expect("readings");
    for dispatch in 0..2 {
        for pass in 0..3 {
            let at = |name: &str| {
                let mut found = readings
                    .iter()
                    .filter(|r| (r.dispatch, r.pass) == (dispatch, pass) && &*r.counter == name)
                    .map(|reading| reading.value);
                (found.next(), found.next())
            };
            assert_eq!(at("SQ_WAVES"), (Some(Value::Count(4 * u64::from(dispatch + 1))), None));
            assert_eq!(at("VALUInsts"), (Some(Value::Real(10.0)), None));
        }
    }
}

#[test]
fn a_pass_left_out_or_a_dispatch_cut_short_leaves_its_readings_out() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["compute"], 1);
    counters.open(&plan, 2).expect("opens");
    counters.begin(&plan.passes[1]).expect("begins");
    counters.before(0).expect("before");
    queue.bank.accumulate(&work(0));
    counters.after(0).expect("after");
    counters.before(1).expect("before");
    counters.end().expect("ends");
    let readings = collect(&counters).expect("readings");
    assert!(!readings.is_empty());
    assert!(readings.iter().all(|reading| (reading.dispatch, reading.pass) == (0, 1)));
}

#[test]
fn only_times_need_no_packets() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &[], 2);
    assert_eq!(window(&counters, &queue, &plan, 3).expect("readings"), []);
    assert_eq!(queue.packets.load(Ordering::Relaxed), 0);
}

#[test]
fn calls_out_of_order_are_errors() {
    let queue = Arc::new(Queue::default());
    let counters = counters(&queue);
    let plan = plan(&counters, &["basic"], 1);
    let pass = &plan.passes[0];
    assert!(counters.begin(pass).is_err(), "no window");
    assert!(counters.end().is_err());
    assert!(collect(&counters).is_err());
    counters.open(&plan, 1).expect("opens");
    assert!(counters.open(&plan, 1).is_err(), "open already");
    assert!(counters.before(0).is_err(), "no pass");
    counters.begin(pass).expect("begins");
    assert!(counters.begin(pass).is_err(), "a pass in a pass");
    assert!(counters.after(0).is_err(), "after without before");
    counters.before(0).expect("before");
    assert!(counters.after(1).is_err(), "of another dispatch");
    counters.after(0).expect("after");
    assert!(counters.after(0).is_err(), "twice");
    counters.abandon();
    assert!(counters.end().is_err());
    // All is well again afterwards.
    assert!(!window(&counters, &queue, &plan, 1).expect("readings").is_empty());
}
