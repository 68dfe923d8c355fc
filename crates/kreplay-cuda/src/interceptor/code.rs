//! What is known of the program's functions: names, parameters, and the variables of their modules.

use super::context::ContextState;
use super::locked;
use crate::agent::ParameterLayout;
use crate::cubin::{Cubin, Runtime};
use crate::tables::{Driver, Function, Module};
use kreplay_engine::{Decline, KernelInfo, ModuleVariable, Process, Range};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
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
    code: Mutex<Code>,
    /// Held while the variables of a module are found and told to the engine.
    looking: Mutex<()>,
}

#[derive(Debug, Default)]
struct Code {
    /// Cubins loaded so far that have variables or functions worth knowing.
    cubins: Vec<Cubin>,
    /// Variables whose addresses are known, by module.
    variables: HashMap<Module, Modules>,
}

#[derive(Debug, Default)]
struct Modules {
    names: HashSet<Arc<str>>,
    codes: Vec<u64>,
    variables: Variables,
}

/// What cannot be put back of a module's variables, which its kernels name without an argument.
#[derive(Clone, Copy, Debug, Default)]
struct Variables {
    /// A writable one has no address.
    hidden: bool,
    /// One is in managed memory.
    managed: bool,
}

impl Functions {
    /// Machine code was loaded into the context.
    pub(super) fn loaded(&self, cubin: Cubin) {
        let worth =
            !cubin.variables.is_empty() || cubin.functions.values().any(|runtime| *runtime != Runtime::default());
        if worth {
            locked(&self.code).cubins.push(cubin);
        }
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

    /// Makes the variables of a function's module known; gives what the function uses of the device runtime, and what cannot be put
    /// back of the variables.
    fn module_code(
        &self,
        context: &ContextState,
        driver: &Driver,
        module: Module,
        symbol: &Arc<str>,
    ) -> (Runtime, Variables) {
        // One after another, so that nobody goes on before the variables are known. The lock of `code` is not held meanwhile:
        // the driver may load code now, which takes it, and so may the launch of another thread that the engine waits for.
        let _looking = locked(&self.looking);
        let (mut runtime, mut wanted) = (Runtime::default(), Vec::new());
        {
            let mut code = locked(&self.code);
            let code = &mut *code;
            let known = code.variables.entry(module).or_default();
            for cubin in &code.cubins {
                let Some(uses) = cubin.functions.get(symbol) else { continue };
                runtime = *uses;
                let fresh = cubin.variables.iter().filter(|(name, _)| known.names.insert(Arc::clone(name)));
                wanted.extend(fresh.map(|(name, constant)| (Arc::clone(name), *constant)));
            }
        }
        let (mut found, mut variables) = (Vec::new(), Variables::default());
        for (name, constant) in wanted {
            match CString::new(&*name).ok().and_then(|text| driver.module_global(module, &text).ok()) {
                Some((base, bytes)) => {
                    let managed = !constant && driver.is_managed(base);
                    variables.managed |= managed;
                    found.push(ModuleVariable { name, range: Range::new(base, bytes), constant, managed });
                }
                None => variables.hidden |= !constant && !is_text(&name),
            }
        }
        let number = if found.is_empty() { None } else { context.code_loaded(found) };
        let mut code = locked(&self.code);
        let known = code.variables.entry(module).or_default();
        known.codes.extend(number);
        known.variables.hidden |= variables.hidden;
        known.variables.managed |= variables.managed;
        (runtime, known.variables)
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
        let codes: Vec<u64> = {
            let mut code = locked(&self.code);
            match module {
                Some(module) => code.variables.remove(&module).map(|known| known.codes).unwrap_or_default(),
                None => Vec::new(),
            }
        };
        context.code_unloaded(&codes, launched);
    }
}

/// Whether a kernel waits for other devices, by the names of the libraries that have such.
fn is_collective(name: &str) -> bool {
    ["ncclDevKernel", "ncclKernel", "nvshmem", "nvshmemi_"].iter().any(|part| name.contains(part))
}

/// Whether a symbol is the compiler's own text of an assertion or a format: nobody writes it.
fn is_text(name: &str) -> bool {
    ["$str", "_$_str", "__PRETTY_FUNCTION__", "__func__", "__FUNCTION__", "__unnamed"]
        .iter()
        .any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_and_texts_are_known_by_name() {
        assert!(is_collective("_Z26ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"));
        assert!(!is_collective("_ZN2at6native29vectorized_elementwise_kernel"));
        assert!(is_text("$str$2") && is_text("__PRETTY_FUNCTION__$foo") && !is_text("counter"));
    }
}
