//! Questions outside a profile: what is here, what can be counted, how a request is packed. For `kreplay doctor`,
//! `kreplay counters` and `kreplay plan`.

use crate::counters::{Availability, Known, availability, chip_of, list, plan_request, supported_chips};
use crate::tables::{Cupti, Driver, Environment, LoadError, device_attribute, find_cupti};
use kreplay_engine::{CounterInfo, Plan, PlanError, Request};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a profile that is counting on a device may keep us from asking about it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A CUDA device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Product name.
    pub name: Arc<str>,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Most clock of the multiprocessors, in kHz.
    pub clock_khz: i32,
    /// The chip's name in CUPTI; `unknown` where CUPTI does not tell.
    pub chip: Arc<str>,
    /// Why nothing can be counted on it, with the remedy; `None` when counting works.
    pub refused: Option<Arc<str>>,
}

/// CUPTI, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CuptiInfo {
    /// The library.
    pub path: PathBuf,
    /// 130000 for 13.0 and the like.
    pub version: u32,
}

/// What is on this machine.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The driver's CUDA version, 13000 for 13.0; or why there is none.
    pub driver: Result<i32, String>,
    /// Its devices.
    pub devices: Vec<DeviceInfo>,
    /// CUPTI, or why it cannot be loaded.
    pub cupti: Result<CuptiInfo, LoadError>,
}

/// Begins the driver. Its CUDA version, 13000 for 13.0; or why it cannot be used.
///
/// # Errors
/// The library that is missing, or the driver's status, as text.
pub fn driver_version() -> Result<i32, String> {
    let driver = Driver::load().map_err(|error| error.to_string())?;
    driver.init().and_then(|()| driver.version()).map_err(|error| error.to_string())
}

/// Whether this is the name of a set. Every chip that counts has what sets hold, or the library tells what it lacks.
pub fn is_set(name: &str) -> bool {
    crate::counters::find_set(name).is_some()
}

/// Looks at driver, devices and CUPTI. Makes a context on each device to ask whether counting is permitted, which takes
/// some hundred milliseconds.
pub fn survey() -> Survey {
    let cupti = load_cupti();
    let mut devices = Vec::new();
    let driver = Driver::load().map_err(|error| error.to_string()).and_then(|driver| {
        let version = driver.init().and_then(|()| driver.version()).map_err(|error| error.to_string())?;
        let count = driver.device_count().map_err(|error| error.to_string())?;
        devices.extend((0..count).filter_map(|device| look(&driver, cupti.as_ref().ok(), device)));
        Ok(version)
    });
    let cupti =
        cupti.map(|cupti| CuptiInfo { path: cupti.path().to_owned(), version: cupti.version().unwrap_or_default() });
    Survey { driver, devices, cupti }
}

fn look(driver: &Driver, cupti: Option<&Cupti>, device: i32) -> Option<DeviceInfo> {
    let attribute = |attribute| driver.device_attribute(attribute, device).ok();
    let mut info = DeviceInfo {
        name: driver.device_name(device).ok()?,
        capability: (attribute(device_attribute::MAJOR)?, attribute(device_attribute::MINOR)?),
        clock_khz: attribute(device_attribute::CLOCK_KHZ)?,
        chip: "unknown".into(),
        refused: Some("CUPTI cannot be loaded".into()),
    };
    if let Some(cupti) = cupti {
        let asked = driver.primary_context(device).and_then(|context| {
            let uuid = driver.device_uuid(device)?;
            driver.push_context(context)?;
            let found = availability(cupti, (device, uuid), context, PATIENCE);
            driver.pop_context()?;
            Ok(found)
        });
        match asked {
            Ok(Availability { chip, refused, .. }) => (info.chip, info.refused) = (chip, refused),
            Err(error) => info.refused = Some(error.to_string().into()),
        }
    }
    Some(info)
}

/// The chips that a CUPTI knows without a device.
fn named(cupti: &Cupti) -> Result<Vec<String>, OfflineError> {
    match supported_chips(cupti) {
        Ok(known) => Ok(known.iter().map(ToString::to_string).collect()),
        Err(error) => Err(OfflineError::CannotPlan { path: cupti.path().to_owned(), why: error.to_string() }),
    }
}

/// Where a CUPTI is looked for, in order: files that are there, and bare names that the loader knows.
pub fn cupti_candidates() -> Vec<PathBuf> {
    Environment::of_process().candidates()
}

