//! Windows of ranges and of times.

use super::*;

#[test]
fn values_repeat_and_steps_are_timed() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters(&agent);
    assert_eq!(counters.refused(), None, "counting is permitted");
    let bytes = 1u64 << 20;
    let (a, b) =
        (agent.allocate(Tier::Device, bytes).expect("room"), agent.allocate(Tier::Device, bytes).expect("room"));
    let moves: Vec<Move> = (0..8)
        .map(|at| Move { to: b.range.base + at * (bytes / 8), from: a.range.base + at * (bytes / 8), bytes: bytes / 8 })
        .collect();
    let submit = || {
        agent.copy(&moves).expect("submitted");
        // A copy of many ranges is one launch; it stands for one of the program's.
        agent.note_launch();
    };
    let mut instructions = None;
    for names in [
        vec!["dram__bytes_read.sum"],
        vec!["sm__inst_executed.sum"],
        vec!["l1tex__t_bytes.sum"],
        vec!["basic"],
        vec!["memory"],
        vec!["compute"],
        vec!["roofline"],
    ] {
        let request =
            Request { names: names.iter().map(|name| (*name).to_owned()).collect(), repeat: 1, dispatches: 1 };
        let plan = counters.plan(&request).expect("planned");
        for (round, dispatches) in [1, 1, 1, 50, 50].into_iter().enumerate() {
            let start = Instant::now();
            let (readings, times) = window(&counters, &plan, dispatches, &submit);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let steps: Vec<String> = times.iter().map(|(step, us)| format!("\"{step}\":{us:.0}")).collect();
            println!(
                "{{\"bench\":\"window\",\"names\":{names:?},\"round\":{round},\"dispatches\":{dispatches},\"passes\":{},\"ms\":{ms:.3},\"us\":{{{}}}}}",
                plan.passes.len(),
                steps.join(",")
            );
            let counted: usize = plan.passes.last().map_or(0, |pass| pass.counters.len());
            assert!(readings.len() >= counted * dispatches as usize, "{} readings", readings.len());
            let executed = values(&readings, "sm__inst_executed.sum");
            for value in executed {
                assert!(value.as_f64() > 1000.0, "{value:?}");
                assert_eq!(*instructions.get_or_insert(value), value, "instruction counts repeat");
            }
            if round == 2 {
                for reading in &readings {
                    println!("  {} = {:?} {} (pass {})", reading.counter, reading.value, reading.unit, reading.pass);
                }
            }
        }
    }
    counters.flush();
    counters.close();
    agent.free(a);
    agent.free(b);
}

/// What is prepared ahead is what the first window needs, and adds nothing to it.
#[test]
fn a_prepared_window_counts_what_any_window_does() {
    let Some(agent) = gpu_agent() else { return };
    let bytes = 1u64 << 20;
    let (a, b) =
        (agent.allocate(Tier::Device, bytes).expect("room"), agent.allocate(Tier::Device, bytes).expect("room"));
    let part = |at| Move { to: b.range.base + at, from: a.range.base + at, bytes: 4096 };
    let three = [part(0), part(8192), part(16_384)];
    let mut instructions = None;
    for (names, sampling) in [("sm__inst_executed.sum", true), ("sm__inst_executed.sum", false), ("basic", true)] {
        let counters = counters_by(&agent, sampling);
        let plan = counters.plan(&Request { names: vec![names.into()], repeat: 1, dispatches: 500 }).expect("planned");
        let start = Instant::now();
        crate::interceptor::AgentCounters::prepare(&*counters, &plan, 200);
        println!(
            "{{\"step\": \"prepare {names}, sampling: {sampling}\", \"ms\": {:.1}}}",
            start.elapsed().as_secs_f64() * 1e3
        );
        for _ in 0..2 {
            let (readings, times) = window(&counters, &plan, 200, &|| {
                agent.copy(&three).expect("submitted");
                agent.note_launch();
            });
            println!("{times:?}");
            let executed = values(&readings, "sm__inst_executed.sum");
            assert_eq!(executed.len(), 200);
            for value in executed {
                assert_eq!(*instructions.get_or_insert(value), value, "{names}, sampling: {sampling}");
            }
        }
    }
    agent.free(a);
    agent.free(b);
}

/// A window that is abandoned in the middle leaves the next one right.
#[test]
fn an_abandoned_window_does_no_harm() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters(&agent);
    let bytes = 1u64 << 20;
    let (a, b) =
        (agent.allocate(Tier::Device, bytes).expect("room"), agent.allocate(Tier::Device, bytes).expect("room"));
    // Three moves go to one launch of the copy kernel.
    let part = |at| Move { to: b.range.base + at, from: a.range.base + at, bytes: 4096 };
    let three = [part(0), part(8192), part(16_384)];
    let request = Request { names: vec!["stalls".into()], repeat: 1, dispatches: 1 };
    let plan = counters.plan(&request).expect("planned");
    assert!(plan.passes.len() > 4);
    for stop_after in 0..4 {
        counters.open(&plan, 1).expect("open");
        for pass in plan.passes.iter().take(stop_after) {
            counters.begin(pass).expect("begin");
            counters.before(0).expect("before");
            agent.copy(&three).expect("submitted");
            agent.note_launch();
            counters.after(0).expect("after");
            counters.end().expect("end");
        }
        counters.begin(&plan.passes[stop_after]).expect("begin");
        counters.abandon();
        let (readings, _) = window(&counters, &plan, 1, &|| {
            agent.copy(&three).expect("submitted");
            agent.note_launch();
        });
        // The time, and each ratio once, under the last of its passes.
        assert_eq!(readings.len(), plan.passes[0].counters.len() + plan.passes[1].counters.len());
    }
    counters.close();
}

/// How long a tiny kernel is said to take: printed, not asserted.
#[test]
fn times_of_a_tiny_kernel() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters(&agent);
    let (a, b) = (agent.allocate(Tier::Device, ROOM).expect("room"), agent.allocate(Tier::Device, ROOM).expect("room"));
    let kinds = Kinds { agent: &agent, a: a.range.base, b: b.range.base };
    let plan = counters.plan(&Request { names: vec!["gpu_time".into()], repeat: 1, dispatches: 64 }).expect("planned");
    for kind in [0, 2] {
        let (readings, _) = window(&counters, &plan, 64, &|| kinds.submit(kind));
        let mut times: Vec<f64> = readings.iter().map(|reading| reading.value.as_f64()).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(times.len(), 64);
        println!("{{\"bench\":\"gpu_time\",\"kind\":{kind},\"ns\":[{},{},{}]}}", times[0], times[32], times[63]);
    }
    agent.free(a);
    agent.free(b);
}
