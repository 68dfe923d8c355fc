//! The write set that kreplay finds is the software GPU's own, chunk by chunk, for every dispatch of every program.

use kreplay_tests::{Profile, Program, build, compare_write_sets, missing, programs, read_oracle, skipped};
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
    let profile = Profile::new().passes(3).write_sets();
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
