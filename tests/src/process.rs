//! Running a program to its end, or ending it.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long anything may run before it counts as hanging. Not a bound on speed: the longest takes seconds.
pub const DEADLINE: Duration = Duration::from_secs(240);

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ended {
    /// The exit code.
    ///
    /// # Panics
    /// When a signal ended it.
    pub fn code(&self) -> i32 {
        self.status
            .code()
            .unwrap_or_else(|| panic!("ended by {}; it wrote:\n{}\n{}", self.status, self.stdout, self.stderr))
    }
}

/// Runs a command without input and waits for it.
///
/// # Panics
/// When it cannot be started, or hangs: then it is killed first.
pub fn run(command: &mut Command) -> Ended {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?} could not be started: {error}"));
    let stdout = collect(child.stdout.take().expect("it was asked for"));
    let stderr = collect(child.stderr.take().expect("it was asked for"));
    let end = Instant::now() + DEADLINE;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if Instant::now() > end {
            child.kill().expect("a child can be killed");
            child.wait().expect("a killed child ends");
            panic!("{command:?} hangs; it wrote:\n{}\n{}", text(stdout), text(stderr));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    Ended { status, stdout: text(stdout), stderr: text(stderr) }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a broken pipe is what there is.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn text(thread: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&thread.join().expect("reading does not panic")).into_owned()
}
