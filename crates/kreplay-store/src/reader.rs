//! Reading a file without ever writing to it, or beside it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::side_files::{self, PrivateCopy};
use crate::{AgentRow, CounterRow};
use crate::{DispatchRow, PlanPassRow, ProcessRow, RunRow, SCHEMA, StoreError, WarningRow, WindowRow, header};

mod dispatches;
mod tables;

/// An open file.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    connection: Connection,
    /// What is really open, where the file has a log beside it.
    _copy: Option<PrivateCopy>,
}

impl Reader {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`StoreError::Path`], [`StoreError::Foreign`], [`StoreError::OtherVersion`] or [`StoreError::Damaged`].
    pub fn open(path: &Path) -> Result<Reader, StoreError> {
        header::check(path)?;
        let copy = if side_files::any_content(path) {
            Some(PrivateCopy::take(path)?)
        } else {
            header::check_length(path)?;
            None
        };
        let damaged = |source: rusqlite::Error| StoreError::Damaged { path: path.to_owned(), why: source.to_string() };
        let connection = match &copy {
            // SQLite replays the log into the copy.
            Some(copy) => Connection::open_with_flags(
                copy.path(),
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            ),
            // An immutable database is read without locks and without side files.
            None => Connection::open_with_flags(
                immutable_uri(path),
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            ),
        }
        .map_err(damaged)?;
        let reader = Reader { path: path.to_owned(), connection, _copy: copy };
        reader.harden().map_err(damaged)?;
        reader.check_whole()?;
        reader.check_schema()?;
        Ok(reader)
    }

    /// Nothing that stands in the file may run.
    fn harden(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        // After the log was replayed into a copy nothing needs to write any more.
        connection.pragma_query(None, "schema_version", |_| Ok(()))?;
        connection.pragma_update(None, "query_only", true)
    }

    fn check_whole(&self) -> Result<(), StoreError> {
        let found: Option<String> = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .optional()
            .map_err(|source| self.damaged(&source.to_string()))?;
        match found.as_deref() {
            Some("ok") => Ok(()),
            Some(other) => Err(self.damaged(other)),
            None => Err(self.damaged("the check of its pages gave no answer")),
        }
    }

    fn check_schema(&self) -> Result<(), StoreError> {
        for (table, text) in SCHEMA {
            let found: Option<Option<String>> = self
                .connection
                .query_row("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", [table], |row| {
                    row.get(0)
                })
                .optional()
                .map_err(|source| self.damaged(&source.to_string()))?;
            if found.flatten().as_deref() != Some(*text) {
                return Err(self.damaged(&format!("its table {table} is not as its version defines it")));
            }
        }
        Ok(())
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn run(&self) -> Result<RunRow, StoreError> {
        self.query(tables::run)
    }

    /// The processes, in the order of their coming.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn processes(&self) -> Result<Vec<ProcessRow>, StoreError> {
        self.query(tables::processes)
    }

    /// The agents, by process and number.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        self.query(tables::agents)
    }

    /// The passes of all plans, by process, plan and pass.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn plan_passes(&self) -> Result<Vec<PlanPassRow>, StoreError> {
        self.query(tables::plan_passes)
    }

    /// The windows, by process and number.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn windows(&self) -> Result<Vec<WindowRow>, StoreError> {
        self.query(tables::windows)
    }

    /// The warnings, by process and code.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn warnings(&self) -> Result<Vec<WarningRow>, StoreError> {
        self.query(tables::warnings)
    }

    /// How many dispatches the file holds.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn dispatch_count(&self) -> Result<u64, StoreError> {
        self.query(tables::dispatch_count)
    }

    /// Calls `each` for every dispatch with its values, by process and number. Only one is held at a time.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], or what `each` gave, which ends the walk.
    pub fn for_each_dispatch<E: From<StoreError>>(
        &self,
        each: impl FnMut(DispatchRow) -> Result<(), E>,
    ) -> Result<(), E> {
        dispatches::walk(&self.connection, &|source| self.damaged(&source.to_string()), each)
    }

    fn query<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        query(&self.connection).map_err(|source| self.damaged(&source.to_string()))
    }

    fn damaged(&self, why: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), why: why.to_owned() }
    }
}

/// The path as an SQLite URI that promises that nobody writes.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// A row's content that the schema allows and the format does not.
fn bad(what: impl std::fmt::Display) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, what.to_string().into())
}

fn counter_row(row: &rusqlite::Row<'_>, at: usize, number: i64) -> rusqlite::Result<CounterRow> {
    // A reading whose counter was never described keeps its value; the name tells what is missing.
    Ok(CounterRow {
        name: row.get::<_, Option<String>>(at)?.unwrap_or_else(|| format!("counter {number} (never described)")),
        unit: row.get::<_, Option<String>>(at + 1)?.unwrap_or_default(),
        block: row.get::<_, Option<String>>(at + 2)?.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_in_uris() {
        assert_eq!(immutable_uri(Path::new("/a b/c?d#e%.kreplay")), "file:/a%20b/c%3Fd%23e%25.kreplay?immutable=1");
    }
}
