//! The project's own tasks: `demo`, `ci`, `gen`.
fn main() {}
