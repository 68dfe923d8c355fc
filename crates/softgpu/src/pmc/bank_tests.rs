//! The bank, driven by the words of indirect buffers.

use super::super::block::{BLOCKS, Block, BlockId};
use super::super::event::{Spread, find};
use super::*;
use crate::contract::{Mapping, MatrixCount, MatrixStats};

/// Memory that is one buffer.
struct Buffer {
    bytes: Mutex<Vec<u8>>,
}

impl Buffer {
    fn poisoned(values: usize) -> Self {
        Self { bytes: Mutex::new(vec![0xa5; values * 8]) }
    }

    fn address(&self) -> u64 {
        self.bytes.lock().expect("lock").as_ptr() as u64
    }

    fn values(&self) -> Vec<u64> {
        let bytes = self.bytes.lock().expect("lock");
        bytes.as_chunks::<8>().0.iter().map(|value| u64::from_le_bytes(*value)).collect()
    }
}

// SAFETY: the buffer is never resized, so the pointer stays valid as long as the buffer lives.
unsafe impl Memory for Buffer {
    fn host(&self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress> {
        let mut buffer = self.bytes.lock().expect("lock");
        let base = buffer.as_mut_ptr();
        let offset = address.wrapping_sub(base as u64);
        if offset.checked_add(bytes).is_none_or(|end| end > buffer.len() as u64) {
            return Err(BadAddress { address, bytes, write });
        }
        Ok(base.wrapping_add(offset as usize))
    }

    fn mapping(&self, address: u64) -> Result<Mapping, BadAddress> {
        Err(BadAddress { address, bytes: 1, write: false })
    }

    fn oracle(&self) -> bool {
        false
    }

    fn will_write(&self, _: u64, _: u64, _: u64) {}
}

fn stats(scale: u64) -> ExecStats {
    ExecStats {
        workgroups: 3 * scale,
        waves: 12 * scale,
        workitems: 700 * scale,
        insts: 1009 * scale,
        insts_valu: 401 * scale,
        insts_salu: 203 * scale,
        insts_smem: 31 * scale,
        insts_vmem_rd: 97 * scale,
        insts_vmem_wr: 53 * scale,
        insts_flat: 5 * scale,
        insts_lds: 41 * scale,
        insts_atomic: 17 * scale,
        insts_branch: 19 * scale,
        insts_sendmsg: 2 * scale,
        matrix: MatrixStats {
            i8: MatrixCount { insts: 3 * scale, operations: 3 * 2048 * scale },
            f16: MatrixCount { insts: 5 * scale, operations: 5 * 16384 * scale },
            bf16: MatrixCount { insts: 8 * scale, operations: 8 * 4096 * scale },
            f32: MatrixCount { insts: 9 * scale, operations: 9 * 4096 * scale },
            f64: MatrixCount { insts: 4 * scale, operations: 4 * 512 * scale },
        },
        barriers: 7 * scale,
        valu_lanes: 25_000 * scale,
        global_read_bytes: 12_345 * scale,
        global_write_bytes: 6_789 * scale,
        global_atomic_bytes: 68 * scale,
        read_lines: 211 * scale,
        write_lines: 113 * scale,
        atomic_lines: 29 * scale,
        lds_read_bytes: 1_111 * scale,
        lds_write_bytes: 2_222 * scale,
        lds_bank_conflicts: 23 * scale,
        cycles: 777 * scale,
    }
}

/// Every instance of an event.
fn everywhere(block: &Block, event: u32) -> Vec<Selected> {
    (0..block.instances).map(|instance| Selected { block: block.id, instance, event }).collect()
}

fn run(bank: &CounterBank, command: Command, memory: &Buffer) -> Result<(), Fault> {
    bank.execute_ib(&command.encode().expect("encodes"), memory)
}

fn read(bank: &CounterBank, events: &[Selected]) -> Vec<u64> {
    let memory = Buffer::poisoned(Selection::new(events).expect("fits").samples());
    run(bank, Command::Read { output: memory.address(), events: events.to_vec() }, &memory).expect("reads");
    memory.values()
}

#[test]
fn every_event_sums_exactly_over_its_instances() {
    let nowhere = Buffer::poisoned(0);
    for sim in EVENTS {
        let block = Block::find(sim.block).expect("block");
        let events = everywhere(block, sim.event);
        let bank = CounterBank::new();
        bank.accumulate(&stats(5)); // before the start: not counted
        run(&bank, Command::Start(events.clone()), &nowhere).expect("starts");
        bank.accumulate(&stats(1));
        bank.accumulate(&stats(2));
        let values = read(&bank, &events);
        assert_eq!(values.len() as u32, block.instances * block.samples());
        let expected = (sim.of)(&stats(3));
        match sim.spread {
            Spread::Shared => assert_eq!(values.iter().sum::<u64>(), expected, "{sim:?}"),
            Spread::Each => assert!(values.iter().all(|value| *value == expected), "{sim:?}"),
        }
    }
}

#[test]
fn a_read_counts_on_and_a_stop_stands_still() {
    let events = [Selected { block: BlockId::GRBM, instance: 0, event: 2 }];
    let nowhere = Buffer::poisoned(0);
    let bank = CounterBank::new();
    run(&bank, Command::Start(events.to_vec()), &nowhere).expect("starts");
    bank.accumulate(&stats(1));
    assert_eq!(read(&bank, &events), [777]);
    bank.accumulate(&stats(1));
    assert_eq!(read(&bank, &events), [2 * 777]);
    run(&bank, Command::Stop, &nowhere).expect("stops");
    bank.accumulate(&stats(1));
    assert_eq!(read(&bank, &events), [2 * 777]);
    run(&bank, Command::Stop, &nowhere).expect("a second stop changes nothing");
    assert_eq!(read(&bank, &events), [2 * 777]);
    run(&bank, Command::Start(events.to_vec()), &nowhere).expect("starts again");
    assert_eq!(read(&bank, &events), [0]);
}

#[test]
fn units_that_are_not_there_read_zero() {
    let block = Block::find(BlockId::TCP).expect("TCP");
    let events = everywhere(block, 29);
    let bank = CounterBank::new();
    run(&bank, Command::Start(events.clone()), &Buffer::poisoned(0)).expect("starts");
    bank.accumulate(&stats(1000));
    let values = read(&bank, &events);
    let (working, absent) = values.split_at((block.working * block.samples()) as usize);
    assert!(working.iter().all(|value| *value > 0));
    assert!(absent.iter().all(|value| *value == 0));
}

#[test]
fn too_many_events_for_the_slots_fault_and_change_nothing() {
    let events = [Selected { block: BlockId::GRBM, instance: 0, event: 0 }];
    let nowhere = Buffer::poisoned(0);
    let bank = CounterBank::new();
    run(&bank, Command::Start(events.to_vec()), &nowhere).expect("starts");
    bank.accumulate(&stats(1));
    for block in BLOCKS.iter().filter(|block| EVENTS.iter().any(|event| event.block == block.id)) {
        let event = EVENTS.iter().find(|event| event.block == block.id).expect("event").event;
        let one = Selected { block: block.id, instance: 0, event };
        run(&CounterBank::new(), Command::Start(vec![one; block.slots as usize]), &nowhere).expect("fits");
        let error = run(&bank, Command::Start(vec![one; block.slots as usize + 1]), &nowhere);
        assert!(matches!(error, Err(Fault::BadDispatch(why)) if why.contains("slots")), "{}", block.name);
    }
    assert_eq!(read(&bank, &events), [777], "the counters of the first start go on");
}

#[test]
fn a_read_of_other_events_or_elsewhere_faults_and_writes_nothing() {
    let waves = Selected { block: BlockId::SQ, instance: 0, event: 4 };
    let items = Selected { block: BlockId::SQ, instance: 0, event: 14 };
    let memory = Buffer::poisoned(8);
    let bank = CounterBank::new();
    let command = Command::Read { output: memory.address(), events: vec![waves] };
    assert!(matches!(run(&bank, command, &memory), Err(Fault::BadDispatch(_))), "before any start");
    run(&bank, Command::Start(vec![waves]), &memory).expect("starts");
    let command = Command::Read { output: memory.address(), events: vec![items] };
    assert!(matches!(run(&bank, command, &memory), Err(Fault::BadDispatch(_))), "other events");
    let command = Command::Read { output: memory.address() + 8, events: vec![waves] };
    assert!(matches!(run(&bank, command, &memory), Err(Fault::BadAddress { .. })), "past the end");
    assert!(memory.values().iter().all(|value| *value == 0xa5a5_a5a5_a5a5_a5a5));
}

#[test]
fn a_buffer_with_anything_unknown_takes_no_effect_at_all() {
    let events = vec![Selected { block: BlockId::SQ, instance: 0, event: 4 }];
    let nowhere = Buffer::poisoned(0);
    let bank = CounterBank::new();
    run(&bank, Command::Start(events.clone()), &nowhere).expect("starts");
    bank.accumulate(&stats(1));
    let mut words = Command::Start(events.clone()).encode().expect("encodes");
    words.extend([0xc001_7900, 0x200, 0xe000_0000]);
    assert!(bank.execute_ib(&words, &nowhere).is_err());
    assert_eq!(read(&bank, &events).iter().sum::<u64>(), 12, "the start before the unknown packet did not run");
}

#[test]
fn threads_add_without_losing_anything() {
    let events = vec![Selected { block: BlockId::SQ, instance: 0, event: 4 }];
    let bank = CounterBank::new();
    run(&bank, Command::Start(events.clone()), &Buffer::poisoned(0)).expect("starts");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| bank.accumulate(&stats(1))));
        }
    });
    assert_eq!(read(&bank, &events).iter().sum::<u64>(), 4 * 500 * 12);
}

#[test]
fn known_values_by_hand() {
    let value = |block, event| (EVENTS[find(block, event).expect("event")].of)(&stats(1));
    assert_eq!(value(BlockId::SQ, 55), 97 + 53 + 17);
    assert_eq!(value(BlockId::SQ, 100), 203 + 31);
    assert_eq!(value(BlockId::TCC, 3), 211 + 113 + 29);
    assert_eq!(value(BlockId::TCC, 26), 113 + 29);
    assert_eq!(value(BlockId::TCC, 39), 0);
    assert_eq!(value(BlockId::SOFT, 1), 6_789);
}
