//! Counting by ranges: a window's passes.

pub(in crate::counters) mod evaluate;
pub(in crate::counters) mod images;
pub(in crate::counters) mod room;
mod session;
mod sessions;

use self::evaluate::{Image, failed};
use self::images::{Pool, Storage, room};
use self::session::RangeProfiler;
use self::sessions::Sessions;
use crate::agent::CudaAgent;
use crate::counters::planning::plan::Planned;
use crate::counters::planning::range_group::Group;
use crate::counters::sharing::reach::Reach;
use crate::tables::Cupti;
use kreplay_engine::CountersError;
use std::sync::Arc;

/// An agent's way of counting by ranges.
pub(in crate::counters) struct Ranges {
    agent: CudaAgent,
    sessions: Sessions,
    images: Arc<Pool>,
}

/// A window's passes by ranges.
pub(in crate::counters) struct RangeWindow {
    planned: Arc<Planned>,
    /// Most dispatches that it should hold.
    most: u32,
    /// Launches of each pass, once that is known.
    expected: Option<u32>,
    /// Which launch of a pass each dispatch is: others, that are not counted, may lie between.
    order: Vec<u32>,
    /// Launches of a pass, where one has ended.
    launches: Option<u32>,
    images: Vec<Option<Storage>>,
    complete: Vec<bool>,
    /// Next pass of the instance that is being run.
    next: Option<(usize, u32)>,
    broken: Option<CountersError>,
    /// Whether a pass counted whatever ran on the GPU.
    wide: bool,
}

/// A pass that runs.
pub(in crate::counters) struct RangePass {
    instance: usize,
    /// Launches of the agent when it began.
    launches: u64,
}

/// What a window leaves to evaluate.
pub(in crate::counters) struct Counted {
    pub(in crate::counters) images: Vec<Image>,
    pub(in crate::counters) order: Vec<u32>,
    pub(in crate::counters) launches: u32,
    pub(in crate::counters) broken: Option<CountersError>,
    /// Takes the images' storage back.
    pub(in crate::counters) give_back: Box<dyn FnOnce(Vec<Image>) + Send>,
}

impl Ranges {
    /// For an agent.
    pub(in crate::counters) fn new(cupti: Arc<Cupti>, agent: CudaAgent) -> Self {
        Self { sessions: Sessions::new(cupti, agent.clone()), agent, images: Arc::default() }
    }

    /// Ends this context's session.
    pub(in crate::counters) fn end_session(&self) {
        self.sessions.end();
    }

    /// Ends the sessions on this device that were programmed: sampling is refused while there is one.
    pub(in crate::counters) fn end_programmed(&self) {
        self.sessions.end_programmed();
    }

    /// Whether no session on this device was programmed.
    pub(in crate::counters) fn nothing_programmed(&self) -> bool {
        self.sessions.nothing_programmed()
    }

    /// Begins the session for windows of a plan that is one pass, of about `most` dispatches, by a pass without any.
    ///
    /// # Errors
    /// [`CountersError`]; there is no session then.
    pub(in crate::counters) fn prepare(
        &self,
        planned: &Arc<Planned>,
        most: u32,
        reach: Reach,
    ) -> Result<(), CountersError> {
        let mut window = Self::open(Arc::clone(planned), most);
        let run = |window: &mut RangeWindow| self.begin(window, 0, reach).and_then(|pass| self.end(window, &pass));
        let done = run(&mut window);
        if done.is_err() {
            self.end_session();
        } else if let Some(Counted { images, give_back, .. }) = self.collect(window) {
            give_back(images);
        }
        done
    }

    /// An empty image for so many ranges of a group.
    fn image(&self, group: &Arc<Group>, ranges: u32) -> Result<Storage, CountersError> {
        if let Some(storage) = self.images.take(group, ranges) {
            return Ok(storage);
        }
        let bytes = self.sessions.with(|session| session.image(group, ranges).map_err(failed))?;
        Ok(Storage { bytes, ranges })
    }

    /// A window of about `most` dispatches at most begins.
    pub(in crate::counters) fn open(planned: Arc<Planned>, most: u32) -> RangeWindow {
        RangeWindow {
            most,
            expected: None,
            order: Vec::new(),
            launches: None,
            images: planned.instances.iter().map(|_| None).collect(),
            complete: vec![false; planned.instances.len()],
            planned,
            next: None,
            broken: None,
            wide: false,
        }
    }

    /// The window's passes hold so many launches.
    pub(in crate::counters) fn expect(window: &mut RangeWindow, launches: u32) {
        window.expected = Some(launches);
    }

    /// Whether a pass of the window counted whatever ran on the GPU.
    pub(in crate::counters) fn is_wide(window: &RangeWindow) -> bool {
        window.wide
    }

