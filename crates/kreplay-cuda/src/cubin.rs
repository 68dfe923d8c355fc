//! What a cubin says: its variables, its kernels, and which kernels call into the device runtime.
//!
//! A cubin is an ELF file. Variables are data symbols in sections `.nv.global` and `.nv.global.init` (memory that kernels
//! write) and `.nv.constant3` (constants); kernels are functions in sections `.text.NAME`; section `.nv.callgraph` holds
//! pairs of symbol numbers, caller and callee. Bytes come from the program and are trusted with nothing.

use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, elf};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What was read of a cubin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cubin {
    /// Variables, each with whether it is a constant.
    pub(crate) variables: Vec<(Arc<str>, bool)>,
    /// Kernels and functions by name; whether they use what a replay cannot put back.
    pub(crate) functions: HashMap<Arc<str>, Runtime>,
}

/// What a function uses of the device runtime, itself or through what it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runtime {
    /// `printf`: each pass would print again.
    pub(crate) prints: bool,
    /// The device's heap, whose state is the driver's own.
    pub(crate) allocates: bool,
    /// Launches from the device.
    pub(crate) launches: bool,
}

impl Runtime {
    fn of_symbol(name: &str) -> Self {
        Self {
            prints: name == "vprintf",
            allocates: matches!(name, "malloc" | "free"),
            launches: name.starts_with("cudaLaunchDevice")
                || name.starts_with("__cudaCDP")
                || name.starts_with("cudaGetParameterBuffer"),
        }
    }

    fn any(self) -> bool {
        self.prints || self.allocates || self.launches
    }

    /// What either uses.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            prints: self.prints || other.prints,
            allocates: self.allocates || other.allocates,
            launches: self.launches || other.launches,
        }
    }
}

