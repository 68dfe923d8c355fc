//! What happens while some stream of the process is being captured.

use super::*;
use kreplay_engine::{Decline, ShadowMode};

const UPLOAD: u32 = 276;
const UPLOAD_IN_ORDER: u32 = 277;

fn stream(number: usize) -> Stream {
    Stream((0x5CA0_0000 + number * 16) as *mut c_void)
}

impl Program {
    fn begins(&self, stream: Stream) {
        self.call(cbid::BEGIN_CAPTURE_V2, "", &stream, || {
            fake::set_captured(stream.raw(), true);
            0
        });
    }

    /// The capture's end, by a call that gives this status.
    fn ends(&self, stream: Stream, ended: bool, status: i32) {
        self.call(cbid::END_CAPTURE, "", &stream, || {
            if ended {
                fake::set_captured(stream.raw(), false);
            }
            status
        });
    }

    fn submissions(&self) -> u64 {
        self.interceptor.context(self.context).driven().expect("an engine").agent.submissions()
    }
}

/// A call that writes 77 there; it says on which stream.
type Writes = fn(&Program, u64, Stream);

fn write(at: u64) -> i32 {
    // SAFETY: live memory of the fake.
    unsafe { *(at as *mut u32) = 77 };
    0
}

fn by_upload(program: &Program, at: u64, _: Stream) {
    let source = 77u32;
    let p = CopyParams { to: at, from: &raw const source as u64, bytes: 4 };
    program.call(UPLOAD, "", &p, || write(at));
}

fn by_upload_in_order(program: &Program, at: u64, stream: Stream) {
    // Four words: to, from, bytes, stream.
    program.call(UPLOAD_IN_ORDER, "", &[at, at, 4, stream.raw()], || write(at));
}

fn by_set(program: &Program, at: u64, stream: Stream) {
    program.call(220, "", &[at, 77, 1, stream.raw()], || write(at));
}

fn by_unknown_operation(program: &Program, at: u64, stream: Stream) {
    program.call(460, "", &[stream.raw(), at, 77, 0], || write(at));
}

fn by_graph(program: &Program, at: u64, stream: Stream) {
    let p = GraphLaunchParams { graph: 0x9000 as *mut c_void, stream };
    program.call(cbid::GRAPH_LAUNCH, "", &p, || write(at));
}

const WAYS: [Writes; 5] = [by_upload, by_upload_in_order, by_set, by_unknown_operation, by_graph];

/// A window takes what it finds changed for its passes' own, unless it was told.
#[test]
fn what_is_written_beside_a_capture_stays() {
    for (number, way) in WAYS.into_iter().enumerate() {
        let settings = Settings { shadow: ShadowMode::Trusted, ..Program::settings(3, false, Request::default()) };
        let program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
        let (data, function) = (program.allocate(8192), increment("beside_captures"));
        let before = word(data);
        let launch = || program.launch(function, "beside_captures", data, Stream::NULL, 0);
        // Windows that come first are looked at whole.
        (0..64).for_each(|_| launch());
        let captured = stream(1);
        program.begins(captured);
        way(&program, data + 4096, stream(2));
        program.ends(captured, true, 0);
        launch();
        assert_eq!((word(data + 4096), word(data)), (77, before.wrapping_add(65)), "way {number}");
        assert_eq!((program.declined(), program.last().divergence), (None, None));
    }
}

#[test]
fn what_goes_into_a_capture_does_not_run_and_graphs_beside_it_decline() {
    let program = Program::new(3);
    let (data, function) = (program.allocate(8192), increment("into_captures"));
    program.launch(function, "into_captures", data, Stream::NULL, 0);
    program.begins(stream(1));
    // The first of these takes no stream.
    for way in &WAYS[1..] {
        let seen = (program.submissions(), locked(&program.log.dispatches).len());
        way(&program, data, stream(1));
        assert_eq!((program.submissions(), locked(&program.log.dispatches).len()), seen);
    }
    let calls = |way: Writes| {
        fake::take_calls();
        way(&program, data, stream(2));
        fake::take_calls()
    };
    for way in WAYS {
        // Nothing that may wait, allocate or submit.
        let asked = calls(way);
        let harmless = ["cuStreamIsCapturing", "cuCtxGetCurrent", "cuPointerGetAttribute"];
        assert!(asked.keys().all(|name| harmless.contains(name)), "{asked:?}");
    }
    assert_eq!(program.declined(), Some(Decline::StreamCapture));
    assert_eq!(&*program.last().kernel.name, "CUDA graph");
}

#[test]
fn a_graph_beside_a_capture_declines_though_there_is_no_engine() {
    let program = Program::new(3);
    program.begins(stream(1));
    by_graph(&program, program.allocate(4096), stream(2));
    assert_eq!((program.declined(), &*program.last().kernel.name), (Some(Decline::StreamCapture), "CUDA graph"));
    assert!(program.interceptor.context(program.context).driven().is_none(), "none can be made then");
    // The graph itself goes into the capture, and is no dispatch.
    by_graph(&program, program.allocate(4096), stream(1));
    assert_eq!(locked(&program.log.dispatches).len(), 1);
}

