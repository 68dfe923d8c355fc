//! How it begins: the driver loads `libkreplay.so` inside `cuInit` and calls its entry point.

use super::end::before_others_at_exit;
use super::{AgentCounters, Interceptor};
use crate::agent::{CudaAgent, Current, Depth};
use crate::counters::{Conduct, CudaCounters, KnownAvailability, availability, beside, chip_of, is_counted_on};
use crate::tables::callback::{domain, resource};
use crate::tables::{Context, Cupti, CuptiError, Driver, Environment, LoadError, find_cupti};
use kreplay_engine::{ByPlan, Process, Recorder, WindowMode};
use kreplay_protocol::{Cache, Filters};
use kreplay_session::{Backend, Session, attach};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

static INTERCEPTOR: OnceLock<Interceptor> = OnceLock::new();
static SESSION: OnceLock<Arc<Session>> = OnceLock::new();

/// How long another process may hold a GPU's counters before a window declines.
const LOCK_DEADLINE: Duration = Duration::from_secs(30);

/// Why nothing is profiled in this process.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("the counters cannot be read in this process: {0}")]
    Refused(String),
}

/// What the driver calls (`InitializeInjection`). Returns 1, whatever happened: the program goes on in any case. Nothing
/// of the driver's is called here, since this runs inside `cuInit`.
pub fn initialize_injection() -> i32 {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::SeqCst) {
        return 1;
    }
    let _ = std::panic::catch_unwind(|| {
        // Without a session nobody asked for a profile of CUDA, or the reason was told by the handshake.
        let Ok(Some(session)) = attach(Backend::Cuda, crate::thread::start) else { return };
        if let Err(error) = start(&session) {
            session.warn("not_started", format!("this process is not profiled: {error}"));
            session.finish();
        }
    });
    1
}

fn start(session: &Arc<Session>) -> Result<(), StartError> {
    let driver = Arc::new(Driver::load()?);
    let found = find_cupti(&Environment::of_process())?;
    let cupti = Arc::new(Cupti::load(&found)?);
    complete_beside(&cupti);
    let mut settings = session.engine_settings();
    let records = batches(settings.window, session.settings().cache);
    if settings.window == WindowMode::Batch && !records {
        let message = "--cache flush needs a window for each kernel, so there are no batch windows";
        session.warn("no_batch_windows", message.into());
    }
    // Where nothing is counted CUPTI's profiler is left alone.
    let wanted = !settings.request.names.is_empty();
    settings.window = if records { WindowMode::Auto } else { WindowMode::Kernel };
    let process = Process::new(settings, session.filter(), Arc::new(ByPlan), session.recorder() as Arc<dyn Recorder>);
    let conduct = Conduct {
        flush_cache: session.settings().cache == Cache::Flush,
        fence: session.settings().fence,
        pass_deadline: session.engine_settings().pass_deadline,
        lock_deadline: LOCK_DEADLINE,
    };
    let (warner, counting, naming) = (Arc::clone(session), Arc::clone(&cupti), Arc::clone(&cupti));
    let warn = move |key, message| warner.warn(key, message);
    let refusing = Arc::clone(session);
    let interceptor = Interceptor::new(
        driver,
        process,
        session.alive_flag(),
        Box::new(warn),
        Box::new(move |agent| wanted.then(|| make_counters(&counting, agent, conduct, &refusing)).flatten()),
        Box::new(move |device| chip_of(&naming, device)),
        records,
    );
    // With a filter perhaps nothing is counted, and then nothing of this is to be paid for.
    let ahead = wanted && session.settings().filters == Filters::default();
    let interceptor = if ahead { interceptor.with_ready(Box::new(get_ready_beside)) } else { interceptor };
    if INTERCEPTOR.set(interceptor).is_err() || SESSION.set(Arc::clone(session)).is_err() {
        return Ok(());
    }
    let subscriber = cupti.subscribe(callback).map_err(|(error, holder)| not_subscribed(&error, holder))?;
    let enable = |domain, id| {
        cupti.enable(subscriber, domain, id).map_err(|error| StartError::Refused(format!("{error} (function {id})")))
    };
    let newer = super::newer::newer(|id| cupti.callback_name(domain::DRIVER, id).ok());
    for id in super::ids::enabled().chain(newer) {
        // A newer CUPTI has dropped numbers of functions that its driver does not have any more.
        let _ = enable(domain::DRIVER, id);
    }
    for id in [
        resource::CONTEXT_CREATED,
        resource::CONTEXT_DESTROY_STARTING,
        resource::STREAM_CREATED,
        resource::STREAM_DESTROY_STARTING,
        resource::MODULE_LOADED,
    ] {
        enable(domain::RESOURCE, id)?;
    }
    if !super::forked::tell_children(session.alive_flag()) {
        session
            .warn("forks", "forked children cannot be told that they are: one that calls the driver may hang".into());
    }
    before_others_at_exit();
    Ok(())
}

