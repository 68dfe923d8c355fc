//! CUPTI's PM sampling as a [`Sampler`].
//!
//! There is one object for a device. What it was programmed with first it keeps: a second configuration is accepted and
//! changes nothing, so another group needs another object, which takes about 100 ms.

use super::pace::BUFFER;
use super::sampler::{Decoded, Sampler, SamplerError, Values};
use super::times::times;
use crate::counters::planning::host::{Host, Names};
use crate::counters::planning::sample_group::SampleGroup;
use crate::counters::ranges::images::zeroed;
use crate::counters::sharing::busy::while_busy;
use crate::tables::cupti_sampling::*;
use crate::tables::{Cupti, CuptiError, CuptiStatus, optional_call};
use std::sync::Arc;

/// See the module.
pub(super) struct Session {
    cupti: Arc<Cupti>,
    device: i32,
    /// Null: none.
    object: SamplingObject,
    group: Option<Arc<SampleGroup>>,
    /// Nanoseconds between the samples of the programmed group.
    interval: u64,
}

// SAFETY: CUPTI's object is used by the one thread that the session was given to.
unsafe impl Send for Session {}

impl Session {
    /// For a device; nothing is asked of it yet.
    pub(super) fn new(cupti: Arc<Cupti>, device: i32) -> Self {
        Self { cupti, device, object: std::ptr::null_mut(), group: None, interval: 0 }
    }

    fn set_config(&self, group: &SampleGroup, interval: u64) -> Result<(), CuptiError> {
        let mut params = SamplingSetConfig {
            object: self.object,
            config_bytes: group.config.bytes.len(),
            config: group.config.bytes.as_ptr(),
            buffer_bytes: BUFFER,
            interval,
            trigger: BY_TIME,
            append: KEEP_OLDEST,
            ..Default::default()
        };
        match optional_call!(self.cupti, cuptiPmSamplingSetConfig, &mut params) {
            // CUPTI 12.6 knows the structure without its last member.
            Err(error) if error.status == CuptiStatus::INVALID_PARAMETER => {
                params.size = SET_CONFIG_OLD;
                optional_call!(self.cupti, cuptiPmSamplingSetConfig, &mut params)
            }
            other => other,
        }
    }

    fn sample_times(&self, image: &[u8], index: usize) -> Result<(u64, u64), CuptiError> {
        let mut params = SamplingSampleInfo {
            object: self.object,
            image: image.as_ptr(),
            bytes: image.len(),
            index,
            ..Default::default()
        };
        optional_call!(self.cupti, cuptiPmSamplingCounterDataGetSampleInfo, &mut params)?;
        Ok((params.start, params.end))
    }
}

impl Sampler for Session {
    fn program(&mut self, group: &Arc<SampleGroup>, interval: u64) -> Result<(), SamplerError> {
        self.release();
        let mut params = SamplingEnable { device: self.device as usize, ..Default::default() };
        while_busy(self.device, "sampling", || optional_call!(self.cupti, cuptiPmSamplingEnable, &mut params))?;
        self.object = params.object;
        if let Err(error) = while_busy(self.device, "a group", || self.set_config(group, interval)) {
            self.release();
            return Err(error.into());
        }
        self.group = Some(Arc::clone(group));
        self.interval = interval;
        Ok(())
    }

    fn start(&mut self) -> Result<(), SamplerError> {
        let mut params = SamplingSession { object: self.object, ..Default::default() };
        Ok(while_busy(self.device, "samples", || optional_call!(self.cupti, cuptiPmSamplingStart, &mut params))?)
    }

    fn stop(&mut self) -> Result<(), SamplerError> {
        let mut params = SamplingSession { object: self.object, ..Default::default() };
        Ok(optional_call!(self.cupti, cuptiPmSamplingStop, &mut params)?)
    }

    fn now(&mut self) -> u64 {
        // Asked for when sampling was found to be there.
        self.cupti.now().unwrap_or(0)
    }

    fn release(&mut self) {
        self.group = None;
        if self.object.is_null() {
            return;
        }
        let mut params = SamplingSession { object: self.object, ..Default::default() };
        // A failure leaves an object behind that nobody uses; the next one's failure tells.
        let _ = optional_call!(self.cupti, cuptiPmSamplingDisable, &mut params);
        self.object = std::ptr::null_mut();
    }

    fn empty_image(&mut self, samples: u32) -> Result<Vec<u8>, SamplerError> {
        let none = Names::new::<&str>([]);
        let names = self.group.as_ref().map_or(&none, |group| &group.names);
        let mut size = SamplingCountersSize {
            object: self.object,
            names: names.pointers.as_ptr(),
            count: names.len(),
            samples,
            ..Default::default()
        };
        optional_call!(self.cupti, cuptiPmSamplingGetCounterDataSize, &mut size)?;
        let mut image = zeroed(size.bytes);
        let mut params = SamplingCountersInitialize {
            object: self.object,
            bytes: image.len(),
            image: image.as_mut_ptr(),
            ..Default::default()
        };
        optional_call!(self.cupti, cuptiPmSamplingCounterDataImageInitialize, &mut params)?;
        Ok(image)
    }

