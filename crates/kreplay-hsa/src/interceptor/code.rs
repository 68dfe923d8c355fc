//! Loaded code: variables of executables for the engine, names and argument sizes of kernels for dispatches.

use super::guard;
use super::state::{Backend, backend};
use crate::abi::{
    AgentHandle, Executable, SYMBOL_INFO_KERNARG_BYTES, SYMBOL_INFO_KERNEL_OBJECT, SYMBOL_INFO_NAME,
    SYMBOL_INFO_NAME_LENGTH, SYMBOL_INFO_TYPE, SYMBOL_INFO_VARIABLE_ADDRESS, SYMBOL_INFO_VARIABLE_SEGMENT,
    SYMBOL_INFO_VARIABLE_SIZE, SYMBOL_KERNEL, SYMBOL_VARIABLE, Status, Symbol, VARIABLE_READONLY,
};
use crate::tables::Api;
use kreplay_engine::{ModuleVariable, Range};
use kreplay_session::{loader_is_free, spare_the_loader};
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, PoisonError, RwLock};

/// What is known of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// Its name, demangled where it was mangled.
    pub(super) name: Arc<str>,
    /// Size of its arguments; `None` for a kernel whose code object was not seen.
    pub(super) argument_bytes: Option<u32>,
    /// Where pointers are among them, as far as its code object tells.
    pub(super) pointers: Arc<[u32]>,
}

/// Kernels by the address of their descriptor.
#[derive(Default)]
pub(crate) struct Code {
    kernels: RwLock<HashMap<u64, Kernel>>,
}

impl Code {
    /// The kernel whose descriptor is at `object`.
    pub(super) fn kernel(&self, object: u64) -> Kernel {
        let found = self.kernels.read().unwrap_or_else(PoisonError::into_inner).get(&object).cloned();
        found.unwrap_or_else(|| Kernel {
            name: format!("kernel at {object:#x}").into(),
            argument_bytes: None,
            pointers: Arc::default(),
        })
    }

    fn add(&self, object: u64, kernel: Kernel) {
        self.kernels.write().unwrap_or_else(PoisonError::into_inner).insert(object, kernel);
    }

    fn remove(&self, object: u64) {
        self.kernels.write().unwrap_or_else(PoisonError::into_inner).remove(&object);
    }
}

/// What one executable has for one agent.
#[derive(Default)]
struct Contents {
    kernels: Vec<(u64, Kernel)>,
    variables: Vec<ModuleVariable>,
}

/// `hsa_executable_freeze`.
pub(super) unsafe extern "C" fn executable_freeze(executable: Executable, options: *const c_char) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.executable_freeze)(executable, options) };
    if status.is_ok() && backend.is_on() {
        guard("hsa_executable_freeze", || loaded(backend, executable), || ());
    }
    status
}

/// `hsa_executable_destroy`.
pub(super) unsafe extern "C" fn executable_destroy(executable: Executable) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let on = backend.is_on();
    if on {
        guard("hsa_executable_destroy", || unloaded(backend, executable), || ());
    }
    // SAFETY: the program's own argument.
    let status = unsafe { (backend.api.executable_destroy)(executable) };
    if on {
        let after = || match status.is_ok() {
            true => backend.code_objects.destroyed(executable),
            false => loaded(backend, executable),
        };
        guard("hsa_executable_destroy", after, || ());
    }
    status
}

fn loaded(backend: &Backend, executable: Executable) {
    for unit in backend.units() {
        let contents = contents(backend, executable, unit.handle());
        for (object, kernel) in contents.kernels {
            backend.code.add(object, kernel);
        }
        if !contents.variables.is_empty() {
            unit.engine.code_loaded(executable.handle, contents.variables);
        }
    }
}

fn unloaded(backend: &Backend, executable: Executable) {
    for unit in backend.units() {
        spare_the_loader(&unit.engine, loader_is_free);
        unit.engine.code_unloaded(executable.handle);
        for (object, _) in contents(backend, executable, unit.handle()).kernels {
            backend.code.remove(object);
        }
    }
}

/// Walks the symbols that an executable has for an agent.
fn contents(backend: &Backend, executable: Executable, agent: AgentHandle) -> Contents {
    struct Visit<'a> {
        backend: &'a Backend,
        contents: Contents,
    }
    unsafe extern "C" fn visit(executable: Executable, _: AgentHandle, symbol: Symbol, data: *mut c_void) -> Status {
        // SAFETY: `data` is the visit below, which outlives the iteration.
        let visit = unsafe { &mut *data.cast::<Visit<'_>>() };
        guard("a symbol", || take(visit.backend, executable, symbol, &mut visit.contents), || None);
        Status::SUCCESS
    }
    let mut state = Visit { backend, contents: Contents::default() };
    // SAFETY: the visitor has the right signature and its data outlives the call.
    unsafe { (backend.api.agent_symbols)(executable, agent, visit, (&raw mut state).cast()) };
    state.contents
}

/// Asks one attribute of a symbol.
fn ask<T: Default>(api: &Api, symbol: Symbol, attribute: u32) -> Option<T> {
    let mut value = T::default();
    // SAFETY: every caller asks an attribute with a variable of its documented type.
    let status = unsafe { (api.symbol_get_info)(symbol, attribute, (&raw mut value).cast()) };
    status.is_ok().then_some(value)
}

fn name(api: &Api, symbol: Symbol) -> Option<String> {
    let length: u32 = ask(api, symbol, SYMBOL_INFO_NAME_LENGTH)?;
    // One more than the length: some runtimes put a zero behind the name.
    let mut bytes = vec![0_u8; length as usize + 1];
    // SAFETY: the buffer holds a name of the length that the runtime told.
    let status = unsafe { (api.symbol_get_info)(symbol, SYMBOL_INFO_NAME, bytes.as_mut_ptr().cast()) };
    bytes.truncate(length as usize);
    status.is_ok().then(|| String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}

fn take(backend: &Backend, executable: Executable, symbol: Symbol, contents: &mut Contents) -> Option<()> {
    let api = &backend.api;
    let name = name(api, symbol)?;
    match ask::<u32>(api, symbol, SYMBOL_INFO_TYPE)? {
        SYMBOL_KERNEL => {
            let object = ask::<u64>(api, symbol, SYMBOL_INFO_KERNEL_OBJECT)?;
            let argument_bytes = ask::<u32>(api, symbol, SYMBOL_INFO_KERNARG_BYTES);
            let pointers = backend.code_objects.pointers(executable, &name);
            let name = kreplay_session::demangle(name.strip_suffix(".kd").unwrap_or(&name)).into();
            contents.kernels.push((object, Kernel { name, argument_bytes, pointers }));
        }
        SYMBOL_VARIABLE => {
            let base = ask::<u64>(api, symbol, SYMBOL_INFO_VARIABLE_ADDRESS)?;
            let bytes = ask::<u32>(api, symbol, SYMBOL_INFO_VARIABLE_SIZE)?;
            if base == 0 || bytes == 0 {
                return None;
            }
            // `HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST` is no help: ROCr 5.2 calls every variable of a code object
            // constant, also those in .data and .bss that kernels write.
            let constant = ask::<u32>(api, symbol, SYMBOL_INFO_VARIABLE_SEGMENT) == Some(VARIABLE_READONLY);
            let range = Range::new(base, u64::from(bytes));
            contents.variables.push(ModuleVariable { name: name.into(), range, constant, managed: false });
        }
        _ => {}
    }
    Some(())
}
