//! Kernels of one name in several pieces of code, of which a module has one.

use super::*;
use kreplay_engine::Decline;

/// Code with a kernel that may print, and these variables.
fn code(kernel: &str, variables: &[&str], prints: bool) -> Vec<u8> {
    let mut elf = Elf::default();
    let text = elf.section(&format!(".text.{kernel}"), 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    for variable in variables {
        elf.symbol(variable, 1, global, 0, 16);
    }
    let number = elf.symbol(kernel, 2, text, 0, 16);
    if prints {
        let print = elf.symbol("vprintf", 2, 0, 0, 0);
        elf.section(".nv.callgraph", 0x7000_0001, [number.to_le_bytes(), print.to_le_bytes()].concat());
    }
    elf.build()
}

/// The outcome of a launch of the kernel where this code was loaded, whichever came first; with the footprint.
fn launch(kernel: &'static str, codes: [Vec<u8>; 2]) -> (Option<Decline>, u64) {
    let outcomes = [codes.clone(), codes.into_iter().rev().collect::<Vec<_>>().try_into().expect("two")].map(|codes| {
        let program = Program::new(3);
        codes.iter().for_each(|code| program.load(code));
        program.launch(increment(kernel), kernel, program.allocate(4096), Stream::NULL, 0);
        (program.declined(), program.last().bytes.footprint)
    });
    assert_eq!(outcomes[0], outcomes[1], "{kernel}: the order says nothing");
    outcomes[0]
}

#[test]
fn code_whose_variables_the_module_lacks_is_another_modules() {
    let own = Box::leak(Box::new([1u64; 4])).as_ptr() as u64;
    fake::add_variable("alike_own", own, 16);
    fake::add_variable("alike_second", own + 16, 16);
    let code = |variables: &[&str], prints| code("alike", variables, prints);
    let lacking = || code(&["alike_of_another"], true);
    let own = || code(&["alike_own"], false);
    // Beside code without variables, and beside code whose variables are there.
    assert_eq!(launch("alike", [lacking(), code(&[], false)]), (None, 4096));
    assert_eq!(launch("alike", [lacking(), own()]), (None, 4096 + 16));
    // Nothing else has the kernel, or what has it has only some of its variables.
    assert_eq!(launch("alike", [lacking(), lacking()]).0, Some(Decline::UntrackedMemory));
    let partly = || code(&["alike_own", "alike_of_another"], false);
    assert_eq!(launch("alike", [partly(), code(&[], false)]).0, Some(Decline::UntrackedMemory));
    assert_eq!(launch("alike", [partly(), own()]), (None, 4096 + 16));
    // Both may be what the module is made of, and one prints.
    assert_eq!(launch("alike", [code(&["alike_second"], true), own()]).0, Some(Decline::UntrackedMemory));
}
