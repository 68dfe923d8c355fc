//! Messages into rows.

use kreplay_protocol::{
    Agent, Counter, Dispatch, FromLibrary, Hello, Kernel, Note, Plan, Readings, Summary, Warning, Window,
};
use rusqlite::{Connection, Result, ToSql, params};

use super::columns::{Stored, amount, bits, insert, json, moved};
use crate::names;

pub(super) fn process(connection: &Connection, hello: &Hello) -> Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO process (pid, parent_pid, exe, argv, start_unix_ns, library_version, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running')",
        )?
        .insert(params![
            hello.pid,
            hello.parent,
            hello.exe,
            json(&hello.argv),
            amount(hello.start_unix_ns),
            hello.library_version,
        ])
}

pub(super) fn message(connection: &Connection, process: i64, message: &FromLibrary) -> Result<()> {
    match message {
        // The first one made the process's row; another one says nothing new.
        FromLibrary::Hello(_) => Ok(()),
        FromLibrary::Agent(found) => agent(connection, process, found),
        FromLibrary::Counter(found) => counter(connection, process, found),
        FromLibrary::Plan(found) => plan(connection, process, found),
        FromLibrary::Kernel(found) => kernel(connection, process, found),
        FromLibrary::Window(closed) => window(connection, process, closed),
        FromLibrary::Dispatch(finished) => dispatch(connection, process, finished),
        FromLibrary::Readings(values) => readings(connection, process, values),
        FromLibrary::Note(said) => note(connection, process, said),
        FromLibrary::Warning(said) => warning(connection, process, said),
        FromLibrary::Summary(said) => summary(connection, process, said),
    }
}

/// Records are never summed and never replace each other: a second one with the same key is dropped, and the file says
/// so.
fn once(connection: &Connection, process: i64, inserted: usize, what: &str) -> Result<()> {
    if inserted > 0 {
        return Ok(());
    }
    let text = format!(
        "a {what} came twice; the first is kept and the second is not in the file. This is a fault of kreplay, please \
         report it"
    );
    warning(connection, process, &Warning { code: format!("duplicate_{}", what.replace(' ', "_")), text })
}

