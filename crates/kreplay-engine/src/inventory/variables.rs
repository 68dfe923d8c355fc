//! Variables of code objects: they live and die with their code.

use super::{Inventory, Live};
use crate::region::Treatment;
use crate::{ModuleVariable, Region, RegionKind, Writers};

impl Inventory {
    /// A code object's variables are live. Those inside a region that is captured anyway, and constants that nobody can
    /// have changed, need no region of their own.
    pub(crate) fn code_loaded(&mut self, code: u64, variables: Vec<ModuleVariable>) -> Vec<Live> {
        let mut gone = self.code_unloaded(code);
        let mut own = Vec::new();
        for variable in variables.into_iter().filter(|variable| !variable.constant) {
            let covered = self.overlapping(variable.range).into_iter().any(|base| {
                let live = &self.regions[&base];
                live.treatment == Treatment::Captured
                    && live.region.range.base <= variable.range.base
                    && live.region.range.end() >= variable.range.end()
            });
            if covered {
                continue;
            }
            let (kind, writers) = match variable.managed {
                true => (RegionKind::Managed { copyable: false }, Writers::Others),
                false => (RegionKind::Variable { name: variable.name }, Writers::Seen),
            };
            let (generation, displaced) = self.born(Region { range: variable.range, kind, writers });
            own.push((variable.range.base, generation));
            gone.extend(displaced);
        }
        self.codes.insert(code, own);
        gone
    }

    /// A code object is unloaded: its variables are gone. Returns them.
    pub(crate) fn code_unloaded(&mut self, code: u64) -> Vec<Live> {
        let own = self.codes.remove(&code).unwrap_or_default();
        own.into_iter()
            .filter(|(base, generation)| self.regions.get(base).is_some_and(|live| live.generation == *generation))
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|(base, _)| self.retire(base))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::map::tests::device;
    use crate::{Arguments, Decline, Range};

    fn variable(name: &str, base: u64, constant: bool) -> ModuleVariable {
        ModuleVariable { name: name.into(), range: Range::new(base, 8), constant, managed: false }
    }

    #[test]
    fn variables_live_and_die_with_their_code() {
        let mut inventory = Inventory::default();
        inventory.born(device(0x9000, 0x100));
        let variables = vec![
            variable("count", 0x1000, false),
            variable("table", 0x1010, true),
            variable("__hip_cuid_1f", 0x1020, false),
            variable("inside", 0x9010, false),
            ModuleVariable { managed: true, ..variable("shared", 0x1030, false) },
        ];
        inventory.code_loaded(7, variables);
        let bases = |inventory: &Inventory| inventory.captured().map(|live| live.region.range.base).collect::<Vec<_>>();
        assert_eq!(bases(&inventory), [0x1000, 0x9000], "no constant, no marker, nothing twice, nothing of the host's");
        let shared = Arguments::Known(0x1030u64.to_le_bytes().to_vec().into());
        assert_eq!(inventory.verdict(&shared), Some(Decline::ManagedMemory));
        inventory.born(device(0x1000, 0x10));
        inventory.code_unloaded(7);
        assert_eq!(bases(&inventory), [0x1000, 0x9000], "a newer region at a variable's address stays");
        inventory.code_unloaded(8);
    }
}
