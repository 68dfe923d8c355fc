//! The Range Profiler's session of a context: the hardware is read around each dispatch.

use super::images::try_zeroed;
use crate::agent::CudaAgent;
use crate::counters::planning::range_group::Group;
use crate::counters::sharing::busy::while_busy;
use crate::counters::sharing::reach::Reach;
use crate::tables::cupti_structs::*;
use crate::tables::{Context, Cupti, CuptiError, CuptiStatus, profiler_call};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Every launch between start and stop is a range of its own, in order; passes that we replay. Ranges that are pushed and
/// popped would hold the idle time around a kernel too, and of several in a pass only the first ones are kept.
const AUTO_RANGE: u32 = 1;
const USER_REPLAY: u32 = 3;

/// A session. It exists from the first window of a context to the context's end.
#[derive(Debug)]
pub(crate) struct RangeProfiler {
    cupti: Arc<Cupti>,
    object: RangeObject,
    /// What the object lays images out for: a group and a number of ranges, and how many bytes these take.
    layout: RefCell<Option<(Arc<Group>, u32, usize)>>,
    reach: Cell<Option<Reach>>,
}

// SAFETY: CUPTI's object is used by one thread at a time: it is kept behind a lock.
unsafe impl Send for RangeProfiler {}

/// What a stopped pass says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// Every pass of the configuration has run.
    pub(crate) complete: bool,
}

