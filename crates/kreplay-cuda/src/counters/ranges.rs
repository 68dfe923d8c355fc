//! Counting by ranges: the Range Profiler's session of a device, and its passes over a window.

use super::Guarded;
use super::evaluate::{Image, failed};
use super::plan::Planned;
use super::planner::Group;
use super::range::RangeProfiler;
use crate::agent::CudaAgent;
use crate::tables::{Context, Cupti};
use kreplay_engine::CountersError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Storage of images, by group and ranges: an empty one to copy from, and used ones.
type Images = HashMap<(usize, u32), (Vec<u8>, Vec<Vec<u8>>)>;

/// A session, and what it was programmed with: the group, and how many ranges a pass may hold. It keeps its first
/// programming: of a pass with more ranges it reads only the first ones.
struct Session {
    device: i32,
    context: Context,
    programmed: Option<(usize, u32)>,
    profiler: RangeProfiler,
}

/// The sessions of the process: one at a time on each device.
static SESSIONS: Mutex<Vec<Session>> = Mutex::new(Vec::new());

/// The process ends: no session is begun and no hardware programmed for the first time any more, since CUPTI crashes then.
static ENDING: AtomicBool = AtomicBool::new(false);

/// See [`ENDING`].
pub(crate) fn process_ends() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Whether the process ends: nothing new may be asked of CUPTI then.
pub(super) fn ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

fn holds((known, most): (usize, u32), group: &Arc<Group>, ranges: u32) -> bool {
    known == key(group) && ranges <= most
}

fn key(group: &Arc<Group>) -> usize {
    Arc::as_ptr(group) as usize
}

/// An agent's way of counting by ranges.
pub(super) struct Ranges {
    cupti: Arc<Cupti>,
    agent: CudaAgent,
    images: Arc<Mutex<Images>>,
}

/// A window's passes by ranges.
pub(super) struct RangeWindow {
    planned: Arc<Planned>,
    /// Most dispatches that it may hold.
    dispatches: u32,
    /// Which launch of a pass each dispatch is: others, that are not counted, may lie between.
    order: Vec<u32>,
    /// Launches of a pass, where one has ended.
    launches: Option<u32>,
    images: Vec<Option<Vec<u8>>>,
    complete: Vec<bool>,
    /// Next pass of the instance that is being run.
    next: Option<(usize, u32)>,
    broken: Option<CountersError>,
}

/// A pass that runs.
pub(super) struct RangePass {
    instance: usize,
    /// Launches of the agent when it began.
    launches: u64,
}

/// What a window leaves to evaluate.
pub(super) struct Counted {
    pub(super) images: Vec<Image>,
    pub(super) order: Vec<u32>,
    pub(super) launches: u32,
    pub(super) broken: Option<CountersError>,
    /// Takes the images' storage back.
    pub(super) give_back: Box<dyn FnOnce(Vec<Image>) + Send>,
}

impl Ranges {
    /// For an agent.
    pub(super) fn new(cupti: Arc<Cupti>, agent: CudaAgent) -> Self {
        Self { cupti, agent, images: Arc::default() }
    }

    /// Ends this context's session.
    pub(super) fn end_session(&self) {
        let Ok(_entered) = self.agent.enter() else { return };
        SESSIONS.guarded().retain(|session| session.context != self.agent.context());
    }

    /// Ends the sessions on this device that were programmed: sampling is refused while there is one.
    pub(super) fn end_programmed(&self) {
        let Ok(_entered) = self.agent.enter() else { return };
        let device = self.agent.device();
        SESSIONS.guarded().retain(|session| session.device != device || session.programmed.is_none());
    }

    /// Runs `work` with this context's session, beginning it where there is none.
    fn with_session<T>(
        &self,
        work: impl FnOnce(&RangeProfiler) -> Result<T, CountersError>,
    ) -> Result<T, CountersError> {
        let (device, context) = (self.agent.device(), self.agent.context());
        let _entered = self.agent.enter().map_err(|error| CountersError::Unavailable(error.to_string()))?;
        let mut sessions = SESSIONS.guarded();
        if let Some(session) = sessions.iter().find(|session| session.context == context) {
            return work(&session.profiler);
        }
        sessions.retain(|session| session.device != device);
        let profiler = RangeProfiler::enable(Arc::clone(&self.cupti), context).map_err(failed)?;
        sessions.push(Session { device, context, programmed: None, profiler });
        work(&sessions[sessions.len() - 1].profiler)
    }

    /// Makes sure that the session was programmed with this group for as many ranges, or not at all.
    fn session_for(&self, group: &Arc<Group>, ranges: u32) {
        let context = self.agent.context();
        let other = SESSIONS
            .guarded()
            .iter()
            .find(|session| session.context == context)
            .is_some_and(|session| session.programmed.is_some_and(|known| !holds(known, group, ranges)));
        if other {
            self.end_session();
        }
    }

    /// Whether the session is this context's and was programmed with this group for as many ranges.
    fn is_programmed(&self, group: &Arc<Group>, ranges: u32) -> bool {
        let context = self.agent.context();
        let mine = |session: &Session| {
            session.context == context && session.programmed.is_some_and(|known| holds(known, group, ranges))
        };
        SESSIONS.guarded().iter().any(mine)
    }

