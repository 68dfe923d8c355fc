//! Why a dispatch was not replayed.

use std::fmt;

/// Why a dispatch ran once instead of being replayed. Names are stable: they stand in files and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Decline {
    /// A graph launch.
    GraphLaunch,
    /// A stream was being captured into a graph meanwhile.
    StreamCapture,
    /// A library was being loaded or closed by the thread that launched it.
    LoaderHeld,
    /// A cooperative launch over several devices.
    CooperativeMultiDevice,
    /// Takes part in a collective: peers wait for it.
    Collective,
    /// Submitted together with other packets.
    MultiPacket,
    /// Reaches managed memory that cannot be captured.
    ManagedMemory,
    /// Reaches memory that another process or device may write.
    ImportedMemory,
    /// Reaches memory that cannot be captured.
    UntrackedMemory,
    /// No tier has room for the snapshot.
    NoBacking,
    /// The snapshot could not be taken whole.
    CaptureFailed,
    /// The agent did not become idle in time.
    DrainTimeout,
    /// Launched from within a window on the same agent.
    Reentrant,
    /// What the launch's arguments are is not known.
    UnknownArguments,
    /// The counters cannot be had.
    CountersUnavailable,
    /// A pass failed; memory was put back and the program's own launch ran.
    PassFailed,
    /// The agent does not answer any more.
    AgentLost,
}

impl Decline {
    /// Every reason.
    pub const ALL: [Decline; 17] = [
        Decline::GraphLaunch,
        Decline::StreamCapture,
        Decline::LoaderHeld,
        Decline::CooperativeMultiDevice,
        Decline::Collective,
        Decline::MultiPacket,
        Decline::ManagedMemory,
        Decline::ImportedMemory,
        Decline::UntrackedMemory,
        Decline::NoBacking,
        Decline::CaptureFailed,
        Decline::DrainTimeout,
        Decline::Reentrant,
        Decline::UnknownArguments,
        Decline::CountersUnavailable,
        Decline::PassFailed,
        Decline::AgentLost,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Decline::GraphLaunch => "graph_launch",
            Decline::StreamCapture => "stream_capture",
            Decline::LoaderHeld => "loader_held",
            Decline::CooperativeMultiDevice => "cooperative_multi_device",
            Decline::Collective => "collective",
            Decline::MultiPacket => "multi_packet",
            Decline::ManagedMemory => "managed_memory",
            Decline::ImportedMemory => "imported_memory",
            Decline::UntrackedMemory => "untracked_memory",
            Decline::NoBacking => "no_backing",
            Decline::CaptureFailed => "capture_failed",
            Decline::DrainTimeout => "drain_timeout",
            Decline::Reentrant => "reentrant",
            Decline::UnknownArguments => "unknown_arguments",
            Decline::CountersUnavailable => "counters_unavailable",
            Decline::PassFailed => "pass_failed",
            Decline::AgentLost => "agent_lost",
        }
    }

    /// The reason with this stable name.
    pub fn from_name(name: &str) -> Option<Decline> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// One sentence for the user, and what to do about it.
    pub fn explanation(self) -> &'static str {
        match self {
            Decline::GraphLaunch => {
                "the kernel is part of a graph that cannot be recorded node by node; profile with `--window batch`, or with graphs off"
            }
            Decline::StreamCapture => {
                "it ran while a stream was being captured into a graph, and nothing may be waited for then; launch it outside the capture"
            }
            Decline::LoaderHeld => {
                "it was launched as a library was loaded or closed (a global constructor, for instance), and nothing may be waited for then; launch it afterwards"
            }
            Decline::CooperativeMultiDevice => {
                "a cooperative launch spans several devices and cannot be replayed on one; profile it on one device"
            }
            Decline::Collective => {
                "the kernel waits for other devices, which answer only once; profile it with counters that fit one pass"
            }
            Decline::MultiPacket => "the kernel was submitted together with other packets; profile it without batching",
            Decline::ManagedMemory => {
                "the kernel reaches managed memory that cannot be captured here; use device memory to profile it"
            }
            Decline::ImportedMemory => {
                "the kernel reaches memory that another process or device may write; profile it in a single process"
            }
            Decline::UntrackedMemory => {
                "the kernel reaches memory that cannot be captured; allocate it through the device allocator"
            }
            Decline::NoBacking => {
                "neither device nor host memory has room for the snapshot; free memory, raise `--host-budget`, or lower `--device-reserve`"
            }
            Decline::CaptureFailed => {
                "the snapshot could not be taken whole; see the message of the agent: where that is about time, raise `--pass-deadline`"
            }
            Decline::DrainTimeout => {
                "the device did not become idle in time; raise `--drain-deadline`, or leave the kernel out (`--exclude`)"
            }
            Decline::Reentrant => "the kernel was launched from within a window of the same device; nothing to do",
            Decline::UnknownArguments => "the size of the kernel's arguments is not known; rebuild its code object",
            Decline::CountersUnavailable => "the counters cannot be read now; run `kreplay doctor`",
            Decline::PassFailed => {
                "a pass failed and memory was put back; see the message of the agent: where that is about time, raise `--pass-deadline`"
            }
            Decline::AgentLost => "the device does not answer any more; nothing on it can be profiled in this run",
        }
    }
}

impl fmt::Display for Decline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for reason in Decline::ALL {
            assert_eq!(Decline::from_name(reason.name()), Some(reason));
            assert!(reason.explanation().contains(';'), "{reason} says what to do");
        }
        assert_eq!(Decline::from_name("nothing"), None);
    }
}
