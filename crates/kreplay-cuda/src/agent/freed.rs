//! Recorded copies and memsets of memory that the program has freed to a pool since. For the driver such addresses may be
//! nobody's, and it refuses them; kernels reach whatever is mapped. So what the driver refuses is done by our copy kernel,
//! in one launch: passes that read the hardware around every launch count on that.

use super::{CudaAgent, CudaWork, locked};
use crate::kernels::Table;
use kreplay_engine::{AgentError, Tier};

/// Bytes that a memset is made of.
const PATTERN: u64 = 256 << 10;

/// Most bytes that are brought to the device for one operation.
const MOST_STAGED: u64 = 64 << 20;

/// What is brought to the device lies at multiples of this, so that it is copied in large units.
const ALIGNMENT: u64 = 256;

/// Bytes of one entry of a table.
const ENTRY: u64 = 48;

/// What one launch of the copy kernel does: copies within the device, and from bytes that come along.
#[derive(Default)]
struct Job {
    copies: Vec<(u64, u64, u64)>,
    /// To, place among the staged bytes, bytes.
    placed: Vec<(u64, u64, u64)>,
    staged: Vec<u8>,
}

impl Job {
    fn add(&mut self, work: &CudaWork) {
        match work {
            CudaWork::Copy { to, from, bytes } => self.copies.push((*to, *from, *bytes)),
            CudaWork::Upload { to, content } => {
                let at = self.stage(content);
                self.placed.push((*to, at, content.len() as u64));
            }
            CudaWork::Fill { to, value, element, count } => self.fill([*to], *value, *element, *count),
            CudaWork::CopyBox(copy) => self.copies.extend(copy.rows()),
            CudaWork::FillRows(fill) => {
                let rows = (0..fill.height).map(|row| fill.to + row * fill.pitch);
                self.fill(rows, fill.value, fill.element, fill.width);
            }
            CudaWork::All(works) => works.iter().for_each(|work| self.add(work)),
            CudaWork::Launch(_) => {}
        }
    }

    /// Fills rows of so many values, which all begin with one pattern.
    fn fill(&mut self, rows: impl IntoIterator<Item = u64>, value: u32, element: u8, count: u64) {
        let element = u64::from(element);
        let bytes = count.saturating_mul(element);
        let word = value.to_le_bytes();
        let pattern: Vec<u8> = (0..bytes.min(PATTERN)).map(|at| word[(at % element.clamp(1, 4)) as usize]).collect();
        let at = self.stage(&pattern);
        for to in rows {
            let pieces = (0..bytes.div_ceil(PATTERN)).map(|piece| piece * PATTERN);
            self.placed.extend(pieces.map(|done| (to + done, at, (bytes - done).min(PATTERN))));
        }
    }

    /// Keeps bytes, aligned.
    fn stage(&mut self, bytes: &[u8]) -> u64 {
        self.staged.resize(self.staged.len().next_multiple_of(ALIGNMENT as usize), 0);
        let at = self.staged.len() as u64;
        self.staged.extend_from_slice(bytes);
        at
    }
}

/// Bytes that a job for this work brings to the device, at most.
fn staged(work: &CudaWork) -> u64 {
    let bytes = match work {
        CudaWork::Upload { content, .. } => content.len() as u64,
        CudaWork::Fill { element, count, .. } => count.saturating_mul(u64::from(*element)).min(PATTERN),
        // All rows begin with one pattern.
        CudaWork::FillRows(fill) => fill.width.saturating_mul(u64::from(fill.element)).min(PATTERN),
        CudaWork::All(works) => return works.iter().map(staged).fold(0, u64::saturating_add),
        CudaWork::Copy { .. } | CudaWork::CopyBox(_) | CudaWork::Launch(_) => 0,
    };
    bytes.next_multiple_of(ALIGNMENT)
}

impl CudaAgent {
    /// Submits work that may use memory which was freed since. Returns whether that was a launch.
    pub(super) fn submit_to_freed(&self, work: &CudaWork) -> Result<bool, AgentError> {
        match work.submit_to_freed(self.driver(), self.stream()) {
            Ok(()) => Ok(matches!(work, CudaWork::Launch(_))),
            Err(error) if error.is_sticky() || matches!(work, CudaWork::Launch(_)) => Err(self.error(error)),
            Err(_) => self.copy_by_kernel(work).map(|()| true),
        }
    }

    fn copy_by_kernel(&self, work: &CudaWork) -> Result<(), AgentError> {
        let mut job = Job::default();
        let most = staged(work);
        if most > MOST_STAGED {
            return Err(AgentError::Failed {
                call: "a copy to memory that was freed",
                status: format!("{most} bytes are more than are brought to the device at once"),
            });
        }
        let exhausted = |_| AgentError::Exhausted { tier: Tier::Host, bytes: most };
        job.staged.try_reserve_exact(most as usize).map_err(exhausted)?;
        job.add(work);
        let staged = job.staged.len() as u64;
        let behind = ((job.copies.len() + job.placed.len()) as u64 * ENTRY).next_multiple_of(256);
        let driver = self.driver();
        let acquired = locked(&self.0.slots).acquire(driver, (behind + staged).max(8), &[]);
        let mut slot = acquired.map_err(|error| self.error(error))?;
        let mut table = Table::default();
        job.copies.iter().for_each(|(to, from, bytes)| table.push(*from, *to, *bytes, 0));
        job.placed.iter().for_each(|(to, at, bytes)| table.push(slot.device + behind + at, *to, *bytes, 0));
        slot.table.clear();
        slot.zeroes = (0, 0);
        slot.write(0, table.bytes());
        slot.write(behind, &job.staged);
        let queued = driver
            .copy(slot.device, slot.pinned, behind + staged, self.stream())
            .map_err(|error| self.error(error))
            .and_then(|()| self.launch_over(self.0.kernels.copy, &table, slot.device, None))
            .and_then(|()| slot.mark(driver, self.stream()).map_err(|error| self.error(error)));
        locked(&self.0.slots).release_later(slot);
        queued
    }
}
