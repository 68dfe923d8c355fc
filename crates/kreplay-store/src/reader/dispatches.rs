//! Dispatches with their values, one at a time.

use kreplay_protocol::{Audit, Divergence, Range, Value, Way, WindowKind};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row, Statement};

use super::tables::{MOVED, amount, bits, moved};
use super::{bad, counter_row};
use crate::{DispatchRow, ReadingRow, StoreError, names};

/// Columns before [`MOVED`] in the walk's query.
const OWN: usize = 31;

pub(super) fn walk<E: From<StoreError>>(
    connection: &Connection,
    damaged: &dyn Fn(rusqlite::Error) -> StoreError,
    mut each: impl FnMut(DispatchRow) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut parts = Parts::prepare(connection).map_err(damaged)?;
    let columns = MOVED.split(", ").map(|column| format!("d.{}", column.trim())).collect::<Vec<_>>().join(", ");
    let mut statement = connection
        .prepare(&format!(
            "SELECT d.process, d.number, d.agent, coalesce(a.simulated, 0), coalesce(k.name, ''), d.grid_x, d.grid_y, \
             d.grid_z, d.block_x, d.block_y, d.block_z, d.stream, d.thread, d.argument_bytes, d.start_ns, d.end_ns, \
             d.outcome, d.reason, d.detail, d.passes_asked, d.passes_done, d.window, w.kind, d.write_set_cut, \
             d.divergence, d.divergence_pass, d.divergence_base, d.divergence_range_bytes, d.divergence_bytes, d.audit, \
             d.audit_surprise_bytes, {columns} FROM dispatch d \
             LEFT JOIN agent a ON a.process = d.process AND a.number = d.agent \
             LEFT JOIN kernel k ON k.process = d.process AND k.number = d.kernel \
             LEFT JOIN window w ON w.process = d.process AND w.number = d.window \
             ORDER BY d.process, d.number"
        ))
        .map_err(damaged)?;
    let mut rows = statement.query([]).map_err(damaged)?;
    while let Some(row) = rows.next().map_err(damaged)? {
        each(dispatch(row, &mut parts).map_err(damaged)?)?;
    }
    Ok(())
}

/// What belongs to one dispatch in other tables.
struct Parts<'c> {
    readings: Statement<'c>,
    ranges: Statement<'c>,
    notes: Statement<'c>,
}

impl<'c> Parts<'c> {
    fn prepare(connection: &'c Connection) -> Result<Self> {
        Ok(Parts {
            readings: connection.prepare(
                "SELECT c.name, c.unit, c.block, r.counter, r.pass, r.instance, r.value, r.derived, r.bound, p.way \
                 FROM reading r LEFT JOIN counter c ON c.process = r.process AND c.number = r.counter \
                 LEFT JOIN dispatch d ON d.process = r.process AND d.number = r.dispatch \
                 LEFT JOIN plan_pass p ON p.process = r.process AND p.plan = d.plan AND p.pass = r.pass \
                 WHERE r.process = ?1 AND r.dispatch = ?2 ORDER BY r.pass, r.counter, r.instance",
            )?,
            ranges: connection.prepare(
                "SELECT base, bytes FROM write_range WHERE process = ?1 AND dispatch = ?2 ORDER BY position",
            )?,
            notes: connection
                .prepare("SELECT text FROM note WHERE process = ?1 AND dispatch = ?2 ORDER BY position")?,
        })
    }
}