    /// Pass `pass` of the plan begins; the context is idle. It counts no more than `reach`.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(in crate::counters) fn begin(
        &self,
        window: &mut RangeWindow,
        pass: u32,
        reach: Reach,
    ) -> Result<RangePass, CountersError> {
        let (instance, within) = window
            .planned
            .place(pass)
            .ok_or_else(|| CountersError::Discarded(format!("pass {pass} is not in the plan")))?;
        if within > 0 && window.next != Some((instance, within)) {
            return Err(CountersError::Discarded("a pass of the same counters was left out before".into()));
        }
        let group = &window.planned.instances[instance].group;
        let ranges = room(window.expected.unwrap_or(window.most), window.most);
        let start = |session: &RangeProfiler| {
            session.start(reach, &self.agent).map_err(failed)?;
            Ok(session.reach() == Some(Reach::Device))
        };
        if within == 0 {
            self.sessions.settle(reach);
            let ranges = self.sessions.fit(group, ranges, window.most);
            let storage = self.image(group, ranges)?;
            let image = window.images[instance].insert(storage);
            window.wide |= self.sessions.with(|session| {
                session.configure(group, &mut image.bytes, image.ranges).map_err(failed)?;
                start(session)
            })?;
            self.sessions.programmed(group, image.ranges);
        } else {
            window.wide |= self.sessions.with(start)?;
        }
        window.next = Some((instance, within + 1));
        Ok(RangePass { instance, launches: self.agent.launches() })
    }

    /// Dispatch `index` follows.
    pub(in crate::counters) fn before(&self, window: &mut RangeWindow, pass: &RangePass, index: u32) {
        let place = (self.agent.launches() - pass.launches) as u32;
        match window.order.get(index as usize) {
            None if window.order.len() == index as usize => window.order.push(place),
            Some(known) if *known == place => {}
            _ => window.broken = Some(CountersError::Discarded("its passes launched in another order".into())),
        }
    }

    /// The pass ends; its work is done.
    ///
    /// # Errors
    /// [`CountersError`]; the values of its group are lost.
    pub(in crate::counters) fn end(&self, window: &mut RangeWindow, pass: &RangePass) -> Result<(), CountersError> {
        let launches = (self.agent.launches() - pass.launches) as u32;
        let stopped = self.sessions.with(|session| session.stop().map_err(failed))?;
        let passes = window.planned.instances[pass.instance].group.config.passes;
        let last = window.next == Some((pass.instance, passes));
        if *window.launches.get_or_insert(launches) != launches {
            window.broken = Some(CountersError::Discarded("its passes launched other numbers of kernels".into()));
        }
        if stopped.complete != last {
            return Err(CountersError::Discarded(format!(
                "CUPTI needs another number of passes than the {passes} it told"
            )));
        }
        if last {
            // Once, after the last pass: the passes' raw values are kept until then.
            let dropped = self.sessions.with(|session| session.decode().map_err(failed))?;
            if dropped > 0 {
                return Err(CountersError::Discarded(format!("{dropped} dispatches did not fit the image")));
            }
            window.complete[pass.instance] = true;
        }
        Ok(())
    }

    /// The window ended; what it counted is to be evaluated, if it counted anything this way.
    pub(in crate::counters) fn collect(&self, window: RangeWindow) -> Option<Counted> {
        if window.planned.instances.is_empty() {
            return None;
        }
        if window.complete.iter().any(|complete| !complete) {
            self.end_session();
        }
        let mut images = Vec::new();
        for (at, storage) in window.images.into_iter().enumerate() {
            let instance = &window.planned.instances[at];
            let Some(storage) = storage.filter(|_| window.complete[at]) else { continue };
            images.push(Image {
                group: Arc::clone(&instance.group),
                counters: Arc::clone(&instance.counters),
                pass: instance.last(),
                storage,
            });
        }
        let (pool, sessions) = (Arc::clone(&self.images), self.sessions.clone());
        Some(Counted {
            images,
            order: window.order,
            launches: window.launches.unwrap_or(0),
            broken: window.broken,
            give_back: Box::new(move |images| give_back(&pool, &sessions, images)),
        })
    }

    /// The window ended without readings, perhaps in the middle of a pass.
    pub(in crate::counters) fn abandon(&self, window: &RangeWindow, running: bool) {
        if running {
            // The pass may have begun or not: what was not begun cannot be stopped.
            let _ = self.sessions.with(|session| session.stop().map_err(failed));
        }
        if window.complete.iter().any(|complete| !complete) {
            // CUPTI goes on counting passes of a configuration that was not finished; a new session begins at pass 0.
            self.end_session();
        }
    }
}

/// Empties images for the windows to come, beside the program. Without a session that cannot be done, and they are dropped.
fn give_back(pool: &Pool, sessions: &Sessions, images: Vec<Image>) {
    for image in images {
        let Image { group, mut storage, .. } = image;
        let Storage { bytes, ranges } = &mut storage;
        if sessions.if_any(|session| session.empty(&group, *ranges, bytes).ok()).is_some() {
            pool.keep(group, storage);
        }
    }
}