fn agent(connection: &Connection, process: i64, agent: &Agent) -> Result<()> {
    let inserted = connection
        .prepare_cached("INSERT OR IGNORE INTO agent VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
        .execute(params![
            process,
            bits(agent.number),
            agent.name,
            agent.chip,
            agent.backend,
            agent.simulated,
            agent.memory_bytes.map(amount),
        ])?;
    once(connection, process, inserted, "agent")
}

fn counter(connection: &Connection, process: i64, counter: &Counter) -> Result<()> {
    let inserted = connection
        .prepare_cached("INSERT OR IGNORE INTO counter VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![process, counter.number, counter.name, counter.unit, counter.block])?;
    once(connection, process, inserted, "counter")
}

fn plan(connection: &Connection, process: i64, plan: &Plan) -> Result<()> {
    let inserted = connection.prepare_cached("INSERT OR IGNORE INTO plan VALUES (?1, ?2, ?3)")?.execute(params![
        process,
        plan.number,
        bits(plan.agent)
    ])?;
    once(connection, process, inserted, "plan")?;
    if inserted == 0 {
        return Ok(());
    }
    for (pass, planned) in (0i64..).zip(&plan.passes) {
        connection.prepare_cached("INSERT INTO plan_pass VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            process,
            plan.number,
            pass,
            names::way_name(planned.way),
            amount(planned.price_ns)
        ])?;
        for counter in &planned.counters {
            connection
                .prepare_cached("INSERT OR IGNORE INTO plan_counter VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![process, plan.number, pass, counter])?;
        }
    }
    Ok(())
}

fn kernel(connection: &Connection, process: i64, kernel: &Kernel) -> Result<()> {
    let inserted = connection.prepare_cached("INSERT OR IGNORE INTO kernel VALUES (?1, ?2, ?3)")?.execute(params![
        process,
        kernel.number,
        kernel.name
    ])?;
    once(connection, process, inserted, "kernel")
}

fn window(connection: &Connection, process: i64, window: &Window) -> Result<()> {
    let moved = moved(&window.bytes, &window.phases);
    let own = params![
        process,
        bits(window.number),
        bits(window.agent),
        names::window_kind_name(window.kind),
        window.dispatches,
        window.operations,
        window.closed_by,
        window.clock_mhz,
    ];
    let inserted = insert(connection, "window", &[own, &moved.each_ref().map(|value| value as &dyn ToSql)])?;
    once(connection, process, inserted, "window")
}

fn dispatch(connection: &Connection, process: i64, dispatch: &Dispatch) -> Result<()> {
    let moved = moved(&dispatch.bytes, &dispatch.phases);
    let divergence = dispatch.divergence.as_ref();
    let own = params![
        process,
        bits(dispatch.number),
        bits(dispatch.agent),
        dispatch.kernel,
        dispatch.grid[0],
        dispatch.grid[1],
        dispatch.grid[2],
        dispatch.block[0],
        dispatch.block[1],
        dispatch.block[2],
        bits(dispatch.stream),
        bits(dispatch.thread),
        dispatch.argument_bytes,
        amount(dispatch.start_ns),
        amount(dispatch.end_ns),
        names::outcome_name(dispatch.outcome),
        dispatch.reason,
        dispatch.detail,
        dispatch.plan,
        dispatch.passes_asked,
        dispatch.passes_done,
        dispatch.window.map(bits),
        dispatch.write_set_cut,
    ];
    let checks = params![
        divergence.map(|found| names::divergence_name(found.kind)),
        divergence.and_then(|found| found.pass),
        divergence.map(|found| bits(found.range.base)),
        divergence.map(|found| amount(found.range.bytes)),
        divergence.map(|found| amount(found.bytes)),
        dispatch.audit.as_ref().map(|audit| names::audit_name(audit.kind)),
        dispatch.audit.as_ref().map(|audit| amount(audit.surprise_bytes)),
    ];
    let inserted = insert(connection, "dispatch", &[own, &moved.each_ref().map(|value| value as &dyn ToSql), checks])?;
    once(connection, process, inserted, "dispatch")?;
    if inserted == 0 {
        return Ok(());
    }
    for (position, range) in (0i64..).zip(&dispatch.write_set) {
        connection.prepare_cached("INSERT INTO write_range VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            process,
            bits(dispatch.number),
            position,
            bits(range.base),
            amount(range.bytes)
        ])?;
    }
    for text in &dispatch.notes {
        add_note(connection, process, dispatch.number, text)?;
    }
    if let Some(reason) = &dispatch.reason {
        connection
            .prepare_cached(
                "INSERT INTO decline VALUES (?1, ?2, 1) \
                 ON CONFLICT (process, reason) DO UPDATE SET dispatches = dispatches + 1",
            )?
            .execute(params![process, reason])?;
    }
    Ok(())
}

fn note(connection: &Connection, process: i64, note: &Note) -> Result<()> {
    note.dispatches.iter().try_for_each(|dispatch| add_note(connection, process, *dispatch, &note.text))
}

/// Behind those that the dispatch has.
fn add_note(connection: &Connection, process: i64, dispatch: u64, text: &str) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO note SELECT ?1, ?2, coalesce(max(position) + 1, 0), ?3 FROM note \
             WHERE process = ?1 AND dispatch = ?2",
        )?
        .execute(params![process, bits(dispatch), text])
        .map(drop)
}

fn readings(connection: &Connection, process: i64, readings: &Readings) -> Result<()> {
    let pass = readings.pass.map_or(-1, i64::from);
    let mut all = true;
    {
        let mut insert =
            connection.prepare_cached("INSERT OR IGNORE INTO reading VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for reading in &readings.values {
            all &= insert.execute(params![
                process,
                bits(readings.dispatch),
                pass,
                reading.counter,
                reading.instance,
                Stored(reading.value),
                reading.derived,
                reading.bound,
            ])? > 0;
        }
    }
    once(connection, process, usize::from(all), "reading")
}

fn warning(connection: &Connection, process: i64, warning: &Warning) -> Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO warning VALUES (?1, ?2, ?3)")?
        .execute(params![process, warning.code, warning.text])
        .map(drop)
}

fn summary(connection: &Connection, process: i64, summary: &Summary) -> Result<()> {
    let declined = summary.declined.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    connection
        .prepare_cached(
            "UPDATE process SET replayed = ?2, counted = ?3, declined = ?4, not_selected = ?5, kernel_windows = ?6, \
             batch_windows = ?7, lost_records = ?8 WHERE id = ?1",
        )?
        .execute(params![
            process,
            amount(summary.replayed),
            amount(summary.counted),
            amount(declined),
            amount(summary.not_selected),
            amount(summary.kernel_windows),
            amount(summary.batch_windows),
            amount(summary.lost_records),
        ])
        .map(drop)
}