impl RangeProfiler {
    /// Begins a session in a context of a device.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn enable(cupti: Arc<Cupti>, device: i32, context: Context) -> Result<Self, CuptiError> {
        let mut params = RangeEnable { context, ..Default::default() };
        while_busy(device, "a session", || profiler_call!(cupti, cuptiRangeProfilerEnable, &mut params))?;
        Ok(Self { cupti, object: params.object, layout: RefCell::new(None), reach: Cell::new(None) })
    }

    /// An empty counter image for a group and a number of ranges.
    ///
    /// # Errors
    /// CUPTI's status; [`CuptiStatus::OUT_OF_MEMORY`] where the host has no room for it.
    pub(crate) fn image(&self, group: &Arc<Group>, ranges: u32) -> Result<Vec<u8>, CuptiError> {
        let no_room = CuptiError { call: "the storage of a counter image", status: CuptiStatus::OUT_OF_MEMORY };
        let mut image = try_zeroed(self.lay_out(group, ranges)?).ok_or(no_room)?;
        self.initialize(&mut image)?;
        Ok(image)
    }

    /// Empties the storage of such an image.
    ///
    /// # Errors
    /// CUPTI's status; [`CuptiStatus::INVALID_PARAMETER`] for storage of another size.
    pub(crate) fn empty(&self, group: &Arc<Group>, ranges: u32, image: &mut [u8]) -> Result<(), CuptiError> {
        if self.lay_out(group, ranges)? != image.len() {
            let call = "cuptiRangeProfilerGetCounterDataSize";
            return Err(CuptiError { call, status: CuptiStatus::INVALID_PARAMETER });
        }
        self.initialize(image)
    }

    /// How many bytes such an image takes. The object lays images out for what it was asked last, so that it is asked again
    /// where that was something else; an answer takes it milliseconds, for which the next pass would have to wait.
    fn lay_out(&self, group: &Arc<Group>, ranges: u32) -> Result<usize, CuptiError> {
        let mut layout = self.layout.borrow_mut();
        if let Some((of, most, bytes)) = &*layout
            && Arc::ptr_eq(of, group)
            && *most == ranges
        {
            return Ok(*bytes);
        }
        *layout = None;
        let bytes = self.image_bytes(group, ranges)?;
        *layout = Some((Arc::clone(group), ranges, bytes));
        Ok(bytes)
    }

    fn image_bytes(&self, group: &Group, ranges: u32) -> Result<usize, CuptiError> {
        let mut size = RangeCountersSize {
            object: self.object,
            names: group.names.pointers.as_ptr(),
            count: group.names.len(),
            ranges: ranges as usize,
            nodes: ranges,
            ..Default::default()
        };
        profiler_call!(self.cupti, cuptiRangeProfilerGetCounterDataSize, &mut size)?;
        Ok(size.bytes)
    }

    fn initialize(&self, image: &mut [u8]) -> Result<(), CuptiError> {
        let mut params = RangeCountersInitialize {
            object: self.object,
            bytes: image.len(),
            image: image.as_mut_ptr(),
            ..Default::default()
        };
        profiler_call!(self.cupti, cuptiRangeProfilerCounterDataImageInitialize, &mut params)
    }

    /// Programs a group from its pass 0 on; values will be decoded into `image`, which must not move until then.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn configure(&self, group: &Group, image: &mut [u8], ranges: u32) -> Result<(), CuptiError> {
        let mut params = RangeSetConfig {
            object: self.object,
            config_bytes: group.config.bytes.len(),
            config: group.config.bytes.as_ptr(),
            counters_bytes: image.len(),
            counters: image.as_mut_ptr(),
            range: AUTO_RANGE,
            replay: USER_REPLAY,
            ranges_per_pass: ranges as usize,
            nesting_levels: 1,
            least_nesting: 1,
            pass: 0,
            target_nesting: 1,
            ..Default::default()
        };
        profiler_call!(self.cupti, cuptiRangeProfilerSetConfig, &mut params)
    }

    /// Programs the hardware for the next pass, within the agent's context. The first one decides whose work the session counts: see
    /// [`Reach`].
    ///
    /// # Errors
    /// CUPTI's status, 35 without permission.
    pub(crate) fn start(&self, reach: Reach, agent: &CudaAgent) -> Result<(), CuptiError> {
        let first = self.reach.get().is_none();
        let mut params = RangeSession { object: self.object, ..Default::default() };
        // On this thread: one that is made for it would not begin while the loader is held, as within `dlclose`.
        let apart = (first && reach == Reach::Device).then(|| agent.apart());
        while_busy(agent.device(), "a pass", || profiler_call!(self.cupti, cuptiRangeProfilerStart, &mut params))?;
        drop(apart);
        if first {
            self.reach.set(Some(reach));
        }
        Ok(())
    }

    /// Whose work is counted; `None` before the first start.
    pub(crate) fn reach(&self) -> Option<Reach> {
        self.reach.get()
    }

    /// The pass ends.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn stop(&self) -> Result<Stopped, CuptiError> {
        let mut params = RangeStop { object: self.object, ..Default::default() };
        profiler_call!(self.cupti, cuptiRangeProfilerStop, &mut params)?;
        Ok(Stopped { complete: params.all_submitted != 0 })
    }

    /// Writes the passes' raw values to the image; gives how many ranges did not fit.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(crate) fn decode(&self) -> Result<usize, CuptiError> {
        let mut params = RangeDecode { object: self.object, ..Default::default() };
        profiler_call!(self.cupti, cuptiRangeProfilerDecodeData, &mut params)?;
        Ok(params.dropped)
    }
}

impl Drop for RangeProfiler {
    fn drop(&mut self) {
        let mut params = RangeSession { object: self.object, ..Default::default() };
        // The context may be gone already; there is nothing else to give back.
        let _ = profiler_call!(self.cupti, cuptiRangeProfilerDisable, &mut params);
    }
}

/// How many ranges an image holds.
///
/// # Errors
/// CUPTI's status.
pub(crate) fn range_count(cupti: &Cupti, image: &[u8]) -> Result<usize, CuptiError> {
    let mut params = RangeCountersInfo { image: image.as_ptr(), bytes: image.len(), ..Default::default() };
    profiler_call!(cupti, cuptiRangeProfilerGetCounterDataInfo, &mut params)?;
    Ok(params.ranges)
}