#[test]
fn no_window_opens_while_a_copy_lasts_that_began_beside_a_capture() {
    let program = Program::new(3);
    let (data, function) = (program.allocate(8192), increment("straddled"));
    program.launch(function, "straddled", data, Stream::NULL, 0);
    let seen = fake::launches("straddled");
    let source = 77u32;
    let p = CopyParams { to: data + 64, from: &raw const source as u64, bytes: 4 };
    program.begins(stream(1));
    std::thread::scope(|scope| {
        let program = &program;
        program.call(UPLOAD, "", &p, || {
            scope.spawn(move || {
                program.ends(stream(1), true, 0);
                program.launch(function, "straddled", data, Stream::NULL, 0);
            });
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(fake::launches("straddled"), seen, "it waits");
            write(data + 64)
        });
    });
    assert_eq!((program.declined(), program.last().divergence.clone(), word(data + 64)), (None, None, 77));
}

/// What a program does.
type Does<'a> = &'a dyn Fn(&Program);

/// Launches of another stream decline for as long as, and only as long as, a stream is captured.
#[test]
fn captures_end_where_their_streams_do() {
    const NOT_THIS_THREADS: i32 = 908;
    const INVALIDATED: i32 = 901;
    let (one, two) = (stream(1), stream(2));
    let begin_again = |program: &Program| {
        program.call(cbid::BEGIN_CAPTURE_V2, "", &one, || 1);
    };
    let gone = |program: &Program| program.resource(resource::STREAM_DESTROY_STARTING, one, std::ptr::null());
    let per_thread = |program: &Program, id, status| {
        program.call(id, "", &Stream::NULL, || {
            fake::set_captured(Stream::PER_THREAD.raw(), id == cbid::BEGIN_CAPTURE_PTSZ);
            status
        });
    };
    let in_other_thread = |program: &Program| {
        std::thread::scope(|scope| {
            let own = scope.spawn(|| program.call(cbid::END_CAPTURE_PTSZ, "", &Stream::NULL, || NOT_THIS_THREADS));
            assert!(own.join().is_ok());
        });
    };
    let begin: Does<'_> = &|program| program.begins(one);
    let begin_per_thread: Does<'_> = &|program| per_thread(program, cbid::BEGIN_CAPTURE_PTSZ, 0);
    let cases: [(&str, Does<'_>, Does<'_>, bool); 11] = [
        ("its end", begin, &|program| program.ends(one, true, 0), false),
        ("an end that says that it was invalid", begin, &|program| program.ends(one, true, INVALIDATED), false),
        ("an end by another thread", begin, &|program| program.ends(one, false, NOT_THIS_THREADS), true),
        ("an end of another stream, which fails", begin, &|program| program.ends(two, false, 1), true),
        ("the end of its stream", begin, &gone, false),
        (
            "the end of another stream",
            begin,
            &|program| {
                program.resource(resource::STREAM_DESTROY_STARTING, two, std::ptr::null());
            },
            true,
        ),
        ("a second beginning, which fails", begin, &begin_again, true),
        (
            "one, of two",
            &|program| {
                program.begins(one);
                program.begins(two);
            },
            &|program| program.ends(one, true, 0),
            true,
        ),
        (
            "both",
            &|program| {
                program.begins(one);
                begin_again(program);
                program.begins(two);
            },
            &|program| {
                program.ends(two, true, 0);
                gone(program);
                program.ends(one, true, 1);
            },
            false,
        ),
        (
            "the thread's own, by itself",
            begin_per_thread,
            &|program| per_thread(program, cbid::END_CAPTURE_PTSZ, 0),
            false,
        ),
        ("the thread's own, by another", begin_per_thread, &in_other_thread, true),
    ];
    let function = increment("ending");
    for (what, begin, end, goes_on) in cases {
        let program = Program::new(2);
        let data = program.allocate(4096);
        let launch = || {
            program.launch(function, "ending", data, stream(3), 0);
            program.declined()
        };
        assert_eq!(launch(), None);
        begin(&program);
        assert_eq!(launch(), Some(Decline::StreamCapture), "{what}");
        end(&program);
        assert_eq!(launch(), goes_on.then_some(Decline::StreamCapture), "{what}");
        [one, two, Stream::PER_THREAD].iter().for_each(|stream| fake::set_captured(stream.raw(), false));
    }
}

#[test]
fn captures_end_with_their_context() {
    let mut program = Program::new(2);
    let first = std::mem::replace(&mut program.context, Program::fresh_context());
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    program.begins(stream(4));
    program.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    program.context = first;
    program.launch(increment("left_behind"), "left_behind", program.allocate(4096), Stream::NULL, 0);
    assert_eq!(program.declined(), None);
    fake::set_captured(stream(4).raw(), false);
}
