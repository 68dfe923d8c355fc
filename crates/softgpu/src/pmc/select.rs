//! A choice of events that fits the slots.

use super::block::{Block, BlockId};
use super::event::{EVENTS, SimEvent, find};
use std::collections::BTreeMap;

/// One event of one instance, as a profile names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selected {
    /// The block.
    pub block: BlockId,
    /// Which of its instances.
    pub instance: u32,
    /// The event's number.
    pub event: u32,
}

/// Why events cannot be counted together.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SelectionError {
    /// No such block.
    #[error("block {0} does not exist on this device")]
    NoBlock(u32),
    /// No such instance.
    #[error("block {block} has {instances} instances; there is no instance {instance}")]
    NoInstance {
        /// The block's name.
        block: &'static str,
        /// How many it has.
        instances: u32,
        /// What was asked for.
        instance: u32,
    },
    /// The event is not simulated.
    #[error("event {event} of block {block} is not simulated")]
    NoEvent {
        /// The block's name.
        block: &'static str,
        /// What was asked for.
        event: u32,
    },
    /// More events than slots.
    #[error("block {block} has {slots} slots; instance {instance} cannot count another event at the same time")]
    NoSlot {
        /// The block's name.
        block: &'static str,
        /// Its slots.
        slots: u32,
        /// The instance that is full.
        instance: u32,
    },
}

impl Selected {
    /// The block and the event.
    ///
    /// # Errors
    /// [`SelectionError`] for what does not exist here.
    pub fn resolve(&self) -> Result<(&'static Block, usize), SelectionError> {
        let block = Block::find(self.block).ok_or(SelectionError::NoBlock(self.block.0))?;
        if self.instance >= block.instances {
            return Err(SelectionError::NoInstance {
                block: block.name,
                instances: block.instances,
                instance: self.instance,
            });
        }
        let event =
            find(self.block, self.event).ok_or(SelectionError::NoEvent { block: block.name, event: self.event })?;
        Ok((block, event))
    }
}

/// Events that fit the slots of their instances. There is no other way to make one, so none can hold too many.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    events: Vec<Selected>,
    /// For each event its block, and its place in [`EVENTS`].
    resolved: Vec<(&'static Block, usize)>,
}

impl Selection {
    /// Takes the events, in order, each into the next free slot of its instance.
    ///
    /// # Errors
    /// [`SelectionError`] for the first that does not exist or does not fit.
    pub fn new(events: &[Selected]) -> Result<Self, SelectionError> {
        let mut taken: BTreeMap<(BlockId, u32), u32> = BTreeMap::new();
        let mut resolved = Vec::with_capacity(events.len());
        for event in events {
            let (block, index) = event.resolve()?;
            resolved.push((block, index));
            let slots = taken.entry((event.block, event.instance)).or_default();
            *slots += 1;
            if *slots > block.slots {
                return Err(SelectionError::NoSlot { block: block.name, slots: block.slots, instance: event.instance });
            }
        }
        Ok(Self { events: events.to_vec(), resolved })
    }

    /// The events, in order.
    pub fn events(&self) -> &[Selected] {
        &self.events
    }

    /// Values that a read gives: for each event, in order, one a sample of its block.
    pub fn samples(&self) -> usize {
        self.resolved.iter().map(|(block, _)| block.samples() as usize).sum()
    }

    /// Each event with its block, its place in [`EVENTS`], and its simulation.
    pub(super) fn resolved(&self) -> impl Iterator<Item = (&Selected, &'static Block, usize, &'static SimEvent)> {
        let both = self.events.iter().zip(&self.resolved);
        both.map(|(event, &(block, index))| (event, block, index, &EVENTS[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sq(event: u32) -> Selected {
        Selected { block: BlockId::SQ, instance: 0, event }
    }

    #[test]
    fn eight_events_fit_sq_and_the_ninth_does_not() {
        let events: Vec<Selected> =
            EVENTS.iter().filter(|event| event.block == BlockId::SQ).map(|event| sq(event.event)).collect();
        assert!(events.len() > 8);
        assert!(Selection::new(&events[..8]).is_ok());
        let full = SelectionError::NoSlot { block: "SQ", slots: 8, instance: 0 };
        assert_eq!(Selection::new(&events[..9]).expect_err("full"), full);
    }

    #[test]
    fn each_instance_has_its_own_slots() {
        let tcc = |instance, event| Selected { block: BlockId::TCC, instance, event };
        let four = [3, 12, 13, 14];
        let both: Vec<Selected> = [0, 31].into_iter().flat_map(|at| four.map(|event| tcc(at, event))).collect();
        assert_eq!(Selection::new(&both).expect("fits").samples(), 8);
        let more: Vec<Selected> = both.iter().copied().chain([tcc(31, 38)]).collect();
        let full = SelectionError::NoSlot { block: "TCC", slots: 4, instance: 31 };
        assert_eq!(Selection::new(&more).expect_err("full"), full);
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let refused = |block, instance, event| {
            Selection::new(&[Selected { block, instance, event }]).expect_err("it does not exist")
        };
        assert_eq!(refused(BlockId(99), 0, 0), SelectionError::NoBlock(99));
        assert_eq!(refused(BlockId::SQ, 1, 4), SelectionError::NoInstance { block: "SQ", instances: 1, instance: 1 });
        // SQ_WAIT_ANY of a gfx90a exists there, but nothing waits here.
        assert_eq!(refused(BlockId::SQ, 0, 85), SelectionError::NoEvent { block: "SQ", event: 85 });
    }

    proptest::proptest! {
        /// A selection never holds more events of an instance than its slots, and takes every choice that fits.
        #[test]
        fn a_selection_is_taken_exactly_when_it_fits(picks in proptest::collection::vec((0..EVENTS.len(), 0_u32..40), 0..40)) {
            let events: Vec<Selected> = picks
                .iter()
                .map(|&(event, instance)| Selected { block: EVENTS[event].block, instance, event: EVENTS[event].event })
                .collect();
            let fits = events.iter().all(|event| {
                let block = Block::find(event.block).expect("block");
                let same = events.iter().filter(|o| (o.block, o.instance) == (event.block, event.instance)).count();
                event.instance < block.instances && same <= block.slots as usize
            });
            proptest::prop_assert_eq!(Selection::new(&events).is_ok(), fits);
        }
    }
}
