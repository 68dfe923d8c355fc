//! What the restore is for: with every restore left out exactly the kernels that read what they write go wrong, and
//! kreplay says that their passes differed.

use std::collections::BTreeSet;

use kreplay_tests::{Profile, Program, build, missing, programs, skipped};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let trials = programs().into_iter().map(|program| Trial::test(program.name.clone(), move || checked(&program)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn checked(program: &Program) -> Result<(), Failed> {
    if let Some(why) = missing() {
        skipped(&why);
        return Ok(());
    }
    let profiled = Profile::new().passes(2).without_restore().run(&build(program, "-O2"), []);
    let wrong: BTreeSet<&str> =
        profiled.ended.stdout.lines().filter_map(|line| line.split_once(" WRONG ").map(|(kernel, _)| kernel)).collect();
    let expected: BTreeSet<&str> = program.wrong_without_restore.iter().map(String::as_str).collect();
    if wrong != expected || profiled.ended.code() != i32::from(!expected.is_empty()) {
        return Err(format!("wrong without a restore: {wrong:?}, expected {expected:?}\n{:#?}", profiled.ended).into());
    }
    Ok(())
}
