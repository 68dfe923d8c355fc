//! Everything that can be counted.

use super::host::Host;
use super::names::EVENT_TIME;
use super::sets::SETS;
use crate::tables::Cupti;
use kreplay_engine::CounterInfo;

/// Everything that a chip can count, sets first.
pub(crate) fn list(cupti: &Cupti, chip: &str, availability: &[u8]) -> Vec<CounterInfo> {
    let mut found: Vec<CounterInfo> = SETS
        .iter()
        .map(|set| CounterInfo {
            name: set.name.into(),
            block: "set".into(),
            unit: "".into(),
            description: format!("{} ({} metrics)", set.description, set.metrics.len()).into(),
        })
        .collect();
    found.push(CounterInfo {
        name: EVENT_TIME.into(),
        block: "event".into(),
        unit: "ns".into(),
        description: "time between an event before the kernel and one behind it".into(),
    });
    let Ok(host) = Host::new(cupti, chip, availability) else { return found };
    let mut bases = host.base_metrics().unwrap_or_default();
    bases.sort();
    for base in bases {
        let Ok(properties) = host.properties(&base) else { continue };
        found.push(CounterInfo {
            name: base,
            block: properties.block,
            unit: properties.unit,
            description: properties.description,
        });
    }
    found
}
