//! What can go wrong, for users: what happened, where, and what to do.

use std::io;
use std::path::PathBuf;

use kreplay_engine::PlanError;
use kreplay_report::ReportError;
use kreplay_store::{STORE_VERSION, StoreError};

use crate::exit_codes;

/// An error that the user can do something about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectedError {
    /// Options that do not go together, or a value that is none.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A filter is not a regular expression.
    #[error("{option} {pattern:?} is not a regular expression: {why}")]
    BadPattern {
        /// The option.
        option: &'static str,
        /// As given.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// A library of kreplay's own is not where it is looked for.
    #[error("{name}, a part of kreplay, is not there; looked in {}", shown(looked))]
    LibraryMissing {
        /// Its file name.
        name: String,
        /// Folders.
        looked: Vec<PathBuf>,
    },
    /// The device that was asked for cannot be used here.
    #[error("{what}")]
    DeviceMissing {
        /// What is missing.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The file could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What has the name of a new profile is none that could be replaced.
    #[error(transparent)]
    NotReplaced(StoreError),
    /// The report could not be made.
    #[error(transparent)]
    Report(ReportError),
    /// Something that is not a `.kreplay` file could not be written or made.
    #[error("{what} could not be {action}: {source}")]
    Io {
        /// What.
        what: String,
        /// `written`, `made`, …
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("{program} could not be started: {source}")]
    Program {
        /// As given.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The request cannot be planned.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// Something that is drawn into the interface and not implemented.
    #[error("{what} is not implemented")]
    NotImplemented {
        /// What.
        what: String,
        /// What to use instead.
        hint: String,
    },
    /// A fault of kreplay itself.
    #[error("this is a fault of kreplay, please report it: {0}")]
    Internal(String),
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl From<ReportError> for ExpectedError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Store(error) => ExpectedError::Store(error),
            other => ExpectedError::Report(other),
        }
    }
}

impl ExpectedError {
    /// What the command ends with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            ExpectedError::Usage { .. } | ExpectedError::BadPattern { .. } => exit_codes::USAGE,
            ExpectedError::LibraryMissing { .. } | ExpectedError::DeviceMissing { .. } => exit_codes::ENVIRONMENT,
            ExpectedError::Store(_)
            | ExpectedError::NotReplaced(_)
            | ExpectedError::Report(_)
            | ExpectedError::Io { .. } => exit_codes::FILE,
            ExpectedError::Program { .. } => exit_codes::PROGRAM,
            ExpectedError::Plan(PlanError::Unavailable(_)) => exit_codes::ENVIRONMENT,
            ExpectedError::Plan(_) | ExpectedError::NotImplemented { .. } => exit_codes::REQUEST,
            ExpectedError::Internal(_) => exit_codes::INTERNAL,
        }
    }

    /// What to do about it.
    fn hint(&self) -> String {
        match self {
            ExpectedError::Usage { hint, .. }
            | ExpectedError::DeviceMissing { hint, .. }
            | ExpectedError::NotImplemented { hint, .. } => hint.clone(),
            ExpectedError::BadPattern { .. } => {
                "the syntax is that of Rust's regex crate, without Unicode classes".into()
            }
            ExpectedError::LibraryMissing { .. } => {
                "keep libkreplay.so and its companions beside the kreplay command, in ../lib/kreplay, or name their \
                 folder in KREPLAY_LIB_DIR; in a source tree, `cargo build --workspace` makes them"
                    .into()
            }
            ExpectedError::NotReplaced(_) => "choose another name with -o, or remove what is there".into(),
            ExpectedError::Store(error) => store_hint(error),
            ExpectedError::Report(_) | ExpectedError::Io { action: "written", .. } => {
                "see that there is room and that it may be written to, or choose another place".into()
            }
            ExpectedError::Io { action: "made", .. } => {
                "see that there is room for temporary files; TMPDIR names another folder for them".into()
            }
            ExpectedError::Io { .. } => "`ulimit -a` tells the limits that the system sets".into(),
            ExpectedError::Program { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "give the program's path, or a name that is on PATH, after `--`".into(),
                io::ErrorKind::PermissionDenied => "the file must be executable".into(),
                _ => "it must be a program of this machine, or a script whose first line names its interpreter".into(),
            },
            ExpectedError::Plan(PlanError::Unknown { .. }) => "`kreplay counters` lists what there is".into(),
            ExpectedError::Plan(PlanError::Unavailable(_)) => "`kreplay doctor` says what is missing".into(),
            ExpectedError::Internal(_) => "report it with the command line and everything that is written above".into(),
        }
    }

    /// Writes the error and its hint to stderr.
    pub(crate) fn tell(&self) {
        crate::output::note(&format!("error: {self}"));
        crate::output::note(&format!("hint: {}", self.hint()));
    }
}

fn store_hint(error: &StoreError) -> String {
    match error {
        StoreError::Exists { .. } => "choose another name with -o, or replace it with --overwrite".into(),
        StoreError::Recording { .. } => "wait until that run has ended, or choose another name with -o".into(),
        StoreError::Foreign { .. } => "give a file that `kreplay profile` wrote".into(),
        StoreError::Path { action: "created", .. } => "choose a place that can be written to with -o".into(),
        StoreError::Path { .. } => {
            "see that it is there and may be read; where a log is beside it, TMPDIR needs room for a copy of both"
                .into()
        }
        StoreError::OtherVersion { found, .. } => {
            format!(
                "use the kreplay that wrote it, {} one",
                if *found > STORE_VERSION { "a newer" } else { "an older" }
            )
        }
        StoreError::Damaged { .. } => {
            "copy it again with the FILE-wal that may be beside it; `sqlite3 FILE .recover` saves what can be read"
                .into()
        }
        StoreError::Write { .. } => "see that there is room, or choose another place with -o".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreplay_store::StoreVersion;

    #[test]
    fn the_version_of_a_file_tells_which_kreplay_reads_it() {
        for (found, which) in [(1, "an older"), (STORE_VERSION.0 + 1, "a newer")] {
            let error = StoreError::OtherVersion { path: "f".into(), found: StoreVersion(found) };
            assert!(!error.to_string().contains("newer"), "{error}");
            assert_eq!(ExpectedError::from(error).hint(), format!("use the kreplay that wrote it, {which} one"));
        }
    }
}
