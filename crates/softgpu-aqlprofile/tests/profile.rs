//! A profiler's way through the interface, with the packets handed straight to a counter bank.

use hsa_amd_aqlprofile64::*;
use softgpu::contract::{BadAddress, ExecStats, Mapping, Memory};
use softgpu::pmc::{Block, BlockId, CounterBank, EVENTS, Spread, ib};
use std::ffi::{CStr, c_void};
use std::ptr::null;

/// This process' memory, whole.
struct Process;

// SAFETY: the tests keep their buffers alive while packets run.
unsafe impl Memory for Process {
    fn host(&self, address: u64, _: u64, _: bool) -> Result<*mut u8, BadAddress> {
        Ok(address as *mut u8)
    }

    fn mapping(&self, _: u64) -> Result<Mapping, BadAddress> {
        Ok(Mapping { base: 0, end: u64::MAX, writable: true })
    }

    fn oracle(&self) -> bool {
        false
    }

    fn will_write(&self, _: u64, _: u64, _: u64) {}
}

fn event(block: BlockId, instance: u32, event: u32) -> Event {
    Event { block_name: block.0, block_index: instance, counter_id: event }
}

fn packet() -> Packet {
    Packet { header: 0xbeef, pm4_command: [0xa5a5; 27], completion_signal: 0x5555 }
}

/// A profile with buffers of its own.
struct Owned {
    profile: Profile,
    _events: Vec<Event>,
    output: Vec<u64>,
    _commands: Vec<u32>,
}

impl Owned {
    fn new(events: Vec<Event>) -> Self {
        let none = Descriptor { ptr: std::ptr::null_mut(), size: 0 };
        let profile = Profile {
            agent: Agent { handle: 1 },
            kind: 0,
            events: events.as_ptr(),
            event_count: events.len() as u32,
            parameters: null(),
            parameter_count: 0,
            output_buffer: none,
            command_buffer: none,
        };
        let size = |attribute| {
            let mut value = u32::MAX;
            // SAFETY: a profile whose events live, and a value of the attribute's type.
            assert_eq!(unsafe { hsa_ven_amd_aqlprofile_get_info(&profile, attribute, (&raw mut value).cast()) }, 0);
            value
        };
        let mut commands = vec![0xdead_beef_u32; size(0) as usize / 4];
        let mut output = vec![0xa5a5_a5a5_a5a5_a5a5_u64; size(1) as usize / 8];
        let command_buffer = Descriptor { ptr: commands.as_mut_ptr().cast(), size: size(0) };
        let output_buffer = Descriptor { ptr: output.as_mut_ptr().cast(), size: size(1) };
        let profile = Profile { output_buffer, command_buffer, ..profile };
        Owned { profile, _events: events, output, _commands: commands }
    }

    fn packets(&mut self) -> [Packet; 3] {
        let mut packets = [packet(); 3];
        // SAFETY: the profile's events and buffers live as long as `self`.
        let statuses = unsafe {
            [
                hsa_ven_amd_aqlprofile_start(&mut self.profile, &mut packets[0]),
                hsa_ven_amd_aqlprofile_read(&self.profile, &mut packets[1]),
                hsa_ven_amd_aqlprofile_stop(&self.profile, &mut packets[2]),
            ]
        };
        assert_eq!(statuses, [STATUS_SUCCESS; 3], "{}", last_error());
        for packet in packets {
            assert_eq!(
                (packet.header, packet.completion_signal),
                (0xbeef, 0x5555),
                "header and signal are the caller's"
            );
        }
        packets
    }

    fn values(&self) -> Vec<(Event, u32, u64)> {
        let mut values: Vec<(Event, u32, u64)> = Vec::new();
        // SAFETY: the callback's user data is the vector.
        let status =
            unsafe { hsa_ven_amd_aqlprofile_iterate_data(&self.profile, Some(collect), (&raw mut values).cast()) };
        assert_eq!(status, STATUS_SUCCESS, "{}", last_error());
        values
    }
}

