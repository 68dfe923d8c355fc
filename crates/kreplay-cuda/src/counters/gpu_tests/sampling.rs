//! Sampling beside ranges.

use super::*;

/// Deterministic counters are the same by sampling as by ranges, on every launch.
#[test]
fn sampling_counts_what_ranges_count() {
    // Enough of them that several portions are decoded between them.
    const LAUNCHES: u32 = 600;
    let Some(agent) = gpu_agent() else { return };
    let (a, b) = (agent.allocate(Tier::Device, ROOM).expect("room"), agent.allocate(Tier::Device, ROOM).expect("room"));
    let kinds = Kinds { agent: &agent, a: a.range.base, b: b.range.base };
    let requests = [
        (vec!["sm__inst_executed.sum", "lts__t_sectors.sum", "dram__bytes_read.sum"], 1),
        (vec!["l1tex__t_bytes.sum", "l1tex__t_sectors.sum", "sm__cycles_active.sum"], 2),
        (vec!["sm__warps_active.avg.pct_of_peak_sustained_active", "sm__inst_issued.sum"], 0),
        // Told active by another unit than the multiprocessors.
        (vec!["lts__t_sectors.sum", "dram__bytes_read.sum"], 0),
    ];
    let count = |sampling: bool| {
        let counters = counters_by(&agent, sampling);
        let mut all = Vec::new();
        for (names, _) in &requests {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let plan = counters.plan(&Request { names, repeat: 1, dispatches: LAUNCHES }).expect("planned");
            assert_eq!(plan.passes.iter().all(|pass| pass.way == Way::Sampling), sampling);
            // Twice: the first window learns how long the kernels are.
            for round in 0..2 {
                let start = Instant::now();
                let at = std::cell::Cell::new(0);
                let submit = || kinds.submit(at.replace(at.get() + 1));
                let (readings, times) = window(&counters, &plan, LAUNCHES, &submit);
                let steps: Vec<String> = times.iter().map(|(step, us)| format!("\"{step}\":{us:.0}")).collect();
                println!(
                    "{{\"bench\":\"ways\",\"sampling\":{sampling},\"round\":{round},\"launches\":{LAUNCHES},\"ms\":{:.3},\"us\":{{{}}}}}",
                    start.elapsed().as_secs_f64() * 1e3,
                    steps.join(",")
                );
                all.push(readings);
            }
        }
        counters.close();
        all
    };
    let (sampled, ranged) = (count(true), count(false));
    for (at, (names, exact)) in requests.iter().enumerate() {
        for (place, name) in names.iter().enumerate() {
            let of = |all: &[Vec<Reading>], round: usize| values(&all[at * 2 + round], name);
            let (mine, once, again) = (of(&sampled, 1), of(&ranged, 0), of(&ranged, 1));
            assert_eq!(
                (mine.len(), once.len(), again.len()),
                (LAUNCHES as usize, LAUNCHES as usize, LAUNCHES as usize)
            );
            for kind in 0..Kinds::COUNT as usize {
                println!(
                    "{name} kind {kind}: sampling {:?}, ranges {:?} and {:?}",
                    mine[kind], once[kind], again[kind]
                );
            }
            if place >= *exact {
                continue;
            }
            // Of some kinds the work depends on what the launches before them did to memory: ranges do not repeat either.
            let kinds = Kinds::COUNT as usize;
            let repeats = |kind: &usize| {
                let of_kind = |all: &[Value]| all.iter().skip(*kind).step_by(kinds).copied().collect::<Vec<Value>>();
                let (once, again) = (of_kind(&once), of_kind(&again));
                once == again && once.iter().all(|value| *value == once[0])
            };
            let repeating: Vec<usize> = (0..kinds).filter(repeats).collect();
            assert!(repeating.len() >= 7, "{name} repeats for kinds {repeating:?} only");
            for (launch, (mine, theirs)) in mine.iter().zip(&again).enumerate() {
                if repeating.contains(&(launch % kinds)) {
                    assert_eq!(mine, theirs, "{name} of launch {launch}");
                }
            }
        }
    }
    agent.free(a);
    agent.free(b);
}

/// Without fences the true count lies within the bound.
#[test]
fn approximate_counts_keep_their_bound() {
    const LAUNCHES: u32 = 24;
    let Some(agent) = gpu_agent() else { return };
    let (a, b) = (agent.allocate(Tier::Device, ROOM).expect("room"), agent.allocate(Tier::Device, ROOM).expect("room"));
    let kinds = Kinds { agent: &agent, a: a.range.base, b: b.range.base };
    let count = |fence: bool| {
        let counters = counters_with(&agent, true, fence);
        let names = vec!["sm__inst_executed.sum".to_owned()];
        let plan = counters.plan(&Request { names, repeat: 1, dispatches: LAUNCHES }).expect("planned");
        // The program's last launch was on a stream of its own; these are replays, which the counters are told as they begin.
        crate::agent::launching_on(crate::tables::Stream::LEGACY);
        let at = std::cell::Cell::new(0);
        let submit = || kinds.submit(at.replace(at.get() + 1));
        let (readings, _) = window_of(&counters, &plan, LAUNCHES, &submit, true);
        counters.close();
        readings
    };
    let (approximate, exact) = (count(false), count(true));
    assert!(!approximate.is_empty());
    for reading in &approximate {
        let truth = exact.iter().find(|exact| exact.dispatch == reading.dispatch).expect("counted").value.as_f64();
        let (value, bound) = (reading.value.as_f64(), reading.bound.expect("it is approximate"));
        println!("dispatch {}: {truth} is {value} within {bound:.3}", reading.dispatch);
        assert!((value - truth).abs() <= value * bound + 1.0, "dispatch {}", reading.dispatch);
    }
    agent.free(a);
    agent.free(b);
}
