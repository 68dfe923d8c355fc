//! A driver that has functions of which nothing is known.

use super::*;
use kreplay_engine::ClosingReason;

#[test]
fn a_function_that_nobody_knows_ends_the_window_and_is_told_of_once() {
    let mut program = Program::with(3, true);
    let memory = program.allocate(4096);
    let (function, before) = (increment("before"), word(memory));
    program.launch(function, "before", memory, Stream::NULL, 0);
    for _ in 0..2 {
        program.named = Some(c"cuMemDoSomething");
        program.call(cbid::NEWEST + 1, "", &0u64, || {
            // SAFETY: live memory of the fake.
            unsafe { *(memory as *mut u32) += 10 };
            0
        });
        program.named = None;
        program.launch(function, "before", memory, Stream::NULL, 0);
    }
    program.interceptor.finish();
    assert_eq!(word(memory), before.wrapping_add(23));
    let closings: Vec<_> =
        locked(&program.log.windows).iter().map(|window| (window.dispatches, window.closing, window.call)).collect();
    let ended = (1, ClosingReason::Unrecordable, Some("cuMemDoSomething"));
    assert_eq!(closings, [ended, ended, (1, ClosingReason::Exit, None)]);
    let warnings = locked(&program.log.warnings);
    let told: Vec<_> = warnings.iter().filter(|(key, _)| *key == "newer_function").collect();
    assert!(told.len() == 1 && told[0].1.contains("cuMemDoSomething"), "{told:?}");
}
