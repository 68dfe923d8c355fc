//! Numbers, values and lists as columns hold them.

use kreplay_protocol::{Bytes, Phases, Value};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Result, ToSql};
use serde::Serialize;

/// A number that names something: the same bits in a signed integer.
pub(super) fn bits(number: u64) -> i64 {
    number.cast_signed()
}

/// An amount. Nothing that is counted in bytes or nanoseconds reaches 2⁶³.
pub(super) fn amount(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// A value as SQLite keeps it: exact below 2⁶³, rounded above. The column makes an integer of a real number that is whole.
pub(super) struct Stored(pub(super) Value);

impl ToSql for Stored {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Count(count) => match i64::try_from(count) {
                Ok(exact) => exact.into(),
                Err(_) => (count as f64).into(),
            },
            // SQLite turns a NaN into NULL, which the column refuses; the word stays visible instead.
            Value::Real(real) if real.is_nan() => "nan".to_owned().into(),
            Value::Real(real) => real.into(),
        })
    }
}

/// As JSON text.
pub(super) fn json(value: &impl Serialize) -> String {
    // These are strings, numbers and enums; there is nothing in them that JSON cannot hold.
    serde_json::to_string(value).unwrap_or_default()
}

/// The columns that windows and dispatches share, in the order of the schema.
pub(super) fn moved(bytes: &Bytes, phases: &Phases) -> [i64; 16] {
    [
        bytes.footprint,
        bytes.write_set,
        bytes.captured.device,
        bytes.captured.host,
        bytes.restored.device,
        bytes.restored.host,
        bytes.compared,
        bytes.staging_high_water,
        bytes.device_held,
        phases.drain,
        phases.capture,
        phases.passes,
        phases.compare,
        phases.restore,
        phases.verify,
        phases.commit,
    ]
    .map(amount)
}

/// Inserts a row whose columns are given in parts, in the order of the schema.
pub(super) fn insert(connection: &Connection, table: &str, parts: &[&[&dyn ToSql]]) -> Result<usize> {
    let columns: Vec<&dyn ToSql> = parts.concat();
    let marks = vec!["?"; columns.len()].join(", ");
    connection.prepare_cached(&format!("INSERT OR IGNORE INTO {table} VALUES ({marks})"))?.execute(columns.as_slice())
}
