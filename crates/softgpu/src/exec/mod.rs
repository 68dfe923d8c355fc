//! Running a dispatch: work-groups, waves, registers, LDS, scratch, and what each instruction does.
//!
//! [`run`] is the whole interface. Work-groups run on one or several host threads; the waves of one work-group share a
//! thread and take turns: at barriers, and after a number of instructions, so that a wave that spins on another makes
//! progress. A work-group that runs long is set aside for others for the same reason.

mod code;
#[cfg(test)]
mod coverage;
mod launch;
mod memory;
mod order;
mod scalar;
mod schedule;
mod stats;
mod step;
mod vector;
mod vmem;
mod wave;

use crate::contract::{DispatchRequest, ExecOptions, ExecStats, Fault, Memory};

/// Runs a dispatch to its end.
///
/// # Errors
/// The [`Fault`] that ended it. Stores that happened before the fault stay, as on a real GPU.
pub fn run(request: &DispatchRequest, memory: &dyn Memory, options: &ExecOptions) -> Result<ExecStats, Fault> {
    let launch = launch::Launch::new(request, memory)?;
    schedule::run(&launch, memory, options)
}
