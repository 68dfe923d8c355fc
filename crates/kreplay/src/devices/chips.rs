//! What a chip can count, whether it is here or not.

use kreplay_cuda::Offline;
use kreplay_hsa::counters::Catalogue;
use kreplay_protocol::Device;

use super::{Backend, CounterSource, choose, cuda, hsa, soft};
use crate::cli::DeviceChoice;
use crate::error::ExpectedError;

/// What can be counted on `chip`, or on the first device that is there. With `auto` a chip's name tells the backend: names of
/// different vendors are different.
///
/// # Errors
/// [`ExpectedError::DeviceMissing`] where that cannot be known on this machine.
pub(crate) fn counters(choice: DeviceChoice, chip: Option<&str>) -> Result<Box<dyn CounterSource>, ExpectedError> {
    let (DeviceChoice::Auto, Some(name)) = (choice, chip) else { return choose(choice).counters(chip) };
    if Catalogue::chips().any(|known| known == name) {
        let simulated = name == soft::CHIP && choose(choice).device() == Device::Soft;
        return if simulated { soft::Soft.counters(chip) } else { hsa::Hsa.counters(chip) };
    }
    match Offline::chips() {
        Ok(known) if !known.iter().any(|known| known == name) => Err(unknown(name, Ok(known))),
        // A CUPTI that names no chips without a device may still know the one that is here.
        Err(error) if !cuda::present() => Err(unknown(name, Err(error.to_string()))),
        _ => cuda::Cuda.counters(chip),
    }
}

/// No backend knows the chip; `nvidia` are those that CUPTI knows, or why it cannot be asked.
fn unknown(chip: &str, nvidia: Result<Vec<String>, String>) -> ExpectedError {
    let amd = Catalogue::chips().map(str::to_owned).collect::<Vec<_>>();
    match nvidia {
        Ok(nvidia) => ExpectedError::DeviceMissing {
            what: format!("the counters of {chip} are not known"),
            hint: format!("known chips: {}", [amd, nvidia].concat().join(", ")),
        },
        Err(why) => ExpectedError::DeviceMissing {
            what: format!("the counters of {chip} are not known, and NVIDIA's chips cannot be looked up: {why}"),
            hint: format!("chips that are known without CUPTI: {}", amd.join(", ")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_chip_is_told_with_those_of_every_vendor() {
        let listed = unknown("G80", Ok(vec!["GH100".into()]));
        let ExpectedError::DeviceMissing { what, hint } = listed else { panic!("{listed}") };
        assert_eq!(what, "the counters of G80 are not known");
        assert!(hint.contains("gfx90a") && hint.contains("gfx1100, GH100"), "{hint}");
        let without = unknown("GH100", Err("libcupti.so is not there".into()));
        let ExpectedError::DeviceMissing { what, hint } = without else { panic!("{without}") };
        assert!(what.ends_with("cannot be looked up: libcupti.so is not there"), "{what}");
        assert!(hint.contains("gfx942"), "{hint}");
    }
}
