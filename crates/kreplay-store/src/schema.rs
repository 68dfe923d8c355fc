//! The tables. `docs/file.md` explains the columns; a test keeps the two together.

/// The columns that a window and a dispatch of its own window share: what was moved and held, and where the time went.
macro_rules! moved {
    () => {
        "  footprint_bytes INTEGER NOT NULL,
  write_set_bytes INTEGER NOT NULL,
  captured_device_bytes INTEGER NOT NULL,
  captured_host_bytes INTEGER NOT NULL,
  restored_device_bytes INTEGER NOT NULL,
  restored_host_bytes INTEGER NOT NULL,
  compared_bytes INTEGER NOT NULL,
  staging_high_water_bytes INTEGER NOT NULL,
  device_held_bytes INTEGER NOT NULL,
  drain_ns INTEGER NOT NULL,
  capture_ns INTEGER NOT NULL,
  passes_ns INTEGER NOT NULL,
  compare_ns INTEGER NOT NULL,
  restore_ns INTEGER NOT NULL,
  verify_ns INTEGER NOT NULL,
  commit_ns INTEGER NOT NULL,
"
    };
}

/// Every table of the current version, as SQLite keeps its text.
///
/// Numbers that name things (`number`, `stream`, `base`) are 64-bit patterns in a signed integer. Times are nanoseconds,
/// sizes are bytes. Texts in `argv`, `command` and `settings` are JSON.
pub const SCHEMA: &[(&str, &str)] = &[
    (
        "run",
        "CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  kreplay_version TEXT NOT NULL,
  protocol_version INTEGER NOT NULL,
  command TEXT NOT NULL,
  directory TEXT NOT NULL,
  host TEXT NOT NULL,
  settings TEXT NOT NULL,
  start_unix_ns INTEGER NOT NULL,
  end_unix_ns INTEGER,
  state TEXT NOT NULL CHECK (state IN ('recording', 'complete', 'incomplete')),
  exit_code INTEGER,
  exit_signal INTEGER
)",
    ),
    (
        "process",
        "CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  pid INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL,
  exe TEXT NOT NULL,
  argv TEXT NOT NULL,
  start_unix_ns INTEGER NOT NULL,
  library_version TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'ended', 'lost')),
  replayed INTEGER,
  counted INTEGER,
  declined INTEGER,
  not_selected INTEGER,
  kernel_windows INTEGER,
  batch_windows INTEGER,
  lost_records INTEGER
)",
    ),
    (
        "agent",
        "CREATE TABLE agent (
  process INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  chip TEXT NOT NULL,
  backend TEXT NOT NULL,
  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
  memory_bytes INTEGER,
  PRIMARY KEY (process, number)
) WITHOUT ROWID",
    ),
    (
        "counter",
        "CREATE TABLE counter (
  process INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  block TEXT NOT NULL,
  PRIMARY KEY (process, number)
) WITHOUT ROWID",
    ),
    (
        "plan",
        "CREATE TABLE plan (
  process INTEGER NOT NULL,
  number INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  PRIMARY KEY (process, number)
) WITHOUT ROWID",
    ),
    (
        "plan_pass",
        "CREATE TABLE plan_pass (
  process INTEGER NOT NULL,
  plan INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  way TEXT NOT NULL CHECK (way IN ('ranges', 'sampling', 'timing')),
  price_ns INTEGER NOT NULL,
  PRIMARY KEY (process, plan, pass)
) WITHOUT ROWID",
    ),
    (
        "plan_counter",
        "CREATE TABLE plan_counter (
  process INTEGER NOT NULL,
  plan INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  counter INTEGER NOT NULL,
  PRIMARY KEY (process, plan, pass, counter)
) WITHOUT ROWID",
    ),
    (
        "kernel",
        "CREATE TABLE kernel (
  process INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (process, number)
) WITHOUT ROWID",
    ),
    (
        "window",
        concat!(
            "CREATE TABLE window (
  process INTEGER NOT NULL,
  number INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('kernel', 'batch')),
  dispatches INTEGER NOT NULL,
  operations INTEGER NOT NULL,
  closed_by TEXT NOT NULL,
  clock_mhz INTEGER,
",
            moved!(),
            "  PRIMARY KEY (process, number)
) WITHOUT ROWID"
        ),
    ),
    (
        "dispatch",
        concat!(
            "CREATE TABLE dispatch (
  process INTEGER NOT NULL,
  number INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  kernel INTEGER NOT NULL,
  grid_x INTEGER NOT NULL,
  grid_y INTEGER NOT NULL,
  grid_z INTEGER NOT NULL,
  block_x INTEGER NOT NULL,
  block_y INTEGER NOT NULL,
  block_z INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  argument_bytes INTEGER,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('replayed', 'counted', 'declined', 'not_selected')),
  reason TEXT,
  detail TEXT NOT NULL,
  plan INTEGER,
  passes_asked INTEGER NOT NULL,
  passes_done INTEGER NOT NULL,
  window INTEGER,
  write_set_cut INTEGER NOT NULL CHECK (write_set_cut IN (0, 1)),
",
            moved!(),
            "  divergence TEXT CHECK (divergence IN ('output', 'escaped')),
  divergence_pass INTEGER,
  divergence_base INTEGER,
  divergence_range_bytes INTEGER,
  divergence_bytes INTEGER,
  audit TEXT CHECK (audit IN ('shadow', 'reach')),
  audit_surprise_bytes INTEGER,
  PRIMARY KEY (process, number)
) WITHOUT ROWID"
        ),
    ),
    (
        "write_range",
        "CREATE TABLE write_range (
  process INTEGER NOT NULL,
  dispatch INTEGER NOT NULL,
  position INTEGER NOT NULL,
  base INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (process, dispatch, position)
) WITHOUT ROWID",
    ),
    (
        "note",
        "CREATE TABLE note (
  process INTEGER NOT NULL,
  dispatch INTEGER NOT NULL,
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (process, dispatch, position)
) WITHOUT ROWID",
    ),
    (
        "reading",
        "CREATE TABLE reading (
  process INTEGER NOT NULL,
  dispatch INTEGER NOT NULL,
  pass INTEGER NOT NULL CHECK (pass >= -1),
  counter INTEGER NOT NULL,
  instance INTEGER NOT NULL,
  value NUMERIC NOT NULL,
  derived INTEGER NOT NULL CHECK (derived IN (0, 1)),
  bound REAL,
  PRIMARY KEY (process, dispatch, pass, counter, instance)
) WITHOUT ROWID",
    ),
    (
        "decline",
        "CREATE TABLE decline (
  process INTEGER NOT NULL,
  reason TEXT NOT NULL,
  dispatches INTEGER NOT NULL,
  PRIMARY KEY (process, reason)
) WITHOUT ROWID",
    ),
    (
        "warning",
        "CREATE TABLE warning (
  process INTEGER NOT NULL,
  code TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (process, code)
) WITHOUT ROWID",
    ),
];
