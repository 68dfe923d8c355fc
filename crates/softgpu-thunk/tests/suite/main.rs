//! The thunk under unmodified runtimes: programs of `programs/`, compiled here and run on the software GPU.

mod common;
mod hip;
mod runtime;