    /// Notes what the session was programmed with.
    fn programmed(&self, group: &Arc<Group>, ranges: u32) {
        let context = self.agent.context();
        if let Some(session) = SESSIONS.guarded().iter_mut().find(|session| session.context == context) {
            session.programmed.get_or_insert((key(group), ranges));
        }
        super::exit::programmed(key(group));
    }

    fn image(&self, planned: &Planned, instance: usize, ranges: u32) -> Result<Vec<u8>, CountersError> {
        let group = &planned.instances[instance].group;
        let mut images = self.images.guarded();
        let (empty, used) = match images.entry((key(group), ranges)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let empty = self.with_session(|session| session.image(group, ranges).map_err(failed))?;
                place.insert((empty, Vec::new()))
            }
        };
        Ok(match used.pop() {
            Some(mut image) => {
                image.copy_from_slice(empty);
                image
            }
            None => empty.clone(),
        })
    }

    /// A window of at most `dispatches` dispatches begins.
    ///
    /// # Errors
    /// When no image can be made.
    pub(super) fn open(&self, planned: Arc<Planned>, dispatches: u32) -> Result<RangeWindow, CountersError> {
        let mut images = Vec::new();
        for instance in 0..planned.instances.len() {
            images.push(Some(self.image(&planned, instance, dispatches)?));
        }
        Ok(RangeWindow {
            dispatches,
            order: Vec::new(),
            launches: None,
            complete: vec![false; planned.instances.len()],
            planned,
            images,
            next: None,
            broken: None,
        })
    }

    /// Pass `pass` of the plan begins; the context is idle.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn begin(&self, window: &mut RangeWindow, pass: u32) -> Result<RangePass, CountersError> {
        let (instance, within) = window
            .planned
            .place(pass)
            .ok_or_else(|| CountersError::Discarded(format!("pass {pass} is not in the plan")))?;
        if within > 0 && window.next != Some((instance, within)) {
            return Err(CountersError::Discarded("a pass of the same counters was left out before".into()));
        }
        let group = &window.planned.instances[instance].group;
        if ending() && !self.is_programmed(group, window.dispatches) {
            return Err(CountersError::Unavailable("the program ended before anything was counted this way".into()));
        }
        let image = window.images[instance]
            .as_mut()
            .ok_or_else(|| CountersError::Discarded("the counters' image is gone".into()))?;
        if within == 0 {
            self.session_for(group, window.dispatches);
        }
        let ranges = window.dispatches;
        self.with_session(|session| {
            if within == 0 {
                session.configure(group, image, ranges).map_err(failed)?;
            }
            session.start().map_err(failed)
        })?;
        self.programmed(group, ranges);
        window.next = Some((instance, within + 1));
        Ok(RangePass { instance, launches: self.agent.launches() })
    }

    /// Dispatch `index` follows.
    pub(super) fn before(&self, window: &mut RangeWindow, pass: &RangePass, index: u32) {
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
    pub(super) fn end(&self, window: &mut RangeWindow, pass: &RangePass) -> Result<(), CountersError> {
        let launches = (self.agent.launches() - pass.launches) as u32;
        let stopped = self.with_session(|session| session.stop().map_err(failed))?;
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
            let dropped = self.with_session(|session| session.decode().map_err(failed))?;
            if dropped > 0 {
                return Err(CountersError::Discarded(format!("{dropped} dispatches did not fit the image")));
            }
            window.complete[pass.instance] = true;
        }
        Ok(())
    }

    /// The window ended; what it counted is to be evaluated, if it counted anything this way.
    pub(super) fn collect(&self, window: RangeWindow) -> Option<Counted> {
        if window.planned.instances.is_empty() {
            return None;
        }
        if window.complete.iter().any(|complete| !complete) {
            self.end_session();
        }
        let mut images = Vec::new();
        for (at, bytes) in window.images.into_iter().enumerate() {
            let instance = &window.planned.instances[at];
            let Some(bytes) = bytes.filter(|_| window.complete[at]) else { continue };
            images.push(Image {
                group: Arc::clone(&instance.group),
                counters: Arc::clone(&instance.counters),
                pass: instance.first + instance.group.config.passes - 1,
                bytes,
            });
        }
        let (store, ranges) = (Arc::clone(&self.images), window.dispatches);
        Some(Counted {
            images,
            order: window.order,
            launches: window.launches.unwrap_or(0),
            broken: window.broken,
            give_back: Box::new(move |images| give_back(&store, ranges, images)),
        })
    }

    /// The window ended without readings, perhaps in the middle of a pass.
    pub(super) fn abandon(&self, window: &RangeWindow, running: bool) {
        if running {
            // The pass may have begun or not: what was not begun cannot be stopped.
            let _ = self.with_session(|session| session.stop().map_err(failed));
        }
        if window.complete.iter().any(|complete| !complete) {
            // CUPTI goes on counting passes of a configuration that was not finished; a new session begins at pass 0.
            self.end_session();
        }
    }
}

fn give_back(store: &Mutex<Images>, ranges: u32, images: Vec<Image>) {
    let mut store = store.guarded();
    for image in images {
        if let Some((_, used)) = store.get_mut(&(key(&image.group), ranges)) {
            used.push(image.bytes);
        }
    }
}
