//! Whether a process still runs.

use std::os::unix::net::UnixStream;

/// The process at the other end of a connection, by the number that it has for this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(Option<i32>);

impl Peer {
    /// Who connected.
    pub(super) fn of(stream: &UnixStream) -> Self {
        Self(rustix::net::sockopt::socket_peercred(stream).ok().map(|who| who.pid.as_raw_nonzero().get()))
    }

    /// Whether it runs. One that cannot be looked up counts as running; one that has ended and that nobody has waited
    /// for does not.
    pub(super) fn runs(self) -> bool {
        let Some(pid) = self.0 else { return true };
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => runs(&stat),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }
}

/// The state follows the name, which is in parentheses and may hold any character (`man 5 proc`).
fn runs(stat: &str) -> bool {
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_told_from_the_living() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert!(Peer::of(&one).runs(), "this process runs");
        assert!(!runs("12 (a) Z) Z 1 1"));
        assert!(runs("12 (a) Z) S 1 1"));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        child.wait().unwrap();
        assert!(!Peer(Some(pid)).runs());
    }
}
