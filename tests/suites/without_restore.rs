//! What the restore is for: with every restore left out exactly the kernels that read what they write go wrong, and
//! kreplay says that their passes differed.
//!
//! In a batch window the program's own run is the first, so that its results stay right; what goes wrong are the passes
//! behind it, and kreplay says so at the window's end. Windows of one kernel show it for each kernel: in longer ones an
//! upload that was recorded may put right what a kernel before it did.

use std::collections::BTreeSet;

use kreplay_protocol::WindowKind;
use kreplay_tests::{Profile, Program, build, missing, programs, skipped};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut trials = Vec::new();
    for program in programs() {
        let (name, own) = (program.name.clone(), program.clone());
        trials.push(Trial::test(format!("{name} kernel"), move || kernel_windows(&own)));
        trials.push(Trial::test(format!("{name} batch"), move || batch_windows(&program)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn kernel_windows(program: &Program) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let profiled = Profile::new().passes(2).window("kernel").without_restore().run(&build(program, "-O2"), []);
    let wrong: BTreeSet<&str> =
        profiled.ended.stdout.lines().filter_map(|line| line.split_once(" WRONG ").map(|(kernel, _)| kernel)).collect();
    let expected: BTreeSet<&str> = program.wrong_without_restore.iter().map(String::as_str).collect();
    if wrong != expected || profiled.ended.code() != i32::from(!expected.is_empty()) {
        return Err(format!("wrong without a restore: {wrong:?}, expected {expected:?}\n{:#?}", profiled.ended).into());
    }
    Ok(())
}

fn batch_windows(program: &Program) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let executable = build(program, "-O2");
    for restore in [true, false] {
        let profile = Profile::new().passes(2).options(["--window-kernels", "1"]);
        let profile = if restore { profile } else { profile.without_restore() };
        let profiled = profile.run(&executable, []);
        let rows = profiled.dispatches();
        let rows: Vec<_> = rows.iter().filter(|row| row.window_kind == Some(WindowKind::Batch)).collect();
        let divergent: BTreeSet<&str> = rows
            .iter()
            .filter(|row| row.divergence.is_some())
            .map(|row| base_name(&row.kernel))
            .filter(|kernel| !restore || !program.may_diverge.iter().any(|may| may == kernel))
            .collect();
        let wrong: BTreeSet<&str> = program.wrong_without_restore.iter().map(String::as_str).collect();
        let kernels: BTreeSet<&str> = rows.iter().map(|row| base_name(&row.kernel)).collect();
        // Some results are of several kernels and have a name of their own.
        if !restore && wrong.is_disjoint(&kernels) {
            if divergent.is_empty() && !wrong.is_empty() && !rows.is_empty() {
                return Err(format!("no kernel of {wrong:?} is divergent without a restore").into());
            }
            continue;
        }
        let expected: BTreeSet<&str> =
            if restore { BTreeSet::new() } else { wrong.intersection(&kernels).copied().collect() };
        if divergent != expected {
            return Err(format!("restore {restore}: divergent are {divergent:?}, expected {expected:?}").into());
        }
    }
    Ok(())
}

/// `advance` of `void advance<int>(int*)`.
fn base_name(kernel: &str) -> &str {
    let name = kernel.strip_prefix("void ").unwrap_or(kernel);
    name.split(['(', '<']).next().unwrap_or(name)
}
