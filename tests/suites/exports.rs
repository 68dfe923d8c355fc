//! Memory that the program hands to another process, which writes it: nothing of it is put back from then on.
#![forbid(unsafe_code)]

use kreplay_tests::{Profile, build, missing, plain, program, run, skipped};

#[test]
fn memory_that_another_process_is_given() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let executable = build(&program("exported"), "-O2");
    let expected = run(&mut plain(&executable));
    assert_eq!(expected.code(), 0, "{expected:#?}");
    for window in ["batch", "kernel"] {
        let profiled = Profile::new().passes(3).window(window).run(&executable, []);
        assert_eq!(profiled.ended.code(), 0, "{window}: {:#?}", profiled.ended);
        assert_eq!(profiled.ended.stdout, expected.stdout, "{window}: {:#?}", profiled.ended);
        let reasons = |kernel: &str| {
            let rows = profiled.dispatches_of(kernel);
            assert!(rows.iter().all(|row| row.divergence.is_none()), "{window}: {rows:#?}");
            let mut reasons: Vec<_> = rows.into_iter().map(|row| row.reason.unwrap_or_default()).collect();
            reasons.sort_unstable();
            reasons
        };
        // Once in the other process and once behind it here.
        assert_eq!(reasons("advance"), ["", "imported_memory", "imported_memory"], "{window}");
        assert_eq!(reasons("beside"), ["", "", ""], "{window}");
    }
}
