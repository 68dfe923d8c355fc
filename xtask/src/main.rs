//! The project's own tasks.
//!
//! ```text
//! cargo demo               build, profile the demo program on the software GPU, show the profile
//! cargo ci                 everything that continuous integration checks
//! cargo xtask gen          regenerate what is committed but generated (`--check` only compares)
//! cargo xtask bench        write the tables of docs/performance.md from bench/results (`--check` only compares)
//! cargo xtask pack FILE    all that a machine with a GPU needs to run tests/cuda and bench/peers without a Rust toolchain
//! ```
#![forbid(unsafe_code)]

mod bench;
mod ci;
mod code_objects;
mod demo;
mod demo_summary;
mod doc_tables;
mod r#gen;
mod pack;
mod packages;
mod shell;
mod tally;
mod wheels;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask demo | ci | gen [--check] | bench [--check] | pack FILE";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["demo"] => demo::run(),
        ["ci"] => ci::run(),
        ["gen"] => r#gen::run(r#gen::Mode::Write),
        ["gen", "--check"] => r#gen::run(r#gen::Mode::Check),
        ["bench"] => bench::run(r#gen::Mode::Write),
        ["bench", "--check"] => bench::run(r#gen::Mode::Check),
        ["pack", archive] => pack::run(archive.as_ref()),
        _ => bail!("{USAGE}"),
    }
}
