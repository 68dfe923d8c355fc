//! AMD's counters, as the HSA backend knows them without a device.

use kreplay_engine::{CounterInfo, Plan, PlanError, Request};
use kreplay_hsa::counters::Catalogue;

use super::{CounterSource, SetInfo};
use crate::error::ExpectedError;

/// The catalogue of one chip.
pub(super) struct ChipCatalogue {
    catalogue: Catalogue,
    simulated: bool,
}

impl ChipCatalogue {
    /// The catalogue of `chip`.
    ///
    /// # Errors
    /// [`ExpectedError::DeviceMissing`] when the chip's counters are not known.
    pub(super) fn of(chip: &str, simulated: bool) -> Result<Self, ExpectedError> {
        match Catalogue::of(chip, simulated) {
            Some(catalogue) => Ok(Self { catalogue, simulated }),
            None => Err(ExpectedError::DeviceMissing {
                what: format!("the counters of {chip} are not known"),
                hint: format!(
                    "known chips of AMD: {}; --device cuda knows those of NVIDIA",
                    Catalogue::chips().collect::<Vec<_>>().join(", ")
                ),
            }),
        }
    }
}

impl CounterSource for ChipCatalogue {
    fn chip(&self) -> &str {
        self.catalogue.chip()
    }

    fn simulated(&self) -> bool {
        self.simulated
    }

    fn list(&self) -> Vec<CounterInfo> {
        self.catalogue.list()
    }

    fn sets(&self) -> Vec<SetInfo> {
        self.catalogue
            .sets()
            .iter()
            .map(|set| SetInfo {
                name: set.name.to_owned(),
                description: format!("{} ({} names)", set.description, set.members.len()),
            })
            .collect()
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        self.catalogue.plan(request)
    }
}