/// Why a cubin could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the device code is not an ELF file that can be read: {0}")]
pub(crate) struct CubinError(#[from] object::Error);

impl Cubin {
    /// Reads a cubin.
    ///
    /// # Errors
    /// [`CubinError`]; never panics, whatever the bytes are.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CubinError> {
        let file = ElfFile64::<Endianness>::parse(bytes)?;
        let endian = file.endian();
        let header = elf::FileHeader64::<Endianness>::parse(bytes)?;
        let sections = header.sections(endian, bytes)?;
        let symbols = sections.symbols(endian, bytes, elf::SHT_SYMTAB)?;
        let mut cubin = Cubin::default();
        let mut names = HashMap::new();
        for (index, symbol) in symbols.enumerate() {
            let Ok(name) = symbols.symbol_name(endian, symbol) else { continue };
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let name: Arc<str> = name.into();
            let section = symbols.symbol_section(endian, symbol, index)?;
            let section = match section {
                Some(section) => sections.section_name(endian, sections.section(section)?)?,
                None => b"",
            };
            match symbol.st_type() {
                elf::STT_OBJECT if section.starts_with(b".nv.global") => cubin.variables.push((name, false)),
                elf::STT_OBJECT if section.starts_with(b".nv.constant3") => cubin.variables.push((name, true)),
                elf::STT_FUNC => {
                    names.insert(index.0 as u32, name.clone());
                    if section.starts_with(b".text.") {
                        cubin.functions.insert(name, Runtime::default());
                    }
                }
                _ => {}
            }
        }
        let mut calls = Vec::new();
        for section in sections.iter() {
            if sections.section_name(endian, section)? == b".nv.callgraph" {
                let data = section.data(endian, bytes)?;
                let word = |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
                calls.extend((0..data.len() / 8).map(|pair| (word(pair * 8), word(pair * 8 + 4))));
            }
        }
        cubin.spread(&names, &calls);
        Ok(cubin)
    }

    /// Takes what the runtime's functions do to everything that calls them.
    fn spread(&mut self, names: &HashMap<u32, Arc<str>>, calls: &[(u32, u32)]) {
        let mut callers: HashMap<u32, Vec<u32>> = HashMap::new();
        for (caller, callee) in calls {
            callers.entry(*callee).or_default().push(*caller);
        }
        for (number, name) in names {
            let runtime = Runtime::of_symbol(name);
            if !runtime.any() {
                continue;
            }
            let mut open = vec![*number];
            let mut seen = HashSet::from([*number]);
            while let Some(callee) = open.pop() {
                if let Some(function) = names.get(&callee).and_then(|name| self.functions.get_mut(name)) {
                    *function = function.or(runtime);
                }
                open.extend(callers.get(&callee).into_iter().flatten().filter(|caller| seen.insert(**caller)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_elf::Elf;

    const OBJECT: u8 = 1;
    const FUNC: u8 = 2;

    fn sample() -> Vec<u8> {
        let mut elf = Elf::default();
        let loud = elf.section(".text.loud", 1, vec![0; 16]);
        let quiet = elf.section(".text.quiet", 1, vec![0; 16]);
        let helper = elf.section(".text.helper", 1, vec![0; 16]);
        let global = elf.section(".nv.global", 8, vec![]);
        let initialised = elf.section(".nv.global.init", 1, vec![1, 2, 3, 4]);
        let constant = elf.section(".nv.constant3", 1, vec![0; 8]);
        elf.symbol("counter", OBJECT, initialised, 0, 4);
        elf.symbol("hidden", OBJECT, global, 0, 20);
        elf.symbol("table", OBJECT, constant, 0, 8);
        let loud = elf.symbol("loud", FUNC, loud, 0, 16);
        elf.symbol("quiet", FUNC, quiet, 0, 16);
        let helper = elf.symbol("helper", FUNC, helper, 0, 16);
        let print = elf.symbol("vprintf", FUNC, 0, 0, 0);
        let pairs = [(loud, helper), (helper, print), (print, u32::MAX)];
        let bytes = pairs.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()).collect();
        elf.section(".nv.callgraph", 0x7000_0001, bytes);
        elf.build()
    }

    #[test]
    fn variables_kernels_and_what_they_call_are_found() {
        let cubin = Cubin::parse(&sample()).expect("an ELF file");
        let variables: Vec<(&str, bool)> =
            cubin.variables.iter().map(|(name, constant)| (&**name, *constant)).collect();
        assert_eq!(variables, [("counter", false), ("hidden", false), ("table", true)]);
        assert_eq!(cubin.functions.len(), 3);
        assert!(cubin.functions["loud"].prints, "through what it calls");
        assert!(cubin.functions["helper"].prints);
        assert_eq!(cubin.functions["quiet"], Runtime::default());
    }

    #[test]
    fn damaged_bytes_are_errors_and_never_panics() {
        let whole = sample();
        assert!(Cubin::parse(b"not an ELF file").is_err());
        for end in 0..whole.len() {
            let _ = Cubin::parse(&whole[..end]);
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = Cubin::parse(&damaged);
            }
        }
    }

    /// A real cubin, where the vendor's assembler is at hand.
    #[test]
    fn our_own_kernels_are_found_in_what_the_assembler_makes() {
        let assembler = std::env::var_os("KREPLAY_PTXAS").unwrap_or_else(|| "ptxas".into());
        let folder = tempfile::tempdir().expect("a folder");
        let (source, made) = (folder.path().join("replay.ptx"), folder.path().join("replay.cubin"));
        std::fs::write(&source, crate::kernels::PTX.to_bytes()).expect("write the text");
        let run = std::process::Command::new(assembler).arg("-arch=sm_90").arg("-o").args([&made, &source]).output();
        if run.is_err() {
            assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "this test needs ptxas; set KREPLAY_PTXAS");
            return println!("skipped: there is no ptxas; set KREPLAY_PTXAS");
        }
        let cubin = Cubin::parse(&std::fs::read(&made).expect("a cubin")).expect("an ELF file");
        assert!(cubin.functions.contains_key("kreplay_compare"));
        assert!(cubin.functions.values().all(|runtime| !runtime.any()));
        assert_eq!(cubin.variables, []);
    }
}
