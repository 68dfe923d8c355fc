//! Mappings, by what devices may use them.

use super::*;

const PEER: AccessDescription = AccessDescription { kind: 1, device: 1, flags: 3 };
const READING: AccessDescription = AccessDescription { flags: 1, ..DEVICE };

fn mapped(program: &Program) -> Mapped {
    let mapped = Mapped::new();
    make(program, cbid::MEM_CREATE, 80);
    mapped.map(program, 80);
    mapped
}

#[test]
fn what_only_another_device_may_write_is_that_devices() {
    // With an engine, and without one.
    for launched in [false, true] {
        let program = Program::new(3);
        let own = program.allocate(4096);
        if launched {
            program.launch(increment("first"), "first", own, Stream::NULL, 0);
        }
        for calls in [&[&[PEER][..]][..], &[&[PEER, READING]], &[&[PEER], &[READING]], &[&[READING], &[PEER]]] {
            let mapped = mapped(&program);
            calls.iter().for_each(|access| mapped.access(&program, access));
            is_foreign(&program, mapped.base(), own);
            // Its own device may write it as well.
            mapped.access(&program, &[DEVICE]);
            is_own(&program, mapped.base(), 4096 + 8192);
            mapped.access(&program, &[READING]);
            is_foreign(&program, mapped.base(), own);
            // The other one may not any more, and nobody writes it.
            mapped.access(&program, &[AccessDescription { flags: 0, ..PEER }]);
            program.launch(increment("reading"), "reading", own, Stream::NULL, 0);
            assert_eq!((program.declined(), program.last().bytes.footprint), (None, 4096));
            assert!(!locked(&program.interceptor.live).is_in(mapped.base()));
            mapped.unmap(&program);
        }
    }
}

#[test]
fn a_mapping_that_was_not_taken_away_can_be_taken_away_later() {
    let program = Program::new(3);
    let own = program.allocate(4096);
    let mapped = mapped(&program);
    mapped.access(&program, &[DEVICE]);
    program.call(cbid::MEM_UNMAP, "", &MemUnmapParams { pointer: mapped.base(), bytes: 4096 }, || 1);
    is_own(&program, mapped.base(), 4096 + 8192);
    mapped.unmap(&program);
    assert!(!locked(&program.interceptor.live).is_in(mapped.base()));
    is_own(&program, own, 4096);
}

#[test]
fn a_thread_without_a_context_makes_memory_nobodys() {
    let mut program = Program::new(3);
    let own = program.allocate(4096);
    let context = std::mem::replace(&mut program.context, Context::NULL);
    let mapped = mapped(&program);
    mapped.access(&program, &[DEVICE]);
    assert_eq!(program.interceptor.all_contexts().len(), 1, "no context is made up");
    program.context = context;
    is_foreign(&program, mapped.base(), own);
    // Told about by a thread that has the context.
    mapped.access(&program, &[DEVICE]);
    is_own(&program, mapped.base(), 4096 + 8192);
}
