//! Every test program, at every level of optimisation: profiled with 1, 2, 3 and 5 passes, in batch windows and in kernel
//! windows, it prints what it prints plain, and ends alike.

use kreplay_store::DispatchRow;
use kreplay_tests::{OPTIMISATIONS, Profile, Program, build, missing, plain, programs, run, skipped};
use libtest_mimic::{Arguments, Failed, Trial};

/// How many passes the programs are profiled with.
const PASSES: [u32; 4] = [1, 2, 3, 5];

fn main() {
    let trials = programs()
        .into_iter()
        .flat_map(|program| OPTIMISATIONS.map(|optimisation| (program.clone(), optimisation)))
        .map(|(program, optimisation)| {
            let name = format!("{}{optimisation}", program.name);
            Trial::test(name, move || checked(&program, optimisation))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn checked(program: &Program, optimisation: &str) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let executable = build(program, optimisation);
    let expected = run(&mut plain(&executable));
    if expected.code() != 0 || expected.stdout.is_empty() {
        return Err(format!("the plain run is wrong: {expected:#?}").into());
    }
    // Batch windows, the default, at every level of optimisation; kernel windows at one.
    let kernel = if optimisation == "-O2" { PASSES.as_slice() } else { &[] };
    let kernel = kernel.iter().map(|passes| (*passes, "kernel"));
    for (passes, window) in PASSES.map(|passes| (passes, "auto")).into_iter().chain(kernel) {
        let profiled = Profile::new().passes(passes).window(window).run(&executable, []);
        if profiled.ended.code() != 0 || profiled.ended.stdout != expected.stdout {
            return Err(format!("with {passes} passes: {:#?}\nplain: {expected:#?}", profiled.ended).into());
        }
        let dispatches = profiled.dispatches();
        if dispatches.is_empty() {
            return Err(format!("with {passes} passes no kernel was seen: {}", profiled.ended.stderr).into());
        }
        let unexpected = |row: &&DispatchRow| {
            row.divergence.is_some() && !program.may_diverge.iter().any(|kernel| row.kernel.contains(kernel.as_str()))
        };
        if let Some(row) = dispatches.iter().find(unexpected) {
            return Err(format!("with {passes} passes {} diverged: {row:#?}", row.kernel).into());
        }
    }
    Ok(())
}
