//! The small tables, whole.

use kreplay_protocol::{Bytes, Phases, TierBytes};
use rusqlite::{Connection, Result, Row};

use super::{bad, counter_row};
use crate::{AgentRow, PlanPassRow, ProcessRow, ProcessState, RunRow, RunState, WarningRow, WindowRow, names};

fn texts(json: &str) -> Result<Vec<String>> {
    serde_json::from_str(json).map_err(bad)
}

/// The number whose bits were stored.
pub(super) fn bits(stored: i64) -> u64 {
    stored.cast_unsigned()
}

/// An amount; a negative one is a damage.
pub(super) fn amount(stored: i64) -> Result<u64> {
    u64::try_from(stored).map_err(bad)
}

pub(super) fn run(connection: &Connection) -> Result<RunRow> {
    connection.query_row(
        "SELECT kreplay_version, command, directory, host, settings, start_unix_ns, end_unix_ns, state, exit_code, \
         exit_signal FROM run WHERE id = 1",
        [],
        |row| {
            let state: String = row.get(7)?;
            Ok(RunRow {
                kreplay_version: row.get(0)?,
                command: texts(&row.get::<_, String>(1)?)?,
                directory: row.get(2)?,
                host: row.get(3)?,
                settings: serde_json::from_str(&row.get::<_, String>(4)?).map_err(bad)?,
                start_unix_ns: row.get(5)?,
                end_unix_ns: row.get(6)?,
                state: [RunState::Recording, RunState::Complete, RunState::Incomplete]
                    .into_iter()
                    .find(|known| known.name() == state)
                    .ok_or_else(|| bad(&state))?,
                exit_code: row.get(8)?,
                exit_signal: row.get(9)?,
            })
        },
    )
}

pub(super) fn processes(connection: &Connection) -> Result<Vec<ProcessRow>> {
    connection
        .prepare(
            "SELECT id, pid, parent_pid, exe, argv, start_unix_ns, state, not_selected, \
             (SELECT count(*) FROM dispatch WHERE dispatch.process = process.id), \
             replayed + counted + declined, lost_records FROM process ORDER BY id",
        )?
        .query_map([], |row| {
            let state: String = row.get(6)?;
            let known = |at: usize| row.get::<_, Option<i64>>(at)?.map(amount).transpose();
            Ok(ProcessRow {
                id: row.get(0)?,
                pid: row.get(1)?,
                parent_pid: row.get(2)?,
                exe: row.get(3)?,
                argv: texts(&row.get::<_, String>(4)?)?,
                start_unix_ns: row.get(5)?,
                state: [ProcessState::Running, ProcessState::Ended, ProcessState::Lost]
                    .into_iter()
                    .find(|known| known.name() == state)
                    .ok_or_else(|| bad(&state))?,
                not_selected: known(7)?,
                records: amount(row.get(8)?)?,
                records_made: known(9)?,
                lost_records: known(10)?,
            })
        })?
        .collect()
}

pub(super) fn agents(connection: &Connection) -> Result<Vec<AgentRow>> {
    connection
        .prepare(
            "SELECT process, number, name, chip, backend, simulated, memory_bytes FROM agent ORDER BY process, number",
        )?
        .query_map([], |row| {
            Ok(AgentRow {
                process: row.get(0)?,
                number: bits(row.get(1)?),
                name: row.get(2)?,
                chip: row.get(3)?,
                backend: row.get(4)?,
                simulated: row.get(5)?,
                memory_bytes: row.get::<_, Option<i64>>(6)?.map(amount).transpose()?,
            })
        })?
        .collect()
}

