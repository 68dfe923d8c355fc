//! The variables of modules, and what their functions use of the device runtime.
//!
//! The driver tells which module a function is of, and machine code says what a module holds, but nothing says which of the
//! loaded code a module is made of. Several may hold a kernel of one name: instances of templates, kernels that a compiler
//! named at run time. Those whose variables the module does not have are another module's.

use super::super::context::ContextState;
use super::super::locked;
use super::Functions;
use crate::cubin::{Cubin, Runtime};
use crate::tables::{Driver, Module};
use kreplay_engine::{ModuleVariable, Range};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The machine code of a context.
#[derive(Debug, Default)]
pub(super) struct Code {
    /// Cubins loaded so far that have variables or functions worth knowing.
    cubins: Vec<Arc<Cubin>>,
    /// Functions of the others, by the hashes of their names: there are very many.
    plain: HashSet<u64>,
    modules: HashMap<Module, Known>,
}

/// What is known of a module.
#[derive(Debug, Default)]
struct Known {
    /// Names that were looked for in it, with what was found; the engine was told of that.
    addresses: HashMap<Arc<str>, Option<Range>>,
    /// Numbers that stand for those.
    codes: Vec<u64>,
    variables: Variables,
}

/// What cannot be put back of a module's variables, which its kernels name without an argument.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Variables {
    /// A writable one has no address.
    pub(super) hidden: bool,
    /// One is in managed memory.
    pub(super) managed: bool,
}

impl Code {
    /// Machine code was loaded.
    pub(super) fn loaded(&mut self, cubin: Cubin) {
        let uses = cubin.functions.values().any(|runtime| *runtime != Runtime::default());
        if uses || !cubin.variables.is_empty() {
            self.cubins.push(Arc::new(cubin));
        } else {
            self.plain.extend(cubin.functions.keys().map(|name| hash(name)));
        }
    }

    /// A module goes; the numbers that stand for its variables.
    pub(super) fn unloaded(&mut self, module: Module) -> Vec<u64> {
        self.modules.remove(&module).map(|known| known.codes).unwrap_or_default()
    }
}

/// What a module may be made of.
struct Candidates<'a> {
    symbol: &'a Arc<str>,
    /// Cubins that have the symbol.
    cubins: Vec<Arc<Cubin>>,
    /// So does one that has no variables and uses nothing.
    plain: bool,
}

impl Candidates<'_> {
    /// What the symbol may use of the runtime, and whether a writable variable of the module may have no address.
    fn judge(&self, addresses: &HashMap<Arc<str>, Option<Range>>) -> (Runtime, bool) {
        let has = |name: &Arc<str>| addresses.get(name).is_some_and(Option::is_some);
        // By cubin: how many of its variables the module has, of how many.
        let count = |cubin: &Arc<Cubin>| {
            let writable = || cubin.variables.iter().filter(|(name, constant)| !constant && !is_text(name));
            (writable().filter(|(name, _)| has(name)).count(), writable().count())
        };
        let counts: Vec<(usize, usize)> = self.cubins.iter().map(count).collect();
        let whole = |(found, all): &(usize, usize)| found == all;
        // Having some and not others tells more than having none where there are none.
        let partly = counts.iter().any(|(found, all)| *found > 0 && found < all);
        let surely = counts.iter().any(|(found, all)| *all > 0 && found == all);
        let none = !self.cubins.is_empty() && !self.plain && !counts.iter().any(whole);
        let hidden = none || partly && !surely;
        let taken = self.cubins.iter().zip(&counts).filter(|(_, counts)| hidden || whole(counts));
        let uses = taken.filter_map(|(cubin, _)| cubin.functions.get(self.symbol).copied());
        (uses.fold(Runtime::default(), Runtime::or), hidden)
    }
}

impl Functions {
    /// Makes the variables of a function's module known; gives what the function uses of the device runtime, and what cannot be put
    /// back of the variables.
    pub(super) fn module_code(
        &self,
        context: &ContextState,
        driver: &Driver,
        module: Module,
        symbol: &Arc<str>,
    ) -> (Runtime, Variables) {
        // One after another, so that nobody goes on before the variables are known. The lock of `code` is not held meanwhile:
        // the driver may load code now, which takes it, and so may the launch of another thread that the engine waits for.
        let _looking = locked(&self.looking);
        let (candidates, mut addresses) = {
            let mut code = locked(&self.code);
            let cubins = code.cubins.iter().filter(|cubin| cubin.functions.contains_key(symbol)).cloned().collect();
            let plain = code.plain.contains(&hash(symbol));
            let known = code.modules.entry(module).or_default();
            (Candidates { symbol, cubins, plain }, std::mem::take(&mut known.addresses))
        };
        let mut fresh = Vec::new();
        for (name, constant) in candidates.cubins.iter().flat_map(|cubin| &cubin.variables) {
            if addresses.contains_key(name) {
                continue;
            }
            let found = CString::new(&**name).ok().and_then(|text| driver.module_global(module, &text).ok());
            let found = found.map(|(base, bytes)| Range::new(base, bytes));
            addresses.insert(Arc::clone(name), found);
            if let Some(range) = found {
                let managed = !constant && driver.is_managed(range.base);
                fresh.push(ModuleVariable { name: Arc::clone(name), range, constant: *constant, managed });
            }
        }
        let (runtime, hidden) = candidates.judge(&addresses);
        let managed = fresh.iter().any(|variable| variable.managed);
        let number = if fresh.is_empty() { None } else { context.code_loaded(fresh) };
        let mut code = locked(&self.code);
        let known = code.modules.entry(module).or_default();
        known.addresses = addresses;
        known.codes.extend(number);
        known.variables.hidden |= hidden;
        known.variables.managed |= managed;
        (runtime, known.variables)
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
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
    fn texts_are_known_by_name() {
        assert!(is_text("$str$2") && is_text("__PRETTY_FUNCTION__$foo") && !is_text("counter"));
    }
}
