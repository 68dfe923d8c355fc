//! Everything about a run but its values.

use std::collections::{BTreeMap, HashSet};

use kreplay_protocol::{Bytes, Outcome, Phases, TierBytes, WindowKind};
use kreplay_store::{
    AgentRow, DispatchRow, PlanPassRow, ProcessRow, ProcessState, Reader, RunRow, StoreError, WarningRow, WindowRow,
};

/// Everything about a run but its values.
#[derive(Debug, Clone)]
pub struct Overview {
    /// The run.
    pub run: RunRow,
    /// Its processes.
    pub processes: Vec<ProcessRow>,
    /// Their agents.
    pub agents: Vec<AgentRow>,
    /// The passes of their plans.
    pub plan_passes: Vec<PlanPassRow>,
    /// Windows.
    pub windows: Vec<WindowRow>,
    /// Warnings and decline reasons.
    pub warnings: Vec<WarningRow>,
    /// What must be known of dispatches, each text with how many have it; the most frequent first. Texts that differ in numbers only
    /// are one, and the first stands for them.
    pub notes: Vec<(String, u64)>,
    /// Counts and sums over all dispatches.
    pub totals: Totals,
}

/// Counts and sums over all dispatches and windows of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Dispatch records.
    pub dispatches: u64,
    /// Of these, replayed.
    pub replayed: u64,
    /// Of these, counted once.
    pub counted: u64,
    /// Of these, declined.
    pub declined: u64,
    /// Passes completed.
    pub passes: u64,
    /// Dispatches whose passes differed.
    pub divergent: u64,
    /// Dispatches that the filters left alone, as far as the processes told.
    pub not_selected: u64,
    /// Values.
    pub values: u64,
    /// Dispatches that were replayed or counted, and have no value of all that was asked for.
    pub without_values: u64,
    /// Where the time went.
    pub phases: Phases,
    /// What was copied; the other fields hold the greatest of any window.
    pub bytes: Bytes,
}

impl Overview {
    /// Reads it from a file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn of(reader: &Reader) -> Result<Overview, StoreError> {
        let processes = reader.processes()?;
        let windows = reader.windows()?;
        let mut totals = Totals {
            not_selected: processes.iter().filter_map(|process| process.not_selected).sum(),
            ..Totals::default()
        };
        // A dispatch of a batch window has no times and sizes of its own: they are the window's.
        for window in windows.iter().filter(|window| window.kind == WindowKind::Batch) {
            totals.add_work(&window.bytes, &window.phases);
        }
        let plan_passes = reader.plan_passes()?;
        let counting = Counting::of(&plan_passes);
        let mut notes: BTreeMap<String, (String, u64)> = BTreeMap::new();
        reader.for_each_dispatch(|dispatch| {
            totals.add(&dispatch);
            totals.without_values += u64::from(counting.misses(&dispatch));
            // One dispatch may have the same note of several passes.
            let mut own: BTreeMap<String, String> = BTreeMap::new();
            for note in dispatch.notes {
                own.entry(numberless(&note)).or_insert(note);
            }
            for (kind, note) in own {
                notes.entry(kind).or_insert((note, 0)).1 += 1;
            }
            Ok::<_, StoreError>(())
        })?;
        let mut notes: Vec<(String, u64)> = notes.into_values().collect();
        notes.sort_by_key(|(_, dispatches)| std::cmp::Reverse(*dispatches));
        Ok(Overview {
            run: reader.run()?,
            agents: reader.agents()?,
            plan_passes,
            notes,
            warnings: reader.warnings()?,
            processes,
            windows,
            totals,
        })
    }

    /// Whether any value was simulated.
    pub fn any_simulated(&self) -> bool {
        self.agents.iter().any(|agent| agent.simulated)
    }

    /// Records that processes made and that are not in the file, where that is known.
    pub fn missing_records(&self) -> u64 {
        self.processes
            .iter()
            .map(|process| process.records_made.map_or(0, |made| made.saturating_sub(process.records)))
            .sum()
    }

    /// Processes that ended without their last words.
    pub fn lost_processes(&self) -> impl Iterator<Item = &ProcessRow> {
        self.processes.iter().filter(|process| process.state == ProcessState::Lost)
    }

    /// The chip of a dispatch's agent; empty when the agent is not in the file.
    pub fn chip(&self, process: i64, agent: u64) -> &str {
        self.agents.iter().find(|row| row.process == process && row.number == agent).map_or("", |row| row.chip.as_str())
    }
}

/// A text with one mark for each number.
fn numberless(text: &str) -> String {
    let mut kind = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '0'..='9' if kind.ends_with('#') => {}
            '0'..='9' => kind.push('#'),
            other => kind.push(other),
        }
    }
    kind
}

/// The agents that were to count something, by process and number.
pub(crate) struct Counting(HashSet<(i64, u64)>);

impl Counting {
    pub(crate) fn of(passes: &[PlanPassRow]) -> Self {
        let counting = passes.iter().filter(|pass| !pass.counters.is_empty());
        Self(counting.map(|pass| (pass.process, pass.agent)).collect())
    }

    /// Whether a dispatch should have values and has none.
    pub(crate) fn misses(&self, dispatch: &DispatchRow) -> bool {
        matches!(dispatch.outcome, Outcome::Replayed | Outcome::Counted)
            && dispatch.readings.is_empty()
            && self.0.contains(&(dispatch.process, dispatch.agent))
    }
}

impl Totals {
    fn add(&mut self, dispatch: &DispatchRow) {
        self.dispatches += 1;
        match dispatch.outcome {
            Outcome::Replayed => self.replayed += 1,
            Outcome::Counted => self.counted += 1,
            Outcome::Declined => self.declined += 1,
            Outcome::NotSelected => self.not_selected += 1,
        }
        self.passes += u64::from(dispatch.passes_done);
        self.divergent += u64::from(dispatch.divergence.is_some());
        self.values += dispatch.readings.len() as u64;
        self.add_work(&dispatch.bytes, &dispatch.phases);
    }

    fn add_work(&mut self, bytes: &Bytes, phases: &Phases) {
        let (sum, most) = (&mut self.bytes, *bytes);
        add_tiers(&mut sum.captured, most.captured);
        add_tiers(&mut sum.restored, most.restored);
        sum.compared = sum.compared.saturating_add(most.compared);
        sum.footprint = sum.footprint.max(most.footprint);
        sum.write_set = sum.write_set.max(most.write_set);
        sum.staging_high_water = sum.staging_high_water.max(most.staging_high_water);
        sum.device_held = sum.device_held.max(most.device_held);
        add_phases(&mut self.phases, phases);
    }
}

fn add_tiers(sum: &mut TierBytes, more: TierBytes) {
    sum.device = sum.device.saturating_add(more.device);
    sum.host = sum.host.saturating_add(more.host);
}

/// Adds times phase by phase.
pub(crate) fn add_phases(sum: &mut Phases, more: &Phases) {
    for (sum, more) in [
        (&mut sum.drain, more.drain),
        (&mut sum.capture, more.capture),
        (&mut sum.passes, more.passes),
        (&mut sum.compare, more.compare),
        (&mut sum.restore, more.restore),
        (&mut sum.verify, more.verify),
        (&mut sum.commit, more.commit),
    ] {
        *sum = sum.saturating_add(more);
    }
}