pub(super) fn plan_passes(connection: &Connection) -> Result<Vec<PlanPassRow>> {
    let mut counters = connection.prepare(
        "SELECT c.name, c.unit, c.block, p.counter FROM plan_counter p \
         LEFT JOIN counter c ON c.process = p.process AND c.number = p.counter \
         WHERE p.process = ?1 AND p.plan = ?2 AND p.pass = ?3 ORDER BY p.counter",
    )?;
    connection
        .prepare(
            "SELECT p.process, q.agent, p.plan, p.pass, p.way, p.price_ns FROM plan_pass p \
             JOIN plan q ON q.process = p.process AND q.number = p.plan ORDER BY p.process, p.plan, p.pass",
        )?
        .query_map([], |row| {
            let (process, plan, pass): (i64, u32, u32) = (row.get(0)?, row.get(2)?, row.get(3)?);
            let way: String = row.get(4)?;
            Ok(PlanPassRow {
                process,
                agent: bits(row.get(1)?),
                plan,
                pass,
                way: names::way(&way).ok_or_else(|| bad(&way))?,
                price_ns: amount(row.get(5)?)?,
                counters: counters
                    .query_map((process, plan, pass), |row| counter_row(row, 0, row.get(3)?))?
                    .collect::<Result<_>>()?,
            })
        })?
        .collect()
}

/// The columns that [`moved`] reads, in its order.
pub(super) const MOVED: &str = "footprint_bytes, write_set_bytes, captured_device_bytes, captured_host_bytes, \
    restored_device_bytes, restored_host_bytes, compared_bytes, staging_high_water_bytes, device_held_bytes, drain_ns, \
    capture_ns, passes_ns, compare_ns, restore_ns, verify_ns, commit_ns";

/// What windows and dispatches share, from column `at` on.
pub(super) fn moved(row: &Row<'_>, at: usize) -> Result<(Bytes, Phases)> {
    let get = |offset: usize| amount(row.get(at + offset)?);
    let bytes = Bytes {
        footprint: get(0)?,
        write_set: get(1)?,
        captured: TierBytes { device: get(2)?, host: get(3)? },
        restored: TierBytes { device: get(4)?, host: get(5)? },
        compared: get(6)?,
        staging_high_water: get(7)?,
        device_held: get(8)?,
    };
    let phases = Phases {
        drain: get(9)?,
        capture: get(10)?,
        passes: get(11)?,
        compare: get(12)?,
        restore: get(13)?,
        verify: get(14)?,
        commit: get(15)?,
    };
    Ok((bytes, phases))
}

pub(super) fn windows(connection: &Connection) -> Result<Vec<WindowRow>> {
    connection
        .prepare(&format!(
            "SELECT process, number, agent, kind, dispatches, operations, closed_by, clock_mhz, {MOVED} FROM window \
             ORDER BY process, number"
        ))?
        .query_map([], |row| {
            let kind: String = row.get(3)?;
            let (bytes, phases) = moved(row, 8)?;
            Ok(WindowRow {
                process: row.get(0)?,
                number: bits(row.get(1)?),
                agent: bits(row.get(2)?),
                kind: names::window_kind(&kind).ok_or_else(|| bad(&kind))?,
                dispatches: row.get(4)?,
                operations: row.get(5)?,
                closed_by: row.get(6)?,
                clock_mhz: row.get(7)?,
                bytes,
                phases,
            })
        })?
        .collect()
}

pub(super) fn warnings(connection: &Connection) -> Result<Vec<WarningRow>> {
    // A reason whose explanation never came is listed all the same.
    connection
        .prepare(
            "SELECT w.process, w.code, w.text, coalesce(d.dispatches, 0) FROM warning w \
             LEFT JOIN decline d ON d.process = w.process AND d.reason = w.code \
             UNION ALL SELECT d.process, d.reason, '', d.dispatches FROM decline d \
             WHERE NOT EXISTS (SELECT 1 FROM warning w WHERE w.process = d.process AND w.code = d.reason) \
             ORDER BY 1, 2",
        )?
        .query_map([], |row| {
            Ok(WarningRow {
                process: row.get(0)?,
                code: row.get(1)?,
                text: row.get(2)?,
                dispatches: amount(row.get(3)?)?,
            })
        })?
        .collect()
}

pub(super) fn dispatch_count(connection: &Connection) -> Result<u64> {
    amount(connection.query_row("SELECT count(*) FROM dispatch", [], |row| row.get(0))?)
}
