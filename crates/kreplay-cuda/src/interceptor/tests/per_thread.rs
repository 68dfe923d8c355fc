//! Per-thread default streams: nobody but their threads can ask whether they are idle.

use super::*;
use crate::agent::per_thread_used;
use kreplay_engine::Decline;
use std::time::Duration;

/// What a call that goes to a stream is told by.
enum Told {
    Launch,
    Extended,
    Stream,
}

/// Calls with a null stream, or with the handle of the thread's own, and whether that is the thread's own.
const CALLS: &[(u32, Told, Stream, bool)] = &[
    (cbid::LAUNCH_KERNEL, Told::Launch, Stream::NULL, false),
    (cbid::LAUNCH_KERNEL_PTSZ, Told::Launch, Stream(0x30 as *mut c_void), false),
    (cbid::LAUNCH_KERNEL_PTSZ, Told::Launch, Stream::NULL, true),
    (cbid::LAUNCH_KERNEL, Told::Launch, Stream::PER_THREAD, true),
    (cbid::LAUNCH_KERNEL_EX, Told::Extended, Stream::NULL, false),
    (cbid::LAUNCH_KERNEL_EX_PTSZ, Told::Extended, Stream::NULL, true),
    (cbid::HOST_FUNCTION, Told::Stream, Stream::NULL, false),
    (cbid::HOST_FUNCTION_PTSZ, Told::Stream, Stream::NULL, true),
    // cuStreamWaitValue32 and its twins.
    (659, Told::Stream, Stream::NULL, false),
    (660, Told::Stream, Stream::NULL, true),
    (661, Told::Stream, Stream::PER_THREAD, true),
];

fn call(program: &Program, at: usize) {
    let (id, told, stream, _) = &CALLS[at];
    let boring = increment("boring");
    match told {
        Told::Launch => program.quiet_call(*id, c"boring", &one_block(boring, *stream, &mut [])),
        Told::Extended => {
            let config = LaunchConfig {
                grid: [1; 3],
                block: [32, 1, 1],
                shared: 0,
                stream: *stream,
                attributes: std::ptr::null(),
                attribute_count: 0,
            };
            let (arguments, extra) = (std::ptr::null_mut(), std::ptr::null_mut());
            let parameters = LaunchKernelExParams { config: &raw const config, function: boring, arguments, extra };
            program.quiet_call(*id, c"boring", &parameters);
        }
        Told::Stream => program.quiet_call(*id, c"", stream),
    }
}

#[test]
fn what_goes_to_the_threads_own_default_stream_is_noted_selected_or_not() {
    let program = Program::new(3);
    for (at, (id, _, stream, own)) in CALLS.iter().enumerate() {
        crate::agent::forget_per_thread();
        call(&program, at);
        assert_eq!(per_thread_used(), *own, "function {id}, stream {stream:?}");
    }
    assert!(program.interceptor.context(program.context).driven().is_none(), "none of it was selected");
}

#[test]
fn a_launch_beside_another_threads_waiting_kernel_declines_in_time_and_the_program_goes_on() {
    // Long enough for a thread to begin and to wake on a busy machine.
    let settings =
        Settings { drain_deadline: Duration::from_secs(2), ..Program::settings(3, false, Request::default()) };
    let program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
    let data = program.allocate(4096);
    let before = word(data);
    let step = increment("beside_a_waiting_one");
    program.launch(step, "beside_a_waiting_one", data, Stream::NULL, 0);
    assert_eq!(program.last().outcome, Outcome::Replayed);
    // Another thread's kernel waits for the host, on its own default stream.
    std::thread::scope(|scope| {
        scope.spawn(|| call(&program, 2));
    });
    fake::set_busy_unseen(true);
    program.launch(step, "beside_a_waiting_one", data, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::DrainTimeout));
    fake::set_busy_unseen(false);
    program.launch(step, "beside_a_waiting_one", data, Stream::NULL, 0);
    assert_eq!((program.last().outcome, word(data)), (Outcome::Replayed, before.wrapping_add(3)));
}
