//! The machine: which GPUs there are, and what memory.

use super::unit::Unit;
use crate::abi::{
    AGENT_INFO_COMPUTE_UNITS, AGENT_INFO_DEVICE, AGENT_INFO_NAME, AGENT_INFO_PRODUCT_NAME, AGENT_INFO_SHADER_ENGINES,
    AGENT_INFO_SIMDS, AGENT_INFO_WAVEFRONT_SIZE, AGENT_INFO_XCC, AgentHandle, DEVICE_CPU, DEVICE_GPU, Status,
};
use crate::agent::{Gpu, HsaAgent, PoolInfo, Waits, pools_of};
use crate::counters::{AqlCounters, Device, Library, SoftGpu};
use crate::tables::Api;
use kreplay_engine::{AgentId, ByPlan, Counters, Process};
use kreplay_session::Session;
use std::ffi::c_void;
use std::sync::Arc;

/// GPUs and pools.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) units: Vec<Unit>,
    pub(super) pools: Vec<PoolInfo>,
}

impl Machine {
    /// Looks at the machine and makes an engine for each GPU.
    pub(super) fn look(api: Api, session: &Arc<Session>, waits: &Arc<Waits>) -> Machine {
        let mut agents: Vec<AgentHandle> = Vec::new();
        unsafe extern "C" fn visit(agent: AgentHandle, data: *mut c_void) -> Status {
            // SAFETY: `data` is the vector above, which outlives the iteration.
            unsafe { (*data.cast::<Vec<AgentHandle>>()).push(agent) };
            Status::SUCCESS
        }
        // SAFETY: the visitor has the right signature and `agents` outlives the call.
        let status = unsafe { (api.iterate_agents)(visit, (&raw mut agents).cast()) };
        if !status.is_ok() {
            session.warn("agents", format!("hsa_iterate_agents failed: {status}; this process goes on unprofiled"));
            return Machine::default();
        }
        let kind = |agent: &AgentHandle| number(&api, *agent, AGENT_INFO_DEVICE);
        let of = |wanted| agents.iter().copied().filter(move |agent| kind(agent) == Some(wanted));
        let mut pools: Vec<PoolInfo> = of(DEVICE_CPU).flat_map(|agent| pools_of(&api, agent, false)).collect();
        let Some(host) = host_pool(&pools) else {
            session.warn(
                "host_memory",
                "there is no host memory that a GPU can reach; this process goes on unprofiled".into(),
            );
            return Machine::default();
        };
        let process = Process::new(session.engine_settings(), session.filter(), Arc::new(ByPlan), session.recorder());
        let mut units = Vec::new();
        for handle in of(DEVICE_GPU) {
            let own = pools_of(&api, handle, true);
            pools.extend(&own);
            let chip = text(&api, handle, AGENT_INFO_NAME).unwrap_or_default();
            let Some(device) = own.iter().find(|pool| !pool.is_fine() && !pool.is_kernarg()).copied() else {
                session.warn(
                    "device_memory",
                    format!("{chip} has no device memory to track; kernels on it are not profiled"),
                );
                continue;
            };
            let product = text(&api, handle, AGENT_INFO_PRODUCT_NAME).filter(|name| !name.is_empty());
            let simulated = session.settings().device == kreplay_protocol::Device::Soft;
            let gpu = Gpu {
                handle,
                product: product.unwrap_or_else(|| chip.clone()),
                units: number(&api, handle, AGENT_INFO_COMPUTE_UNITS).unwrap_or(1),
                chip,
                simulated,
                device,
                host,
                patience: process.settings().pass_deadline,
            };
            let agent = Arc::new(HsaAgent::new(api, AgentId(units.len() as u64), gpu, Arc::clone(waits)));
            units.extend(unit(api, session, &process, agent, simulated));
        }
        Machine { units, pools }
    }
}

fn unit(
    api: Api,
    session: &Arc<Session>,
    process: &Arc<Process>,
    agent: Arc<HsaAgent>,
    simulated: bool,
) -> Option<Unit> {
    let wanted = !process.settings().request.names.is_empty();
    let counters = if wanted { counters(api, session, &agent, simulated) } else { None };
    match kreplay_engine::Engine::new(Arc::clone(&agent), counters, Arc::clone(process)) {
        Ok(engine) => Some(Unit { agent, engine }),
        Err(error) => {
            session.warn("plan", format!("kernels on {} are not profiled: {error}", agent.chip()));
            None
        }
    }
}

fn counters(api: Api, session: &Arc<Session>, agent: &Arc<HsaAgent>, simulated: bool) -> Option<Arc<dyn Counters>> {
    let ask = |attribute| number(&api, agent.handle(), attribute);
    let device = Device {
        dies: ask(AGENT_INFO_XCC).unwrap_or(1).max(1),
        shader_engines: ask(AGENT_INFO_SHADER_ENGINES).unwrap_or(1),
        compute_units: ask(AGENT_INFO_COMPUTE_UNITS).unwrap_or(1),
        simds_per_compute_unit: ask(AGENT_INFO_SIMDS).unwrap_or(4),
        wave_size: ask(AGENT_INFO_WAVEFRONT_SIZE).unwrap_or(64),
    };
    let table = api.extension_table.map_or(std::ptr::null(), |function| function as *const c_void);
    // SAFETY: that is the runtime's own function, and it is initialised: the program calls it.
    let made = unsafe { Library::through_rocr(table) }.and_then(|library| {
        AqlCounters::new(Arc::clone(agent), library, agent.handle().handle, agent.chip(), simulated, device)
    });
    match made {
        Ok(counters) => {
            let warned = Arc::clone(session);
            let counters = counters.warned(Box::new(move |key, message| warned.warn(key, message)));
            let source = if simulated { SoftGpu::find() } else { None };
            Some(match source {
                Some(source) => Arc::new(counters.sampled(Box::new(source))),
                None => Arc::new(counters),
            })
        }
        Err(error) => {
            session.warn("counters", format!("{error}; only times are taken on {}", agent.chip()));
            None
        }
    }
}

/// The pool that snapshots, tables and answers live in: the host's fine-grained one where there is one.
pub(crate) fn host_pool(pools: &[PoolInfo]) -> Option<PoolInfo> {
    let plain = || pools.iter().filter(|pool| !pool.is_kernarg());
    plain().find(|pool| pool.is_fine()).or_else(|| plain().next()).or_else(|| pools.first()).copied()
}

/// A 32-bit attribute of an agent.
fn number(api: &Api, agent: AgentHandle, attribute: u32) -> Option<u32> {
    let mut value = 0_u32;
    // SAFETY: every caller asks an attribute of 32 bits.
    let status = unsafe { (api.agent_get_info)(agent, attribute, (&raw mut value).cast()) };
    status.is_ok().then_some(value)
}

/// An attribute that is a text of at most 64 bytes.
fn text(api: &Api, agent: AgentHandle, attribute: u32) -> Option<String> {
    let mut bytes = [0_u8; 65];
    // SAFETY: texts have at most 64 bytes, the ending zero included.
    let status = unsafe { (api.agent_get_info)(agent, attribute, bytes.as_mut_ptr().cast()) };
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(64);
    status.is_ok().then(|| String::from_utf8_lossy(&bytes[..end]).trim().to_owned())
}
