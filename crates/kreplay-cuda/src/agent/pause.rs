//! A pause on the device: a kernel of one block that waits.
//!
//! What is submitted meanwhile is queued behind it and then follows without the host, so that events around a kernel are as
//! close to it as the device can.

use super::CudaAgent;
use crate::tables::Function;
use kreplay_engine::AgentError;
use std::ffi::{CStr, c_void};

/// Waits for as many nanoseconds of the device's timer as its argument says.
const PTX: &CStr = c"
.version 7.0
.target sm_70
.address_size 64
.visible .entry kreplay_pause(.param .u64 time)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [time];
    mov.u64 %rd2, %globaltimer;
$again:
    mov.u64 %rd3, %globaltimer;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, %rd1;
    @%p1 bra $again;
    ret;
}
";

/// How long, in nanoseconds: longer than the host takes to submit two events and a launch.
const TIME: u64 = 12_000;

/// The kernel, loaded at its first use.
#[derive(Debug, Default)]
pub(crate) struct Pause(Option<Function>);

impl Pause {
    /// Lets the agent's stream pause.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn on(&mut self, agent: &CudaAgent) -> Result<(), AgentError> {
        let _entered = agent.enter()?;
        let function = match self.0 {
            Some(function) => function,
            None => {
                let driver = agent.driver();
                let module = driver.load_module(PTX).map_err(|(error, log)| AgentError::Failed {
                    call: error.call,
                    status: if log.is_empty() { error.to_string() } else { format!("{error}: {log}") },
                })?;
                *self.0.insert(driver.module_function(module, c"kreplay_pause").map_err(|error| agent.error(error))?)
            }
        };
        let mut time = TIME;
        let mut arguments: [*mut c_void; 1] = [(&raw mut time).cast()];
        agent.launch_own(function, 1, arguments.as_mut_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tests::gpu_agent;
    use kreplay_engine::Agent;
    use std::time::{Duration, Instant};

    #[test]
    fn the_device_pauses_for_about_the_time() {
        let Some(agent) = gpu_agent() else { return };
        let events = agent.timing_events().expect("events");
        let mut pause = Pause::default();
        pause.on(&agent).expect("the kernel loads");
        agent.mark_pass(events.0, false).expect("recorded");
        for _ in 0..10 {
            pause.on(&agent).expect("launched");
        }
        agent.mark_pass(events.1, false).expect("recorded");
        agent.settle(Instant::now() + Duration::from_secs(20)).expect("settled");
        let milliseconds = agent.elapsed(events.0, events.1).expect("they have come");
        println!("ten pauses: {milliseconds} ms");
        assert!(milliseconds >= 0.12 * 0.9, "{milliseconds} ms");
    }
}
