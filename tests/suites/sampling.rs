//! Fenced sampling against ranges: the same values, kernel by kernel, for every program; and a stream of samples that goes
//! wrong gives no value at all, and the reason.

use std::collections::BTreeMap;

use kreplay_protocol::Way;
use kreplay_store::{DispatchRow, Reader};
use kreplay_tests::{Profile, Profiled, Program, binary, build, missing, programs, skipped};
use libtest_mimic::{Arguments, Failed, Trial};

/// Everything that the software GPU counts: several groups, which are sampled where many kernels share a window and read
/// as ranges where each has its own.
const EVERYTHING: [&str; 2] = ["-c", "all"];

fn main() {
    let mut trials = Vec::new();
    for program in programs() {
        let name = program.name.clone();
        trials.push(Trial::test(format!("{name} several groups"), move || equal(&program)));
    }
    for fault in ["sampling-merge:n=3", "sampling-lose:n=40", "sampling-stray:n=3", "sampling-stuck:n=1"] {
        for passes in [1, 2] {
            trials.push(Trial::test(format!("{fault} in {passes} passes"), move || once(fault, passes)));
            trials.push(Trial::test(format!("{fault} always in {passes} passes"), move || always(fault, passes)));
        }
    }
    trials.push(Trial::test("one group needs no replay", no_replay));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Each kernel's values, counter by counter; launches of several threads are in no order.
type Values = BTreeMap<String, BTreeMap<String, Vec<String>>>;

fn values(rows: &[DispatchRow], program: &Program) -> Values {
    let mut values = Values::new();
    for row in rows {
        // How often these kernels' waves try depends on who comes first.
        if program.may_diverge.iter().any(|kernel| row.kernel.contains(kernel.as_str())) {
            continue;
        }
        for reading in &row.readings {
            let kernel = values.entry(row.kernel.clone()).or_default();
            kernel.entry(reading.counter.name.clone()).or_default().push(format!("{:?}", reading.value));
        }
    }
    values.values_mut().flat_map(BTreeMap::values_mut).for_each(|values| values.sort_unstable());
    values
}

/// The ways that the plan has.
fn ways(profiled: &Profiled) -> Vec<Way> {
    let reader = Reader::open(&profiled.file).unwrap_or_else(|error| panic!("{error}"));
    let mut ways: Vec<Way> =
        reader.plan_passes().unwrap_or_else(|error| panic!("{error}")).iter().map(|pass| pass.way).collect();
    ways.dedup();
    ways
}

fn equal(program: &Program) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let executable = build(program, "-O2");
    // One thread: then atomics meet in the same order in every run.
    let run = |window| {
        let profile = Profile::new().options(EVERYTHING).window(window).environment("SOFTGPU_THREADS", "1");
        let profiled = profile.run(&executable, []);
        assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
        profiled
    };
    let (sampled, ranged) = (run("batch"), run("kernel"));
    if (ways(&sampled), ways(&ranged)) != (vec![Way::Sampling], vec![Way::Ranges]) {
        return Err(format!("counted by {:?} and {:?}", ways(&sampled), ways(&ranged)).into());
    }
    let (sampled, ranged) = (sampled.dispatches(), ranged.dispatches());
    let lost: Vec<&String> = sampled.iter().flat_map(|row| &row.notes).collect();
    if !lost.is_empty() {
        return Err(format!("the samples did not fit: {lost:?}").into());
    }
    let (sampled, ranged) = (values(&sampled, program), values(&ranged, program));
    for (kernel, counters) in &ranged {
        for (counter, values) in counters {
            let found = sampled.get(kernel).and_then(|counters| counters.get(counter));
            if found != Some(values) {
                return Err(format!("{counter} of {kernel}: {found:?} sampled, {values:?} by ranges").into());
            }
        }
    }
    if sampled != ranged {
        return Err("more was sampled than ranges count".into());
    }
    Ok(())
}

const LAUNCHES: usize = 12;

fn steady(fault: Option<String>, passes: u32) -> Profiled {
    let profile = Profile::new().options(["-c", "SQ_WAVES,SQ_INSTS_VALU", "--window-kernels", "2"]);
    let profile = profile.options(["--passes", &passes.to_string()]);
    let profile = fault.into_iter().fold(profile, |profile, fault| profile.environment("SOFTGPU_FAULT", fault));
    let profiled = profile.run(&binary("steady"), [LAUNCHES.to_string().as_str()]);
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    profiled
}

/// Whether all values are right, and how many dispatches have them all.
fn whole(profiled: &Profiled, passes: u32) -> usize {
    let rows = profiled.dispatches();
    assert_eq!(rows.len(), LAUNCHES);
    for reading in rows.iter().flat_map(|row| &row.readings) {
        let value = match reading.counter.name.as_str() {
            "SQ_WAVES" => "Count(32)",
            _ => "Count(288)",
        };
        assert_eq!(format!("{:?}", reading.value), value, "{reading:?}");
    }
    rows.iter().filter(|row| row.readings.len() == 2 * passes as usize).count()
}

/// A fault that comes once costs the values of its window's pass. A lost sample costs nothing where it was an idle one
/// before the first dispatch or behind the last: which one it is depends on the host's speed.
fn once(fault: &str, passes: u32) -> Result<(), Failed> {
    let profiled = steady(Some(fault.to_owned()), passes);
    let right = whole(&profiled, passes);
    let noted = profiled.dispatches().iter().filter(|row| row.notes.iter().any(|note| note.contains("lost"))).count();
    let harmless = fault.starts_with("sampling-lose") && (right, noted) == (LAUNCHES, 0);
    if !harmless && (right, noted) != (LAUNCHES - 2, 2) {
        return Err(format!("{right} dispatches have their values, {noted} say why not").into());
    }
    Ok(())
}

/// A fault that stays: sampling is given up, and ranges count the rest.
fn always(fault: &str, passes: u32) -> Result<(), Failed> {
    let profiled = steady(Some(format!("{fault},count=all")), passes);
    let right = whole(&profiled, passes);
    let reader = Reader::open(&profiled.file).unwrap_or_else(|error| panic!("{error}"));
    let warnings = reader.warnings().unwrap_or_else(|error| panic!("{error}"));
    let told = warnings.iter().any(|warning| warning.code == "sampling_given_up");
    // Two windows of two, and what the fault has left alone before.
    if !told || right < LAUNCHES - 6 {
        return Err(format!("told: {told}; {right} dispatches have their values").into());
    }
    Ok(())
}

/// A request that fits one group is counted in the program's own run.
fn no_replay() -> Result<(), Failed> {
    let profiled = steady(None, 1);
    assert_eq!(whole(&profiled, 1), LAUNCHES);
    let rows = profiled.dispatches();
    let once = rows.iter().all(|row| row.outcome == kreplay_protocol::Outcome::Counted && row.passes_done == 1);
    let reader = Reader::open(&profiled.file).unwrap_or_else(|error| panic!("{error}"));
    let windows = reader.windows().unwrap_or_else(|error| panic!("{error}"));
    let moved = windows.iter().any(|window| window.bytes != kreplay_protocol::Bytes::default());
    if !once || windows.is_empty() || moved || ways(&profiled) != [Way::Sampling] {
        return Err(format!("counted once: {once}; snapshots: {moved}; {:?}", ways(&profiled)).into());
    }
    Ok(())
}
