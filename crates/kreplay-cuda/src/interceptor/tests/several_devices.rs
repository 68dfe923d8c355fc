//! Launches of which nobody tells where they run and what they write.

use super::*;
use kreplay_engine::ShadowMode;

/// What such a launch writes nobody tells, on whichever device. So nobody replays beside it, and nobody takes memory for what it was.
#[test]
fn launches_on_several_devices_end_the_windows_of_all_and_are_seen_by_all() {
    let forms = [cbid::LAUNCH_COOPERATIVE_MULTI, cbid::LAUNCH_GRID_ASYNC];
    for (id, batches) in forms.into_iter().flat_map(|id| [(id, true), (id, false)]) {
        let settings = Settings { shadow: ShadowMode::Trusted, ..Program::settings(3, batches, Request::default()) };
        let mut program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
        let (own, other) = (program.context, Context((fake::CONTEXT + 0xF40_0000) as *mut c_void));
        program.context = other;
        program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
        let (elsewhere, function) = (program.allocate(8192), increment("on_several"));
        let written = elsewhere + 4096;
        let launch = |program: &Program| program.launch(function, "on_several", elsewhere, Stream::NULL, 0);
        let close = |program: &Program| program.interceptor.close_windows(ClosingReason::Unrecordable);
        // Windows that come first are looked at whole.
        for _ in 0..64 {
            launch(&program);
            close(&program);
        }
        launch(&program);
        let before = word(elsewhere);
        program.context = own;
        program.call(id, "on_several", &0u64, || {
            assert_eq!(locked(&program.log.windows).len(), 65, "{id}: it is over before the call");
            // SAFETY: live memory of the fake.
            unsafe { *(written as *mut u32) = 77 };
            0
        });
        program.context = other;
        launch(&program);
        close(&program);
        assert_eq!((word(written), word(elsewhere)), (77, before.wrapping_add(1)), "{id}");
        assert!(locked(&program.log.dispatches).iter().all(|record| record.divergence.is_none()));
        if batches {
            assert_eq!(locked(&program.log.windows)[64].closing, ClosingReason::Foreign);
        }
    }
}
