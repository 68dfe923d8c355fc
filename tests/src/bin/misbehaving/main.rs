//! A program on a GPU that misbehaves: it launches one kernel over and over, and for most launches, or windows of several, it
//! asks the software GPU for a fault. After each it reads all of its memory back and says whether that is what was to be
//! left.
//!
//! ```text
//! misbehaving PASSES LAUNCHES SEED
//! launches 1 fault None pass 0 memory ok
//! misbehaving PASSES WINDOWS SEED batch [FAULT]
//! launches 3 fault Missed pass 1 memory ok
//! ```
//!
//! PASSES is how often each launch will run under the profile; `pass` is the one that the fault is meant for. With `batch` it
//! launches several times and copies once from the host, then unloads a module, which ends a batch window, while the fault is
//! still in: the first run is the program's own then. What memory held before that must still be there behind it, or the
//! program fails. With FAULT every window has that one. The exit code is 0 otherwise, whatever memory held: the suite judges.

mod fault;
mod launches;
mod state;
#[path = "../../switches.rs"]
mod switches;
mod windows;

use fault::Fault;
use state::State;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (numbers, batch) = words.split_at(words.len().min(3));
    let numbers: Vec<u64> = numbers.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [passes, count, seed] = numbers[..] else {
        return Err("usage: misbehaving PASSES COUNT SEED [batch [FAULT]]".into());
    };
    let only = match batch {
        [] | ["batch"] => None,
        ["batch", fault] => Some(Fault::named(fault)?),
        _ => return Err("usage: misbehaving PASSES COUNT SEED [batch [FAULT]]".into()),
    };
    let mut state = State::new(seed)?;
    for _ in 0..count {
        let told = if batch.is_empty() { state.launch(passes)? } else { state.window(passes, only)? };
        println!("{told}");
    }
    state.close();
    Ok(())
}