fn load_cupti() -> Result<Cupti, LoadError> {
    find_cupti(&Environment::of_process()).and_then(|found| Cupti::load(&found))
}

/// Why nothing can be planned here.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OfflineError {
    /// No CUPTI.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No device, and no chip was named.
    #[error("there is no CUDA device here to take the chip from; name one of: {}", known.join(", "))]
    NoChip {
        /// Chips that this CUPTI knows.
        known: Vec<String>,
    },
    /// This CUPTI cannot plan here.
    #[error(
        "the CUPTI at {} cannot plan without a device: {why}. CUPTI 13.0 and 13.1 can; `pip install \
         'nvidia-cuda-cupti==13.0.*'` and set KREPLAY_CUPTI to the folder of its library",
        path.display()
    )]
    CannotPlan {
        /// The library.
        path: PathBuf,
        /// What it said.
        why: String,
    },
}

/// A chip to list and plan for; no device is needed.
#[derive(Debug)]
pub struct Offline {
    cupti: Cupti,
    chip: Arc<str>,
    /// What earlier plans asked.
    known: Arc<Known>,
}

impl Offline {
    /// For the chip of this name, or for the first device's.
    ///
    /// # Errors
    /// [`OfflineError`].
    pub fn new(chip: Option<&str>) -> Result<Self, OfflineError> {
        let cupti = load_cupti()?;
        let found = chip.map(Arc::from).or_else(|| {
            let driver = Driver::load().ok()?;
            driver.init().ok()?;
            Some(chip_of(&cupti, 0)).filter(|chip| &**chip != "unknown")
        });
        match found {
            Some(chip) => Ok(Self { cupti, chip, known: Arc::default() }),
            None => Err(OfflineError::NoChip { known: named(&cupti)? }),
        }
    }

    /// The chips that can be listed and planned for without a device.
    ///
    /// # Errors
    /// [`OfflineError`].
    pub fn chips() -> Result<Vec<String>, OfflineError> {
        named(&load_cupti()?)
    }

    /// The chip.
    pub fn chip(&self) -> &str {
        &self.chip
    }

    /// Everything that the chip can count, sets first.
    pub fn list(&self) -> Vec<CounterInfo> {
        list(&self.cupti, &self.chip, &[])
    }

    /// How a request is packed into passes.
    ///
    /// # Errors
    /// [`PlanError`], for an unknown name with near ones.
    pub fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        plan_request(&self.cupti, &self.chip, request, true, &self.known)
    }

    /// The single pass of a request whose dispatches are not kept apart.
    ///
    /// # Errors
    /// [`PlanError`], for what does not fit one pass of sampling too.
    pub fn plan_unfenced(&self, request: &Request) -> Result<Plan, PlanError> {
        plan_request(&self.cupti, &self.chip, request, false, &self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_planned_without_a_device() {
        if std::env::var_os("KREPLAY_CUPTI").is_none() {
            assert!(
                std::env::var_os("KREPLAY_NO_SKIP").is_none(),
                "must not be skipped here: there is no KREPLAY_CUPTI"
            );
            return println!("skipped: KREPLAY_CUPTI names no CUPTI");
        }
        let offline = Offline::new(Some("GH100")).expect("CUPTI is there");
        assert!(offline.list().len() > 3000);
        assert_eq!(&*offline.list()[0].name, "basic");
        assert!(offline.list().iter().any(|counter| &*counter.name == "gpu_time"));
        let request = Request { names: vec!["memory".into()], repeat: 2, dispatches: 1 };
        let plan = offline.plan(&request).expect("planned");
        assert!(plan.passes.len() >= 2 && plan.passes.len().is_multiple_of(2));
        assert!(plan.passes.iter().enumerate().all(|(index, pass)| pass.index as usize == index));
        assert!(plan.passes.iter().all(|pass| !pass.counters.is_empty() && !pass.price.is_zero()));
        let unknown = offline.plan(&Request { names: vec!["nothing__like.this".into()], repeat: 1, dispatches: 1 });
        assert!(matches!(unknown, Err(PlanError::Unknown { .. })));
    }

    #[test]
    fn a_survey_says_what_is_missing() {
        let survey = survey();
        if let Err(why) = &survey.driver {
            assert!(why.contains("libcuda.so.1"), "{why}");
            assert!(survey.devices.is_empty());
        }
    }
}
