//! A program for the tests of `kreplay profile`: it has no GPU, and speaks to the command as a backend does.
//!
//! Each argument is a step, `name` or `name=value`, done in order:
//!
//! | step | does |
//! |---|---|
//! | `attach` | opens the session; `none` is printed to stderr when there is none |
//! | `dispatch=N` | reports N dispatches of kernel `scale`, each with readings of two passes; filters are asked |
//! | `kernel=NAME` | the kernel of the following dispatches |
//! | `decline=REASON` | reports one dispatch that declined |
//! | `finish` | ends the session in order |
//! | `print=TEXT`, `eprint=TEXT` | a line on stdout or stderr |
//! | `echo` | copies a line of stdin to stdout |
//! | `pid=FILE` | writes its process id into a file, whole or not at all |
//! | `touch=FILE`, `await=FILE` | makes a file; waits until it is there |
//! | `spawn=STEPS` | starts this program again with steps separated by commas, and waits for it |
//! | `leave=STEPS` | the same without waiting |
//! | `raw=version`, `raw=garbage`, `raw=huge`, `raw=silent` | says something wrong on a connection of its own |
//! | `alive` | waits until the session is no longer wanted |
//! | `sleep=MS`, `exit=CODE`, `abort` | |

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, exit};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kreplay_engine::{
    AgentDescription, AgentId, AgentRecord, Capabilities, Decline, DispatchId, DispatchRecord, Filter, Geometry,
    KernelInfo, Outcome, Plan, PlannedCounter, PlannedPass, Reading, Recorder, Value, Way, WindowId,
};
use kreplay_protocol::{FromLibrary, Hello, MAX_FRAME, PROTOCOL_VERSION, SOCKET_VARIABLE, encode, preamble};
use kreplay_session::{Backend, Session, attach};

#[derive(Default)]
struct Program {
    session: Option<Arc<Session>>,
    kernel: String,
    dispatches: u64,
    /// Connections that stay open until the end.
    raw: Vec<UnixStream>,
    children: Vec<Child>,
}

fn main() {
    let mut program = Program { kernel: "scale".into(), ..Program::default() };
    for step in std::env::args().skip(1) {
        let (name, value) = step.split_once('=').unwrap_or((&step, ""));
        program.step(name, value);
    }
}

