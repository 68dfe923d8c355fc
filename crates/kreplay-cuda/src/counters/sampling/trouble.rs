//! When sampling is given up.

use super::collect::Lost;
use kreplay_engine::CountersError;

/// Windows in a row whose samples did not fit before sampling is given up.
const PATIENCE: u32 = 2;
/// … or had no room, which a longer interval mends.
const PATIENCE_FOR_ROOM: u32 = 8;

/// Windows whose samples did not fit, and what else stands against sampling.
#[derive(Default)]
pub(super) struct Trouble {
    last: u64,
    in_a_row: u32,
    pub(super) given_up: Option<String>,
    /// Who came to the GPU.
    pub(super) company: Option<&'static str>,
}

impl Trouble {
    /// Samples of this window did not fit; it is told by how many were sampled on the device.
    pub(super) fn in_window(&mut self, window: u64, lost: Lost, why: &CountersError) {
        match window - self.last.min(window) {
            0 => {}
            1 => self.in_a_row += 1,
            _ => self.in_a_row = 1,
        }
        self.last = self.last.max(window);
        let patience = if lost == Lost::Room { PATIENCE_FOR_ROOM } else { PATIENCE };
        if self.in_a_row >= patience {
            self.given_up.get_or_insert_with(|| format!("{why}, in {patience} windows in a row"));
        }
    }
}