unsafe extern "C" fn collect(kind: u32, data: *mut InfoData, user: *mut c_void) -> Status {
    assert_eq!(kind, 2);
    // SAFETY: what `iterate_data` was given and promises.
    let (data, values) = unsafe { (*data, &mut *user.cast::<Vec<(Event, u32, u64)>>()) };
    values.push((data.pmc_data.event, data.sample_id, data.pmc_data.result));
    STATUS_SUCCESS
}

fn last_error() -> String {
    let mut text = null();
    // SAFETY: the pointer may be written; the string is good until the next error.
    unsafe {
        assert_eq!(hsa_ven_amd_aqlprofile_error_string(&mut text), STATUS_SUCCESS);
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

/// What the device's packet processor does with a vendor packet.
fn submit(bank: &CounterBank, packet: &Packet) {
    // SAFETY: a packet is 64 bytes without padding.
    let words: [u32; 16] = unsafe { std::mem::transmute(*packet) };
    let (address, length) = ib::indirect_buffer(&words).expect("an indirect buffer");
    // SAFETY: the library says that the list lies there, in the test's command buffer.
    let list = unsafe { std::slice::from_raw_parts(address as *const u32, length as usize) };
    bank.execute_ib(list, &Process).expect("executes");
}

fn stats() -> ExecStats {
    ExecStats {
        waves: 100,
        insts: 1234,
        insts_valu: 567,
        read_lines: 1001,
        write_lines: 77,
        cycles: 99,
        ..ExecStats::default()
    }
}

#[test]
fn values_come_back_exactly_and_in_order() {
    let mut events = vec![event(BlockId::SQ, 0, 4), event(BlockId::SQ, 0, 26), event(BlockId::GRBM, 0, 2)];
    events.extend((0..32).map(|instance| event(BlockId::TCC, instance, 12)));
    events.extend((0..16).map(|instance| event(BlockId::TCP, instance, 29)));
    let mut owned = Owned::new(events.clone());
    let [start, read, stop] = owned.packets();
    let bank = CounterBank::new();
    bank.accumulate(&stats());
    submit(&bank, &start);
    bank.accumulate(&stats());
    bank.accumulate(&stats());
    submit(&bank, &read);
    submit(&bank, &stop);
    assert!(owned.output.iter().all(|value| *value != 0xa5a5_a5a5_a5a5_a5a5), "every value was stored");
    let values = owned.values();
    let order: Vec<(Event, u32)> = values.iter().map(|(event, sample, _)| (*event, *sample)).collect();
    let expected: Vec<(Event, u32)> = events
        .iter()
        .flat_map(|event| {
            let samples = Block::find(BlockId(event.block_name)).expect("block").samples();
            (0..samples).map(move |sample| (*event, sample))
        })
        .collect();
    assert_eq!(order, expected);
    let sum = |block: BlockId, id: u32| -> u64 {
        let of = values.iter().filter(|(e, ..)| e.block_name == block.0 && e.counter_id == id);
        of.map(|(.., value)| value).sum()
    };
    assert_eq!(sum(BlockId::SQ, 4), 200);
    assert_eq!(sum(BlockId::SQ, 26), 2 * 567);
    assert_eq!(sum(BlockId::GRBM, 2), 198);
    assert_eq!(sum(BlockId::TCC, 12), 2002);
    assert_eq!(sum(BlockId::TCP, 29), 2 * (1001 + 77));
}

#[test]
fn profiles_take_turns_after_one_start() {
    let events = || vec![event(BlockId::SQ, 0, 4)];
    let (mut first, mut second) = (Owned::new(events()), Owned::new(events()));
    let ([start, read_first, stop], [_, read_second, _]) = (first.packets(), second.packets());
    let bank = CounterBank::new();
    submit(&bank, &start);
    bank.accumulate(&stats());
    submit(&bank, &read_first);
    bank.accumulate(&stats());
    submit(&bank, &read_second);
    submit(&bank, &stop);
    let sum = |owned: &Owned| owned.values().iter().map(|(.., value)| value).sum::<u64>();
    assert_eq!((sum(&first), sum(&second)), (100, 200));
}

#[test]
fn exactly_the_simulated_events_are_valid() {
    let valid = |agent, event: Event| {
        let mut result = true;
        // SAFETY: an event and a result.
        let status = unsafe { hsa_ven_amd_aqlprofile_validate_event(Agent { handle: agent }, &event, &mut result) };
        (status, result)
    };
    for block in 0..40 {
        for id in 0..400 {
            let known = EVENTS.iter().any(|event| event.block == BlockId(block) && event.event == id);
            assert_eq!(valid(1, event(BlockId(block), 0, id)), (STATUS_SUCCESS, known), "{block} {id}");
        }
    }
    assert_eq!(valid(1, event(BlockId::TCC, 31, 3)), (STATUS_SUCCESS, true));
    assert_eq!(valid(1, event(BlockId::TCC, 32, 3)), (STATUS_SUCCESS, false));
    assert_eq!(valid(0, event(BlockId::TCC, 0, 3)), (STATUS_ERROR_INVALID_AGENT, false));
}

#[test]
fn too_many_events_are_an_error_with_a_sentence() {
    let of_sq: Vec<u32> = EVENTS.iter().filter(|e| e.block == BlockId::SQ).map(|e| e.event).collect();
    let events: Vec<Event> = of_sq[..9].iter().map(|id| event(BlockId::SQ, 0, *id)).collect();
    let mut owned = Owned::new(events[..8].to_vec());
    owned.packets();
    owned.profile.events = events.as_ptr();
    owned.profile.event_count = 9;
    let mut packet = packet();
    // SAFETY: the events live.
    assert_eq!(unsafe { hsa_ven_amd_aqlprofile_start(&mut owned.profile, &mut packet) }, STATUS_ERROR);
    assert_eq!(packet.pm4_command, [0xa5a5; 27], "no packet is made");
    assert_eq!(last_error(), "block SQ has 8 slots; instance 0 cannot count another event at the same time");
}

#[test]
fn a_short_buffer_is_an_error_that_tells_the_size() {
    let mut owned = Owned::new(vec![event(BlockId::SQ, 0, 4)]);
    let needed = (owned.profile.output_buffer.size, owned.profile.command_buffer.size);
    owned.profile.output_buffer.size = 8;
    owned.profile.command_buffer.size = 100;
    let mut packet = packet();
    // SAFETY: the buffers are longer than they say.
    let status = unsafe { hsa_ven_amd_aqlprofile_start(&mut owned.profile, &mut packet) };
    assert_eq!(status, STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!((owned.profile.output_buffer.size, owned.profile.command_buffer.size), needed);
    assert!(owned._commands.iter().all(|word| *word == 0xdead_beef), "nothing was written");
}

#[test]
fn packets_before_a_start_are_an_error() {
    let owned = Owned::new(vec![event(BlockId::SQ, 0, 4)]);
    let mut packet = packet();
    // SAFETY: a profile with its buffers.
    let statuses = unsafe {
        [
            hsa_ven_amd_aqlprofile_read(&owned.profile, &mut packet),
            hsa_ven_amd_aqlprofile_stop(&owned.profile, &mut packet),
        ]
    };
    assert_eq!(statuses, [STATUS_ERROR; 2]);
    assert!(last_error().contains("call start first"));
}

#[test]
fn blocks_tell_their_numbers_instances_and_slots() {
    let owned = Owned::new(vec![event(BlockId::TCC, 0, 3)]);
    let mut slots = 0_u32;
    let mut query = IdQuery { name: c"TCC".as_ptr(), id: 99, instance_count: 99 };
    let mut missing = IdQuery { name: c"GL2C".as_ptr(), id: 99, instance_count: 99 };
    // SAFETY: values of the attributes' types.
    unsafe {
        assert_eq!(hsa_ven_amd_aqlprofile_get_info(&owned.profile, 4, (&raw mut slots).cast()), 0);
        assert_eq!(hsa_ven_amd_aqlprofile_get_info(&owned.profile, 5, (&raw mut query).cast()), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_get_info(&owned.profile, 5, (&raw mut missing).cast()), 0);
    }
    assert_eq!((slots, query.id, query.instance_count), (4, 12, 32));
    assert_eq!((missing.id, missing.instance_count), (99, 99));
}

#[test]
fn one_value_can_be_asked_for() {
    let mut owned = Owned::new(vec![event(BlockId::SQ, 0, 4), event(BlockId::SQ, 0, 25)]);
    let [start, read, _] = owned.packets();
    let bank = CounterBank::new();
    submit(&bank, &start);
    bank.accumulate(&stats());
    submit(&bank, &read);
    let ask = |sample_id, id| {
        let pmc_data = PmcData { event: event(BlockId::SQ, 0, id), result: 0xdead };
        let mut data = InfoData { sample_id, pmc_data };
        // SAFETY: the attribute's value is an `info_data`.
        let status = unsafe { hsa_ven_amd_aqlprofile_get_info(&owned.profile, 2, (&raw mut data).cast()) };
        (status, data.pmc_data.result)
    };
    assert_eq!(ask(u32::MAX, 4), (STATUS_SUCCESS, 100));
    assert_eq!(ask(u32::MAX, 25), (STATUS_SUCCESS, 1234));
    let each: u64 = (0..8).map(|sample| ask(sample, 4).1).sum();
    assert_eq!(each, 100);
    assert_eq!(ask(u32::MAX, 26).0, STATUS_ERROR, "not in the profile");
}

#[test]
fn enable_and_disable_make_packets_that_execute() {
    let mut owned = Owned::new(vec![event(BlockId::SQ, 0, 4)]);
    for attribute in [6, 7] {
        owned.profile.command_buffer = Descriptor { ptr: std::ptr::null_mut(), size: 0 };
        // SAFETY: without a command buffer only the size is told.
        assert_eq!(unsafe { hsa_ven_amd_aqlprofile_get_info(&owned.profile, attribute, std::ptr::null_mut()) }, 0);
        let mut words = vec![0_u32; owned.profile.command_buffer.size as usize / 4];
        assert!(!words.is_empty());
        owned.profile.command_buffer.ptr = words.as_mut_ptr().cast();
        let mut packet = packet();
        // SAFETY: the buffer is as long as it says, and the value is a packet.
        assert_eq!(unsafe { hsa_ven_amd_aqlprofile_get_info(&owned.profile, attribute, (&raw mut packet).cast()) }, 0);
        submit(&CounterBank::new(), &packet);
    }
}

#[test]
fn nulls_and_other_types_are_errors() {
    let mut owned = Owned::new(vec![event(BlockId::SQ, 0, 4)]);
    let (mut none, mut value) = (packet(), 0_u32);
    // SAFETY: null is allowed, and an error.
    unsafe {
        assert_ne!(hsa_ven_amd_aqlprofile_start(std::ptr::null_mut(), &mut none), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_start(&mut owned.profile, std::ptr::null_mut()), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_read(null(), &mut none), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_get_info(null(), 0, (&raw mut value).cast()), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_get_info(&owned.profile, 0, std::ptr::null_mut()), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_get_info(&owned.profile, 77, (&raw mut value).cast()), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_iterate_data(&owned.profile, None, std::ptr::null_mut()), 0);
        assert_ne!(hsa_ven_amd_aqlprofile_error_string(std::ptr::null_mut()), 0);
        owned.profile.kind = 1;
        assert_ne!(hsa_ven_amd_aqlprofile_start(&mut owned.profile, &mut none), 0);
    }
    assert!(last_error().contains("thread traces"));
    assert_eq!(hsa_ven_amd_aqlprofile_legacy_get_pm4(&none, std::ptr::null_mut()), STATUS_ERROR);
}

#[test]
fn clocks_are_the_same_everywhere() {
    let each: Vec<_> = EVENTS.iter().filter(|event| event.spread == Spread::Each).collect();
    assert!(!each.is_empty());
    for sim in each {
        let mut owned = Owned::new(vec![event(sim.block, 0, sim.event)]);
        let [start, read, _] = owned.packets();
        let bank = CounterBank::new();
        submit(&bank, &start);
        bank.accumulate(&stats());
        submit(&bank, &read);
        assert!(owned.values().iter().all(|(.., value)| *value == 99), "{sim:?}");
    }
}
