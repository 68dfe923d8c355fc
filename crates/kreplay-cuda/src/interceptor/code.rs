//! What is known of the program's functions: names, parameters, and what their code says.

mod modules;

use super::context::ContextState;
use super::locked;
use crate::agent::ParameterLayout;
use crate::cubin::Cubin;
use crate::tables::{Driver, Function, Module};
use kreplay_engine::{Decline, KernelInfo, Process};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// A function or kernel as the program launches it.
#[derive(Debug)]
pub(super) struct FunctionInfo {
    pub(super) kernel: KernelInfo,
    /// Asked for at the first launch that is described; `None` inside when the driver does not tell.
    layout: OnceLock<Option<Arc<ParameterLayout>>>,
    /// The handle as the program launches it.
    function: Function,
    pub(super) collective: bool,
    symbol: Arc<str>,
    /// Known once there is an engine, which is told of its module's variables.
    code: OnceLock<FunctionCode>,
    /// Whether the filter never selects it; known from its first launch on.
    left_out: OnceLock<bool>,
}

/// What a function's machine code says.
#[derive(Debug)]
struct FunctionCode {
    /// Why no launch of it can be replayed.
    unrestorable: Option<Decline>,
    /// The module in this context, where the driver tells it.
    module: Module,
}

impl FunctionInfo {
    /// The handle that the program launches.
    pub(super) fn handle(&self) -> Function {
        self.function
    }

    /// Why no launch of it can be replayed, as far as its code tells.
    pub(super) fn unrestorable(&self) -> Option<Decline> {
        self.code.get().and_then(|code| code.unrestorable)
    }

    /// Whether no launch of it is ever selected.
    pub(super) fn is_left_out(&self, process: &Process) -> bool {
        *self.left_out.get_or_init(|| process.never_selects(&self.kernel))
    }

    /// Where the parameters lie; `None` when the driver does not tell.
    pub(super) fn layout(&self, driver: &Driver) -> Option<Arc<ParameterLayout>> {
        let ask = || {
            let _depth = crate::agent::Depth::enter();
            ParameterLayout::of(driver, self.function).ok().map(Arc::new)
        };
        self.layout.get_or_init(ask).clone()
    }
}

/// All of a context's.
#[derive(Debug, Default)]
pub(super) struct Functions {
    known: RwLock<HashMap<Function, Arc<FunctionInfo>>>,
    code: Mutex<modules::Code>,
    /// Held while the variables of a module are found and told to the engine.
    looking: Mutex<()>,
}

impl Functions {
    /// Machine code was loaded into the context.
    pub(super) fn loaded(&self, cubin: Cubin) {
        locked(&self.code).loaded(cubin);
    }

    /// Whether the function or kernel was launched before, by this handle or by its other one.
    pub(super) fn launched(&self, driver: &Driver, function: Function) -> bool {
        if self.known(function).is_some() {
            return true;
        }
        // The lock is not held while the driver is asked: it may load code, and launches of other threads may come.
        let handles: Vec<Function> =
            self.known.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect();
        let own = |handle: Function| driver.kernel_function(handle).unwrap_or(handle);
        let wanted = own(function);
        handles.into_iter().any(|handle| own(handle) == wanted)
    }

    /// What is known of a function that was launched before.
    pub(super) fn known(&self, function: Function) -> Option<Arc<FunctionInfo>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(&function).cloned()
    }

    /// A function by its name alone, as CUPTI tells it: all that is needed of one that is not selected. Its code is looked at when
    /// there is an engine.
    pub(super) fn named(&self, function: Function, symbol: impl FnOnce() -> Arc<str>) -> Arc<FunctionInfo> {
        if let Some(known) = self.known(function) {
            return known;
        }
        let symbol = symbol();
        // Its library may have registered its end.
        super::end::objects_may_be_new();
        let info = Arc::new(FunctionInfo {
            collective: is_collective(&symbol),
            kernel: KernelInfo { key: function.raw(), name: kreplay_session::demangle(&symbol).into() },
            layout: OnceLock::new(),
            function,
            symbol,
            code: OnceLock::new(),
            left_out: OnceLock::new(),
        });
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(function).or_insert(info))
    }

    /// What is known of a function, its code included, which is looked at when it is first launched. There is an engine.
    pub(super) fn get(
        &self,
        context: &ContextState,
        driver: &Driver,
        function: Function,
        symbol: impl FnOnce() -> Arc<str>,
    ) -> Arc<FunctionInfo> {
        let info = self.named(function, symbol);
        self.look(context, driver, &info);
        info
    }

    /// Looks at the code of functions that were launched before there was an engine.
    pub(super) fn look_at_all(&self, context: &ContextState, driver: &Driver) {
        let known: Vec<_> = self.known.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for info in known {
            self.look(context, driver, &info);
        }
    }

    /// Looks at a function's code, unless that was done. There is an engine.
    pub(super) fn look(&self, context: &ContextState, driver: &Driver, info: &FunctionInfo) {
        info.code.get_or_init(|| {
            let _depth = crate::agent::Depth::enter();
            // The handle may be a kernel of a library, which has a function in each context.
            let own = driver.kernel_function(info.function).unwrap_or(info.function);
            // Loads what would be loaded at the launch, so that its code and variables are known before it. What cannot be
            // loaded fails in the program's own launch.
            let _ = driver.load_function(own);
            let module = driver.function_module(own).unwrap_or(Module::NULL);
            let (runtime, variables) = self.module_code(context, driver, module, &info.symbol);
            let untracked = runtime.prints || runtime.allocates || variables.hidden;
            let managed = variables.managed.then_some(Decline::ManagedMemory);
            FunctionCode { unrestorable: untracked.then_some(Decline::UntrackedMemory).or(managed), module }
        });
    }

    /// A module is about to go, perhaps of another context; `None`: all modules that are not known to stay (a library's kernels
    /// are in several).
    pub(super) fn unloaded(&self, context: &ContextState, module: Option<Module>) {
        super::recent::forget();
        let mut launched = false;
        self.known.write().unwrap_or_else(PoisonError::into_inner).retain(|_, info| {
            let code = info.code.get();
            let another =
                |(module, code): (Module, &FunctionCode)| code.module != module && code.module != Module::NULL;
            let stays = module.zip(code).is_some_and(another);
            // The code of what a window records was looked at.
            launched |= !stays && code.is_some();
            stays
        });
        let codes = module.map(|module| locked(&self.code).unloaded(module)).unwrap_or_default();
        context.code_unloaded(&codes, launched);
    }
}

/// Whether a kernel waits for other devices, by the names of the libraries that have such.
fn is_collective(name: &str) -> bool {
    ["ncclDevKernel", "ncclKernel", "nvshmem", "nvshmemi_"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_are_known_by_name() {
        assert!(is_collective("_Z26ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"));
        assert!(!is_collective("_ZN2at6native29vectorized_elementwise_kernel"));
    }
}
