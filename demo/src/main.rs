//! The demo program: a small GPU program that checks itself.
//!
//! Every kernel does one thing that a replay must get right (in place, accumulating, atomic, read-only input, LDS, a
//! module variable). Outputs are poisoned first and compared with the host's own results, so a pass that started from
//! the wrong memory shows. It runs on a `gfx90a` GPU: a real one, or the software GPU.
//!
//! Exit code 0: every result is right; 1: one is wrong; 2: the program could not run.

use std::process::ExitCode;

use demo::Error;
use demo::behaviours::{ALL, Context};

fn main() -> ExitCode {
    match run() {
        Ok(0) => {
            println!("all {} results are right", ALL.len());
            ExitCode::SUCCESS
        }
        Ok(wrong) => {
            println!("{wrong} of {} results are wrong", ALL.len());
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<usize, Error> {
    let context = Context::new()?;
    println!("device {}", context.gpu.name);
    let mut wrong = 0;
    for behaviour in ALL {
        let outcome = (behaviour.run)(&context)?;
        let verdict = if outcome.wrong == 0 { "ok".to_owned() } else { format!("WRONG in {} places", outcome.wrong) };
        println!("{:<12} {:<44} {verdict}, checksum {:016x}", behaviour.kernel, behaviour.what, outcome.checksum);
        wrong += usize::from(outcome.wrong != 0);
    }
    Ok(wrong)
}