/// CUPTI has another subscriber, whose name it may tell.
fn not_subscribed(error: &CuptiError, holder: Option<String>) -> StartError {
    StartError::Refused(match holder {
        Some(holder) => format!("{error} ({holder}); run the program without it"),
        None => error.to_string(),
    })
}

/// Loads what counting needs while the driver starts. Where there is no thread to be had the first question does it.
fn complete_beside(cupti: &Arc<Cupti>) {
    let cupti = Arc::clone(cupti);
    beside("kreplay-load", move || {
        cupti.complete();
        // The libraries have registered their ends.
        before_others_at_exit();
    });
}

/// Gets a context ready on a thread of its own. Where there is none to be had the first launch does it.
fn get_ready_beside(context: Context) {
    beside("kreplay-ready", move || {
        if let Some(interceptor) = INTERCEPTOR.get() {
            // Whatever goes wrong here goes wrong at the first launch again, which tells.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                if !counted_now(&interceptor.driver, context) {
                    interceptor.get_ready(context);
                }
            }));
        }
    });
}

/// Whether somebody counts on a context's GPU right now. Whoever asks about the GPU waits for that, and whoever ends the context for
/// him: only a launch is worth it.
fn counted_now(driver: &Driver, context: Context) -> bool {
    let _depth = Depth::enter();
    let Ok(_current) = Current::enter(driver, context) else { return false };
    driver.current_device().and_then(|device| driver.device_uuid(device)).is_ok_and(is_counted_on)
}

/// Whether launches go into batch windows, where the user leaves the choice too. The cache is flushed before a pass, not
/// within one, so there are none then.
fn batches(window: WindowMode, cache: Cache) -> bool {
    window != WindowMode::Kernel && cache != Cache::Flush
}

fn make_counters(
    cupti: &Arc<Cupti>,
    agent: &CudaAgent,
    conduct: Conduct,
    session: &Arc<Session>,
) -> Option<Arc<dyn AgentCounters>> {
    // While another context of the device is counted on, CUPTI does not answer; what it said before holds.
    static KNOWN: KnownAvailability = KnownAvailability::new();
    let device = (agent.device(), agent.uuid());
    let found = KNOWN.get(device.0, || availability(cupti, device, agent.context(), conduct.lock_deadline));
    let warner = Arc::clone(session);
    let warn = Arc::new(move |key, message| warner.warn(key, message));
    match CudaCounters::new(Arc::clone(cupti), agent.clone(), found, conduct, warn) {
        Ok(counters) => {
            if let Some(refused) = counters.refused() {
                session.warn("counters_unavailable", format!("{refused}. Only times are taken."));
            }
            Some(Arc::new(counters))
        }
        Err(error) => {
            session.warn("counters_unavailable", error.to_string());
            None
        }
    }
}

/// CUPTI's callback.
unsafe extern "C" fn callback(_user: *mut c_void, domain: u32, id: u32, data: *const c_void) {
    let Some(interceptor) = INTERCEPTOR.get() else { return };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // SAFETY: CUPTI hands the data of this domain and id.
        unsafe { interceptor.callback(domain, id, data) };
    }));
    if caught.is_err() {
        // Something is wrong with our own state: the program goes on unprofiled.
        interceptor.alive.store(false, Ordering::Relaxed);
    }
}

/// The process ends in order: windows close, and what was read is handed over.
pub(super) fn finish() {
    if let Some(interceptor) = INTERCEPTOR.get() {
        interceptor.finish();
    }
    if let Some(session) = SESSION.get() {
        session.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_cupti_is_named_with_what_to_do() {
        let cupti = crate::fake::fake_cupti();
        let (error, holder) = cupti.subscribe(callback).expect_err("another tool was first");
        let text = not_subscribed(&error, holder).to_string();
        for part in ["another tool has subscribed to CUPTI", "another profiler", "run the program without it"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn batch_windows_are_used_unless_they_are_refused_or_caches_are_flushed() {
        let answers = [WindowMode::Auto, WindowMode::Batch, WindowMode::Kernel]
            .map(|window| (batches(window, Cache::None), batches(window, Cache::Flush)));
        assert_eq!(answers, [(true, false), (true, false), (false, false)]);
    }
}
