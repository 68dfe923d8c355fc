//! The write set that kreplay finds is the software GPU's own, chunk by chunk: for every dispatch of every program in
//! kernel windows, for every window of every program in batch windows, also where packets come several at a time.

use kreplay_protocol::{Outcome, WindowKind};
use kreplay_store::DispatchRow;
use kreplay_tests::{
    Profile, Program, build, compare_window_write_sets, compare_write_sets, missing, plain, programs, read_oracle, run,
    skipped,
};
use libtest_mimic::{Arguments, Failed, Trial};

/// Programs whose kernels all reach memory of the host, and so never go into batch windows.
const HOST_MEMORY: [&str; 2] = ["managed", "pinned"];

fn main() {
    let mut trials = Vec::new();
    for program in programs() {
        let (name, own) = (program.name.clone(), program.clone());
        trials.push(Trial::test(format!("{name} kernel"), move || kernel_windows(&own)));
        for passes in [2, 3, 5] {
            let own = program.clone();
            trials.push(Trial::test(format!("{name} batch {passes}"), move || batch_windows(&own, passes)));
        }
        trials.push(Trial::test(format!("{name} bundled"), move || bundles(&program)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn kernel_windows(program: &Program) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let profile = Profile::new().passes(3).window("kernel").write_sets();
    let oracle = profile.path("oracle");
    let profiled = profile.environment("SOFTGPU_ORACLE", &oracle).run(&build(program, "-O2"), []);
    if profiled.ended.code() != 0 {
        return Err(format!("{:#?}", profiled.ended).into());
    }
    let dispatches = profiled.dispatches();
    let compared = compare_write_sets(&dispatches, &read_oracle(&oracle));
    if compared == 0 || compared != dispatches.len() {
        return Err(format!("{compared} of {} dispatches were compared: {dispatches:#?}", dispatches.len()).into());
    }
    Ok(())
}

fn batch_windows(program: &Program, passes: u32) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let profile = Profile::new().passes(passes).write_sets();
    let oracle = profile.path("oracle");
    let profiled = profile.environment("SOFTGPU_ORACLE", &oracle).run(&build(program, "-O2"), []);
    if profiled.ended.code() != 0 {
        return Err(format!("{:#?}", profiled.ended).into());
    }
    let dispatches = profiled.dispatches();
    let compared = compare_window_write_sets(&dispatches, &read_oracle(&oracle));
    let batch = dispatches.iter().filter(|row| row.window_kind == Some(WindowKind::Batch)).count();
    let expected = if HOST_MEMORY.contains(&program.name.as_str()) { 0 } else { dispatches.len() };
    if batch != expected || (compared == 0) != (expected == 0) {
        return Err(format!(
            "{compared} windows with {batch} of {} dispatches were compared: {dispatches:#?}",
            dispatches.len()
        )
        .into());
    }
    Ok(())
}

/// Several launches in one submission go into a window together, or decline together.
fn bundles(program: &Program) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let profile = Profile::new().passes(3).write_sets();
    let oracle = profile.path("oracle");
    let executable = build(program, "-O2");
    let expected = run(&mut plain(&executable));
    let profiled = profile.environment("SOFTGPU_ORACLE", &oracle).run_bundled(&executable, []);
    if profiled.ended.code() != 0 || profiled.ended.stdout != expected.stdout {
        return Err(format!("{:#?}\nplain: {expected:#?}", profiled.ended).into());
    }
    let dispatches = profiled.dispatches();
    let compared = compare_window_write_sets(&dispatches, &read_oracle(&oracle));
    let declined = dispatches.iter().filter(|row| row.outcome == Outcome::Declined).count();
    let none = HOST_MEMORY.contains(&program.name.as_str());
    if dispatches.is_empty() || (compared == 0) != none || !none && declined * 2 > dispatches.len() {
        return Err(format!("{compared} windows compared, {declined} declined: {dispatches:#?}").into());
    }
    let unexpected = |row: &&DispatchRow| {
        row.divergence.is_some() && !program.may_diverge.iter().any(|kernel| row.kernel.contains(kernel.as_str()))
    };
    match dispatches.iter().find(unexpected) {
        Some(row) => Err(format!("{} diverged: {row:#?}", row.kernel).into()),
        None => Ok(()),
    }
}
