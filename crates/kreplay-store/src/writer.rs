//! The only writer of `.kreplay` files.

use std::path::{Path, PathBuf};

use kreplay_protocol::{FromLibrary, Hello, Settings};
use rusqlite::{Connection, OpenFlags, params};

use crate::claim::Claim;
use crate::{APPLICATION_ID, RunState, SCHEMA, STORE_VERSION, StoreError};

mod columns;
mod records;

/// What to do where the path is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    Refuse,
    /// Replace it, if it is empty, or a kreplay file of a version that this build reads and that nobody records; refuse
    /// otherwise.
    Replace,
}

/// What is known of a run when it begins.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The profiled command line.
    pub command: Vec<String>,
    /// The directory it runs in.
    pub directory: String,
    /// The machine's name.
    pub host: String,
    /// What the processes are told.
    pub settings: Settings,
    /// When it begins, nanoseconds since the Unix epoch.
    pub start_unix_ns: i64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunEnd {
    /// When, nanoseconds since the Unix epoch.
    pub end_unix_ns: i64,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub exit_signal: Option<i32>,
    /// Whether records are known to be missing.
    pub incomplete: bool,
}

/// A process's number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessId(pub i64);

/// How a process's connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// After its summary.
    InOrder,
    /// Without one.
    Lost,
}

/// A file whose run has not begun yet. Dropping it frees the name, and puts back what it was to replace.
#[derive(Debug)]
pub struct Draft {
    // Closed before the name is freed: fields are dropped in this order.
    writer: Writer,
    claim: Claim,
}

impl Draft {
    /// Creates the file, with its schema and its run.
    ///
    /// # Errors
    /// As [`Writer::create`]; what had the name before has it again.
    pub fn create(path: &Path, existing: Existing, run: &RunInfo) -> Result<Draft, StoreError> {
        let mut claim = Claim::make(path, existing)?;
        let writer = Writer::open(path, run)?;
        claim.settle();
        Ok(Draft { writer, claim })
    }

    /// The run has begun: the file stays, and what it replaces is gone.
    pub fn keep(self) -> Writer {
        self.claim.keep();
        self.writer
    }
}

/// Writes one file.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    connection: Connection,
    /// Records given since the last commit.
    pending: u64,
}

impl Writer {
    /// Creates the file, with its schema and its run, durable against the death of this process from here on.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the path is taken and not to be replaced, [`StoreError::Recording`],
    /// [`StoreError::Foreign`] or another error of reading where what is there may not be replaced, [`StoreError::Path`]
    /// where nothing can be created.
    pub fn create(path: &Path, existing: Existing, run: &RunInfo) -> Result<Writer, StoreError> {
        Ok(Draft::create(path, existing, run)?.keep())
    }

    fn open(path: &Path, run: &RunInfo) -> Result<Writer, StoreError> {
        let failed = |source| StoreError::Write { path: path.to_owned(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let mut writer = Writer { path: path.to_owned(), connection, pending: 0 };
        writer.prepare(run).map_err(failed)?;
        Ok(writer)
    }

    fn prepare(&mut self, run: &RunInfo) -> rusqlite::Result<()> {
        let connection = &mut self.connection;
        // Locked for good: no shared-memory file is needed then, and nobody else writes.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        // The schema goes into the file itself, so that its header tells what it is from the first moment.
        let schema = connection.transaction()?;
        schema.pragma_update(None, "application_id", APPLICATION_ID)?;
        schema.pragma_update(None, "user_version", STORE_VERSION.0)?;
        for (_, text) in SCHEMA {
            schema.execute(text, [])?;
        }
        schema.execute(
            "INSERT INTO run (id, kreplay_version, protocol_version, command, directory, host, settings, start_unix_ns, \
             state) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 'recording')",
            params![
                env!("CARGO_PKG_VERSION"),
                kreplay_protocol::PROTOCOL_VERSION,
                columns::json(&run.command),
                run.directory,
                run.host,
                columns::json(&run.settings),
                run.start_unix_ns,
            ],
        )?;
        schema.commit()?;
        // A log of 64 MiB at most, and no wait for the disk at each commit: the death of this process loses nothing.
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 16_384)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(())
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a process; committed at once.
    ///
    /// # Errors
    /// [`StoreError::Write`].
    pub fn add_process(&mut self, hello: &Hello) -> Result<ProcessId, StoreError> {
        let id = self.with(|connection| records::process(connection, hello))?;
        self.commit()?;
        Ok(ProcessId(id))
    }

    /// Adds what a process said. It is in the file after the next [`Writer::commit`].
    ///
    /// # Errors
    /// [`StoreError::Write`]; everything since the last commit may be lost then.
    pub fn add(&mut self, process: ProcessId, message: &FromLibrary) -> Result<(), StoreError> {
        self.pending += 1;
        self.with(|connection| records::message(connection, process.0, message))
    }

    /// Records that a process's connection has ended.
    ///
    /// # Errors
    /// [`StoreError::Write`].
    pub fn end_process(&mut self, process: ProcessId, end: ProcessEnd) -> Result<(), StoreError> {
        let state = match end {
            ProcessEnd::InOrder => "ended",
            ProcessEnd::Lost => "lost",
        };
        self.with(|connection| {
            connection
                .prepare_cached("UPDATE process SET state = ?2 WHERE id = ?1")?
                .execute(params![process.0, state])
                .map(drop)
        })?;
        self.commit()
    }

    /// Records given since the last commit.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Makes everything given so far durable against the death of this process.
    ///
    /// # Errors
    /// [`StoreError::Write`].
    pub fn commit(&mut self) -> Result<(), StoreError> {
        self.pending = 0;
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.execute_batch("COMMIT").map_err(|source| self.failed(source))
    }

    /// Ends the run: the file stands alone afterwards.
    ///
    /// # Errors
    /// [`StoreError::Write`]; what was committed is in the file and its log all the same.
    pub fn finish(mut self, end: RunEnd) -> Result<(), StoreError> {
        let state = if end.incomplete { RunState::Incomplete } else { RunState::Complete };
        self.with(|connection| {
            connection
                .execute(
                    "UPDATE run SET end_unix_ns = ?1, state = ?2, exit_code = ?3, exit_signal = ?4",
                    params![end.end_unix_ns, state.name(), end.exit_code, end.exit_signal],
                )
                .map(drop)
        })?;
        self.commit()?;
        self.connection
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .map_err(|source| self.failed(source))
    }

    /// Runs `work` inside the open transaction, or a new one.
    fn with<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let begun =
            if self.connection.is_autocommit() { self.connection.execute_batch("BEGIN IMMEDIATE") } else { Ok(()) };
        begun.and_then(|()| work(&self.connection)).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Write { path: self.path.clone(), source }
    }
}