impl Program {
    fn step(&mut self, name: &str, value: &str) {
        match name {
            "attach" => self.attach(),
            "dispatch" => (0..number(value)).for_each(|_| self.dispatch(Outcome::Replayed)),
            "kernel" => self.kernel = value.into(),
            "decline" => {
                let reason = Decline::from_name(value).expect("a decline reason");
                self.dispatch(Outcome::Declined { reason, detail: "as the test wants".into() });
            }
            "finish" => self.session().finish(),
            "alive" => {
                while self.session().alive() {
                    self.dispatch(Outcome::Replayed);
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            "print" => println!("{value}"),
            "eprint" => eprintln!("{value}"),
            "echo" => {
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).expect("stdin can be read");
                print!("{line}");
            }
            "pid" => {
                let partial = format!("{value}.partial");
                std::fs::write(&partial, std::process::id().to_string()).expect("a file can be made");
                std::fs::rename(partial, value).expect("a file can be renamed");
            }
            "touch" => std::fs::write(value, "").expect("a file can be made"),
            "await" => {
                // Bounded, so that a test that fails leaves nothing behind.
                let start = Instant::now();
                while !Path::new(value).exists() && start.elapsed() < Duration::from_secs(120) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            "spawn" => {
                let status = again(value).wait().expect("a child can be waited for");
                assert!(status.success(), "{status}");
            }
            "leave" => self.children.push(again(value)),
            "raw" => self.raw(value),
            "sleep" => std::thread::sleep(Duration::from_millis(number(value))),
            "exit" => exit(number(value) as i32),
            "abort" => die(),
            other => panic!("no step {other}"),
        }
    }

    fn session(&self) -> &Session {
        self.session.as_ref().expect("attach comes first")
    }

    fn attach(&mut self) {
        match attach(Backend::Hsa, |name, work| std::thread::Builder::new().name(name.to_owned()).spawn(work).is_ok()) {
            Ok(Some(session)) => {
                session.recorder().agent(agent());
                self.session = Some(session);
            }
            Ok(None) => eprintln!("none"),
            Err(error) => eprintln!("none: {error}"),
        }
    }

    fn dispatch(&mut self, outcome: Outcome) {
        let Some(session) = &self.session else { return };
        let recorder = session.recorder();
        let kernel = KernelInfo { key: self.kernel.len() as u64, name: self.kernel.as_str().into() };
        if !session.filter().select(&kernel) {
            return recorder.not_selected(AgentId(0));
        }
        let id = DispatchId(self.dispatches);
        self.dispatches += 1;
        let replayed = outcome == Outcome::Replayed;
        recorder.dispatch(DispatchRecord {
            id,
            agent: AgentId(0),
            kernel,
            geometry: Geometry { groups: [4, 1, 1], items: [64, 1, 1] },
            stream: 1,
            argument_bytes: Some(8),
            thread: 1,
            window: replayed.then_some(WindowId(id.0)),
            outcome,
            passes_asked: 2,
            passes_done: if replayed { 2 } else { 1 },
            divergence: None,
            audit: None,
            phases: Default::default(),
            bytes: Default::default(),
            write_set: None,
            start: Duration::ZERO,
            notes: Vec::new(),
        });
        if replayed {
            let reading = |pass| Reading {
                dispatch: 0,
                pass,
                counter: "SQ_WAVES".into(),
                unit: "wave".into(),
                value: Value::Count(100 + id.0),
                derived: false,
                bound: None,
            };
            recorder.readings(id, vec![reading(0), reading(1)]);
        }
    }

    fn raw(&mut self, what: &str) {
        let path = std::env::var_os(SOCKET_VARIABLE).expect("a profiled process");
        let mut stream = UnixStream::connect(path).expect("the command listens");
        let hello = FromLibrary::Hello(Hello {
            pid: std::process::id(),
            parent: 0,
            exe: "raw".into(),
            argv: Vec::new(),
            start_unix_ns: 0,
            library_version: String::new(),
        });
        let said = match what {
            "silent" => Vec::new(),
            "version" => {
                let mut other = preamble();
                other[8..12].copy_from_slice(&(PROTOCOL_VERSION + 1).to_le_bytes());
                other.to_vec()
            }
            "garbage" => [&preamble()[..], &encode(&hello).expect("short"), &5u32.to_le_bytes(), &[0xff; 5]].concat(),
            "huge" => {
                let length = (MAX_FRAME as u32 + 1).to_le_bytes();
                [&preamble()[..], &encode(&hello).expect("short"), &length].concat()
            }
            other => panic!("no raw words {other}"),
        };
        stream.write_all(&said).expect("the command reads");
        if what == "silent" {
            return self.raw.push(stream);
        }
        // The command closes the connection when it has understood that it does not understand.
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time can be set");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
}

fn agent() -> AgentRecord {
    let counter = PlannedCounter { name: "SQ_WAVES".into(), block: "SQ".into(), unit: "wave".into() };
    let pass = |index| PlannedPass { index, counters: vec![counter.clone()], way: Way::Ranges, price: Duration::ZERO };
    AgentRecord {
        description: AgentDescription {
            id: AgentId(0),
            name: "Software GPU".into(),
            chip: "gfx90a".into(),
            simulated: true,
            capabilities: Capabilities::default(),
        },
        memory: None,
        plan: Plan { passes: vec![pass(0), pass(1)] },
    }
}

fn number(value: &str) -> u64 {
    value.parse().expect("a number")
}

fn again(steps: &str) -> Child {
    let this = std::env::current_exe().expect("a path");
    Command::new(this).args(steps.split(',')).spawn().expect("this program starts again")
}

#[expect(clippy::disallowed_methods, reason = "a program that dies is what the tests need")]
fn die() -> ! {
    std::process::abort()
}
