//! The profiles of one group of counters: one for each reading, all of the same events.
//!
//! A read packet always stores to the output buffer that its profile was started with, so every reading of a window has
//! a profile of its own; the start packet of the first lets the counters of all count. Command lists depend on nothing
//! but events and buffers, so profiles are made once and used again in every window of the same plan.

use super::catalogue::{Catalogue, Counter};
use super::ffi::{Event, INFO_COMMAND_BUFFER_SIZE, INFO_PMC_DATA_SIZE, INVALID_ARGUMENT, Packet, Profile};
use super::library::Library;
use super::queue::{PacketQueue, SharedBuffer, VENDOR_HEADER};
use kreplay_engine::CountersError;
use std::ffi::c_void;
use std::sync::Arc;

/// What outputs hold before the device writes them. No counter of 64 bits reaches the high half. Of some counters (SQ on gfx11) the
/// device stores the low half only; there one value in four thousand million looks as if it was not stored, and the low
/// half is none that counting up or down from zero soon reaches.
const POISON: u64 = 0xffff_ffff_a6c5_3b5d;
/// Buffers lie at multiples of this in a block.
const ALIGN: usize = 256;
/// Profiles that get their memory in one allocation.
const AT_ONCE: usize = 16;

/// A group of counters that are counted together.
pub(super) struct Group<Q: PacketQueue> {
    queue: Arc<Q>,
    library: Library,
    agent: u64,
    pub(super) counters: Vec<Counter>,
    pub(super) events: Arc<[Event]>,
    /// Bytes of a command buffer and of an output buffer.
    sizes: (usize, usize),
    /// Command and output memory of [`AT_ONCE`] readings each.
    blocks: Vec<(SharedBuffer, SharedBuffer)>,
}

/// Which packet of a profile.
#[derive(Clone, Copy)]
enum Kind {
    Start,
    Read,
    Stop,
}

impl<Q: PacketQueue> Group<Q> {
    /// A group of counters of the catalogue.
    pub(super) fn new(
        queue: Arc<Q>,
        library: Library,
        agent: u64,
        catalogue: &Catalogue,
        counters: Vec<Counter>,
    ) -> Result<Self, CountersError> {
        let mut events = Vec::new();
        for counter in &counters {
            let block = catalogue.block(counter.block).copied().ok_or_else(|| {
                CountersError::Unavailable(format!("this device has no counter block {}", counter.block))
            })?;
            let instances = 0..block.instances;
            events.extend(instances.map(|instance| Event { block: block.id, instance, event: counter.event }));
        }
        let number = |attribute, call| library.number(agent, &events, attribute, call);
        let commands = number(INFO_COMMAND_BUFFER_SIZE, "hsa_ven_amd_aqlprofile_get_info(COMMAND_BUFFER_SIZE)")?;
        let output = number(INFO_PMC_DATA_SIZE, "hsa_ven_amd_aqlprofile_get_info(PMC_DATA_SIZE)")?;
        let sizes = (commands as usize, output as usize);
        let mut group = Self { queue, library, agent, counters, events: events.into(), sizes, blocks: Vec::new() };
        group.grow()?;
        Ok(group)
    }

    /// The packet that lets the group count.
    pub(super) fn start(&self) -> Result<Packet, CountersError> {
        self.packet(Kind::Start, 0)
    }

    /// The packet that ends counting.
    pub(super) fn stop(&self) -> Result<Packet, CountersError> {
        self.packet(Kind::Stop, 0)
    }

    /// The packet of reading number `index`, whose output is poisoned for it. The reading's last use has been settled.
    pub(super) fn read(&mut self, index: usize) -> Result<Packet, CountersError> {
        while index >= self.blocks.len() * AT_ONCE {
            self.grow()?;
        }
        // SAFETY: the queue's promise for its buffers; nobody else uses this reading's part now.
        unsafe { std::slice::from_raw_parts_mut(self.output(index) as *mut u64, self.sizes.1 / 8) }.fill(POISON);
        self.packet(Kind::Read, index)
    }

    /// What reading number `index` stored: each event with a sample's value. The device has settled.
    pub(super) fn stored(&self, index: usize) -> Vec<u64> {
        if index >= self.blocks.len() * AT_ONCE {
            return Vec::new();
        }
        // SAFETY: the queue's promise for its buffers.
        unsafe { std::slice::from_raw_parts(self.output(index) as *const u64, self.sizes.1 / 8) }.to_vec()
    }

    fn output(&self, index: usize) -> u64 {
        let stride = self.sizes.1.next_multiple_of(ALIGN);
        self.blocks[index / AT_ONCE].1.address + (index % AT_ONCE * stride) as u64
    }