fn dispatch(row: &Row<'_>, parts: &mut Parts<'_>) -> Result<DispatchRow> {
    let key: (i64, i64) = (row.get(0)?, row.get(1)?);
    let outcome: String = row.get(16)?;
    let (bytes, phases) = moved(row, OWN)?;
    Ok(DispatchRow {
        process: key.0,
        number: bits(key.1),
        agent: bits(row.get(2)?),
        simulated: row.get(3)?,
        kernel: row.get(4)?,
        grid: [row.get(5)?, row.get(6)?, row.get(7)?],
        block: [row.get(8)?, row.get(9)?, row.get(10)?],
        stream: bits(row.get(11)?),
        thread: bits(row.get(12)?),
        argument_bytes: row.get(13)?,
        start_ns: amount(row.get(14)?)?,
        end_ns: amount(row.get(15)?)?,
        outcome: names::outcome(&outcome).ok_or_else(|| bad(&outcome))?,
        reason: row.get(17)?,
        detail: row.get(18)?,
        passes_asked: row.get(19)?,
        passes_done: row.get(20)?,
        window: row.get::<_, Option<i64>>(21)?.map(bits),
        window_kind: window_kind(row, 22)?,
        write_set_cut: row.get(23)?,
        divergence: divergence(row, 24)?,
        audit: audit(row, 29)?,
        bytes,
        phases,
        write_set: parts
            .ranges
            .query_map(key, |row| Ok(Range { base: bits(row.get(0)?), bytes: amount(row.get(1)?)? }))?
            .collect::<Result<_>>()?,
        notes: parts.notes.query_map(key, |row| row.get(0))?.collect::<Result<_>>()?,
        readings: parts.readings.query_map(key, reading)?.collect::<Result<_>>()?,
    })
}

fn window_kind(row: &Row<'_>, at: usize) -> Result<Option<WindowKind>> {
    match row.get::<_, Option<String>>(at)? {
        None => Ok(None),
        Some(kind) => names::window_kind(&kind).map(Some).ok_or_else(|| bad(&kind)),
    }
}

fn way(row: &Row<'_>, at: usize) -> Result<Option<Way>> {
    match row.get::<_, Option<String>>(at)? {
        None => Ok(None),
        Some(way) => names::way(&way).map(Some).ok_or_else(|| bad(&way)),
    }
}

fn divergence(row: &Row<'_>, at: usize) -> Result<Option<Divergence>> {
    let Some(kind) = row.get::<_, Option<String>>(at)? else { return Ok(None) };
    let number = |at: usize| row.get::<_, Option<i64>>(at).map(Option::unwrap_or_default);
    Ok(Some(Divergence {
        kind: names::divergence(&kind).ok_or_else(|| bad(&kind))?,
        pass: row.get(at + 1)?,
        range: Range { base: bits(number(at + 2)?), bytes: amount(number(at + 3)?)? },
        bytes: amount(number(at + 4)?)?,
    }))
}

fn audit(row: &Row<'_>, at: usize) -> Result<Option<Audit>> {
    let Some(kind) = row.get::<_, Option<String>>(at)? else { return Ok(None) };
    Ok(Some(Audit {
        kind: names::audit(&kind).ok_or_else(|| bad(&kind))?,
        surprise_bytes: amount(row.get::<_, Option<i64>>(at + 1)?.unwrap_or_default())?,
    }))
}

/// The column keeps what is whole as an integer, whether it was counted or computed. No count is below zero.
fn number(whole: i64) -> Value {
    u64::try_from(whole).map_or(Value::Real(whole as f64), Value::Count)
}

fn reading(row: &Row<'_>) -> Result<ReadingRow> {
    let pass: i64 = row.get(4)?;
    Ok(ReadingRow {
        counter: counter_row(row, 0, row.get(3)?)?,
        // -1 stands for a value that was evaluated from several passes.
        pass: if pass < 0 { None } else { Some(u32::try_from(pass).map_err(bad)?) },
        instance: row.get(5)?,
        value: match row.get_ref(6)? {
            ValueRef::Integer(whole) => number(whole),
            ValueRef::Real(real) => Value::Real(real),
            ValueRef::Text(b"nan") => Value::Real(f64::NAN),
            other => return Err(bad(format!("a value of type {:?}", other.data_type()))),
        },
        derived: row.get(7)?,
        bound: row.get(8)?,
        way: way(row, 9)?,
    })
}

#[cfg(test)]
mod tests {
    use kreplay_protocol::Outcome;

    use super::*;

    #[test]
    fn every_outcome_has_a_name_that_is_found_again() {
        for outcome in [Outcome::Replayed, Outcome::Counted, Outcome::Declined, Outcome::NotSelected] {
            assert_eq!(names::outcome(names::outcome_name(outcome)), Some(outcome));
        }
    }
}