    fn decode(&mut self, image: &mut [u8]) -> Result<Decoded, SamplerError> {
        let mut params = SamplingDecode {
            object: self.object,
            image: image.as_mut_ptr(),
            image_bytes: image.len(),
            ..Default::default()
        };
        match optional_call!(self.cupti, cuptiPmSamplingDecodeData, &mut params) {
            // And so it stays until another object is made.
            Err(error) if error.status == CuptiStatus::OUT_OF_MEMORY => {
                return Ok(Decoded { overflow: true, ..Decoded::default() });
            }
            other => other?,
        }
        let mut info = SamplingCountersInfo { image: image.as_ptr(), bytes: image.len(), ..Default::default() };
        optional_call!(self.cupti, cuptiPmSamplingGetCounterDataInfo, &mut info)?;
        let times = times(info.completed, self.interval, |index| self.sample_times(image, index))?;
        Ok(Decoded { times, full: params.stopped == IMAGE_FULL, overflow: params.overflow != 0 })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.release();
    }
}

/// The device's counters that may be sampled, as CUPTI's image.
///
/// # Errors
/// CUPTI's status; that of a function that an older CUPTI lacks, for instance.
pub(crate) fn availability(cupti: &Cupti, device: i32) -> Result<Vec<u8>, CuptiError> {
    if let Some(call) = cupti.lacks_sampling() {
        return Err(CuptiError { call, status: CuptiStatus::MISSING });
    }
    let mut params = SamplingAvailability { device: device as usize, ..Default::default() };
    optional_call!(cupti, cuptiPmSamplingGetCounterAvailability, &mut params)?;
    let mut image = vec![0; params.image_bytes];
    let mut params = SamplingAvailability {
        device: device as usize,
        image_bytes: image.len(),
        image: image.as_mut_ptr(),
        ..Default::default()
    };
    optional_call!(cupti, cuptiPmSamplingGetCounterAvailability, &mut params)?;
    Ok(image)
}

/// Values by CUPTI's Profiler Host.
pub(super) struct HostValues {
    host: Host<Arc<Cupti>>,
    names: Names,
    rests_with_marker: bool,
}

impl HostValues {
    /// For images of a group.
    pub(super) fn new(
        cupti: &Arc<Cupti>,
        chip: &str,
        availability: &[u8],
        group: &Arc<SampleGroup>,
    ) -> Result<Self, SamplerError> {
        let host = Host::for_sampling(Arc::clone(cupti), chip, availability)?;
        host.add(&group.names)?;
        Ok(Self { host, names: group.names.clone(), rests_with_marker: group.rests_with_marker() })
    }
}

impl Values for HostValues {
    fn values(&self, image: &[u8], index: usize, into: &mut [f64]) -> Result<(), SamplerError> {
        // Most samples are of the idle device.
        if self.rests_with_marker
            && let [marker, rest @ ..] = into
        {
            self.host.evaluate_into(image, index, &self.names, std::slice::from_mut(marker))?;
            if *marker == 0.0 {
                rest.fill(0.0);
                return Ok(());
            }
        }
        Ok(self.host.evaluate_into(image, index, &self.names, into)?)
    }
}

impl From<CuptiError> for SamplerError {
    fn from(error: CuptiError) -> Self {
        let lasting = [
            CuptiStatus::INSUFFICIENT_PRIVILEGES,
            CuptiStatus::HARDWARE_BUSY,
            CuptiStatus::NOT_SUPPORTED,
            CuptiStatus::MISSING,
        ]
        .contains(&error.status);
        let mig = error.status == CuptiStatus(43);
        Self { call: error.call, status: error.status.to_string(), lasting: lasting || mig }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tests::gpu_agent;
    use crate::counters::device::chip_of;
    use crate::counters::planning::planner::Planner;
    use crate::tables::{Environment, find_cupti};
    use std::time::Duration;

    /// What lies between two samples that are asked for is what CUPTI tells of those that are not.
    #[test]
    fn samples_on_a_gpu_keep_their_beat() {
        const INTERVAL: u64 = 28_000;
        let Some(agent) = gpu_agent() else { return };
        let found = find_cupti(&Environment::of_process()).expect("a machine with a GPU has CUPTI");
        let cupti = Arc::new(Cupti::load(&found).expect("it has every function"));
        let _entered = agent.enter().expect("the context is there");
        let chip = chip_of(&cupti, agent.device());
        let offered = availability(&cupti, agent.device()).expect("it can be sampled");
        let planner = Planner::new(&cupti, &chip, &[], Some(&offered));
        let metrics = ["sm__cycles_active.sum".into(), "dram__bytes_read.sum".into()];
        let groups = planner.pack_samples(&metrics, &|_| true);
        let mut session = Session::new(Arc::clone(&cupti), agent.device());
        session.program(&Arc::new(groups[0].clone()), INTERVAL).expect("programmed");
        let mut image = session.empty_image(1024).expect("an image");
        session.start().expect("started");
        std::thread::sleep(Duration::from_nanos(INTERVAL * 700));
        session.stop().expect("stopped");
        let times = session.decode(&mut image).expect("decoded").times;
        assert!(times.len() > 600 && times.len() < 1024, "{}", times.len());
        let told = |index| session.sample_times(&image, index).expect("it is there");
        let off = |(index, sample): (usize, &(u64, u64))| {
            let told = told(index);
            sample.0.abs_diff(told.0).max(sample.1.abs_diff(told.1))
        };
        let most = times.iter().enumerate().map(off).max().expect("there are samples");
        println!("{{\"samples\": {}, \"ns_off_at_most\": {most}}}", times.len());
        assert!(most <= 100, "{most} ns");
    }
}