    fn profile(&self, index: usize) -> Profile {
        let stride = self.sizes.0.next_multiple_of(ALIGN);
        let commands = self.blocks[index / AT_ONCE].0.address as usize + index % AT_ONCE * stride;
        let mut profile = Profile::of(self.agent, &self.events);
        (profile.commands.ptr, profile.commands.size) = (commands as *mut c_void, self.sizes.0 as u32);
        (profile.output.ptr, profile.output.size) = (self.output(index) as *mut c_void, self.sizes.1 as u32);
        profile
    }

    fn packet(&self, kind: Kind, index: usize) -> Result<Packet, CountersError> {
        let mut profile = self.profile(index);
        let mut packet: Packet = [0; 16];
        let (call, status) = match kind {
            // SAFETY: the profile's events and buffers live, and are as long as they say.
            Kind::Start => ("start", unsafe { (self.library.start)(&raw mut profile, &raw mut packet) }),
            // SAFETY: as above.
            Kind::Read => ("read", unsafe { (self.library.read)(&raw const profile, &raw mut packet) }),
            // SAFETY: as above.
            Kind::Stop => ("stop", unsafe { (self.library.stop)(&raw const profile, &raw mut packet) }),
        };
        self.library.check(call, status)?;
        packet[0] = packet[0] & !0xffff | VENDOR_HEADER;
        Ok(packet)
    }

    /// Makes profiles for [`AT_ONCE`] more readings, and fills their command buffers.
    fn grow(&mut self) -> Result<(), CountersError> {
        let needed = match self.try_grow() {
            Err(Grow::Short(needed)) => needed,
            Err(Grow::Failed(error)) => return Err(error),
            Ok(()) => return Ok(()),
        };
        // A library that tells sizes by rule of thumb says what it needs when that was too little. All readings of a
        // group need the same, so this can only be the first block.
        self.sizes = (self.sizes.0.max(needed.0), self.sizes.1.max(needed.1));
        match self.try_grow() {
            Err(Grow::Short(_)) => Err(CountersError::Failed {
                call: "start",
                status: "the AQL profile library asks for larger buffers every time".to_owned(),
            }),
            Err(Grow::Failed(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    fn try_grow(&mut self) -> Result<(), Grow> {
        let (commands, output) = self.sizes;
        let first = self.queue.alloc_command(commands.next_multiple_of(ALIGN) * AT_ONCE).map_err(Grow::Failed)?;
        let second = match self.queue.alloc_output(output.next_multiple_of(ALIGN) * AT_ONCE) {
            Ok(second) => second,
            Err(error) => {
                self.queue.free(first);
                return Err(Grow::Failed(error));
            }
        };
        self.blocks.push((first, second));
        let filled = self.fill((self.blocks.len() - 1) * AT_ONCE);
        if filled.is_err()
            && let Some((first, second)) = self.blocks.pop()
        {
            self.queue.free(first);
            self.queue.free(second);
        }
        filled
    }

    /// Lets the library write the command lists of the readings from `first`.
    fn fill(&self, first: usize) -> Result<(), Grow> {
        for index in first..first + AT_ONCE {
            let mut profile = self.profile(index);
            let mut packet: Packet = [0; 16];
            // SAFETY: the profile's events and buffers live, and are as long as they say.
            let status = unsafe { (self.library.start)(&raw mut profile, &raw mut packet) };
            let needed = (profile.commands.size as usize, profile.output.size as usize);
            if status == INVALID_ARGUMENT && (needed.0 > self.sizes.0 || needed.1 > self.sizes.1) {
                return Err(Grow::Short(needed));
            }
            self.library.check("start", status).map_err(Grow::Failed)?;
        }
        Ok(())
    }
}

/// Why no more readings could be had.
enum Grow {
    /// Buffers of these sizes, of commands and output, are needed.
    Short((usize, usize)),
    Failed(CountersError),
}

impl<Q: PacketQueue> Drop for Group<Q> {
    fn drop(&mut self) {
        for (commands, output) in self.blocks.drain(..) {
            self.queue.free(commands);
            self.queue.free(output);
        }
    }
}

/// Whether the device has stored no value at all into what a reading should have stored.
pub(super) fn untouched(values: &[(Event, u64)]) -> bool {
    values.iter().any(|(_, value)| *value == POISON)
}

/// Whether the device has stored the low half of a value only.
pub(super) fn is_narrow(value: u64) -> bool {
    value >> 32 == POISON >> 32
}
