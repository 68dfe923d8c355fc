//! Threads that read the values out of counter images, beside the one that decodes.

use super::collect::{Collected, Taken};
use super::sampler::{MakeValues, SamplerError, Values};
use crate::counters::Guarded;
use crate::counters::beside::beside;
use crate::counters::planning::sample_group::SampleGroup;
use crate::counters::ranges::images::zeroed;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

/// Most bytes of images on their way, so that a slow evaluation holds decoding back instead of filling memory.
const MOST_BYTES: usize = 192 << 20;
/// Most bytes of images that are kept for the next pass, of several groups: making storage anew takes long.
const MOST_HELD: usize = 192 << 20;
/// Images that may be on their way in any case.
const LEAST_IMAGES: usize = 3;
/// Images that are made while the hardware is programmed.
const STOCK: usize = 3;

/// An empty image.
pub(super) type Blank = Arc<Vec<u8>>;

/// An image with samples in it.
pub(super) struct Filled {
    pub(super) image: Vec<u8>,
    /// What it is again once it was read.
    pub(super) empty: Blank,
    pub(super) times: Vec<(u64, u64)>,
    /// Samples at the beginning that are nobody's.
    pub(super) skip: usize,
    pub(super) collected: Arc<Collected>,
    /// Its place among the segment's images.
    pub(super) place: u32,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Filled>,
    /// Empty images to be made when there is nothing to read.
    wanted: Vec<Blank>,
    /// What images are needed like now.
    current: Option<Blank>,
    /// Images to be used again, with their empty one: as long as it is held no other one is taken for it.
    free: Vec<(Blank, Vec<u8>)>,
    /// Images in the queue or being read.
    out: usize,
    closed: bool,
}

impl State {
    fn is_ready(&self) -> bool {
        self.current.as_ref().is_some_and(|current| self.count(current) > 0)
    }

    /// How many images like `empty` are free.
    fn count(&self, empty: &Blank) -> usize {
        self.free.iter().filter(|(of, _)| Arc::ptr_eq(of, empty)).count()
    }

    /// Storage of other groups makes room for an image of so many bytes.
    fn make_room(&mut self, bytes: usize) {
        let held: usize = self.free.iter().map(|(_, image)| image.len()).sum();
        if held + bytes > MOST_HELD {
            self.free.clear();
        }
    }
}

/// The threads, and the images that they share with the decoder.
#[derive(Clone)]
pub(super) struct Workers(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    make: MakeValues,
    threads: usize,
}

impl Workers {
    /// Starts them.
    pub(super) fn start(make: MakeValues) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut workers = Self(Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            make,
            threads: (cores / 3).clamp(1, 5),
        }));
        let started = (0..workers.0.threads)
            .filter(|_| {
                let shared = Arc::clone(&workers.0);
                beside("kreplay-values", move || work(&shared))
            })
            .count();
        if started == 0
            && let Some(shared) = Arc::get_mut(&mut workers.0)
        {
            shared.threads = 0;
        }
        workers
    }

    /// Images like `empty` are going to be needed: some are made on the threads, unless there are. Waits for the first.
    pub(super) fn stock(&self, empty: &Blank) {
        let mut state = self.0.state.guarded();
        state.current = Some(Blank::clone(empty));
        if self.0.threads == 0 {
            return;
        }
        let there = state.count(empty);
        // What was programmed before is not needed any more.
        state.wanted = vec![Blank::clone(empty); STOCK.saturating_sub(there)];
        self.0.changed.notify_all();
        while !state.is_ready() {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`Workers::image`] would not wait, nor make one.
    pub(super) fn is_ready(&self) -> bool {
        self.0.state.guarded().is_ready()
    }

    /// An empty image like `empty`. Waits while very many are on their way.
    pub(super) fn image(&self, empty: &Blank) -> Vec<u8> {
        let most = most(empty);
        let mut state = self.0.state.guarded();
        while state.out >= most {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let at = state.free.iter().rposition(|(of, _)| Arc::ptr_eq(of, empty));
        let used = at.map(|at| state.free.swap_remove(at));
        if used.is_none() {
            state.make_room(empty.len());
        }
        drop(state);
        used.map_or_else(|| copy(empty), |(_, image)| image)
    }

    /// An image was not needed, and is as empty as it was.
    pub(super) fn unused(&self, empty: &Blank, image: Vec<u8>) {
        self.0.state.guarded().free.push((Blank::clone(empty), image));
    }

    /// Reads an image, here where no thread could be had.
    pub(super) fn read(&self, filled: Filled) {
        if self.0.threads == 0 {
            read(filled, &self.0.make, &mut Readers::new());
            return;
        }
        let mut state = self.0.state.guarded();
        state.out += 1;
        state.queue.push_back(filled);
        drop(state);
        self.0.changed.notify_all();
    }

    /// The threads end when the queue is empty.
    pub(super) fn close(&self) {
        self.0.state.guarded().closed = true;
        self.0.changed.notify_all();
    }
}

/// How many images may be on their way.
fn most(empty: &Blank) -> usize {
    (MOST_BYTES / empty.len().max(1)).max(LEAST_IMAGES)
}

/// Storage like `empty`.
fn copy(empty: &Blank) -> Vec<u8> {
    let mut image = zeroed(empty.len());
    image.copy_from_slice(empty);
    image
}

/// What reads values, by group. A group that is gone keeps its address, so that no other one is taken for it.
type Readers = Vec<(Weak<SampleGroup>, Box<dyn Values>)>;

/// What reads values of a group, made where there is none. Groups go with their contexts.
fn reader<'r>(
    readers: &'r mut Readers,
    make: &MakeValues,
    group: &Arc<SampleGroup>,
) -> Result<&'r dyn Values, SamplerError> {
    let known = readers.iter().position(|(of, _)| of.as_ptr() == Arc::as_ptr(group));
    let at = match known {
        Some(at) => at,
        None => {
            readers.retain(|(of, _)| of.strong_count() > 0);
            readers.push((Arc::downgrade(group), make(group)?));
            readers.len() - 1
        }
    };
    Ok(&*readers[at].1)
}

fn work(shared: &Shared) {
    let mut readers = Readers::new();
    loop {
        let mut state = shared.state.guarded();
        let filled = loop {
            if let Some(filled) = state.queue.pop_front() {
                break filled;
            }
            if state.closed {
                return;
            }
            if let Some(empty) = state.wanted.pop() {
                state.make_room(empty.len());
                drop(state);
                let image = copy(&empty);
                state = shared.state.guarded();
                state.free.push((empty, image));
                shared.changed.notify_all();
            } else {
                state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        drop(state);
        let empty = Blank::clone(&filled.empty);
        let image = read(filled, &shared.make, &mut readers);
        let mut state = shared.state.guarded();
        state.out -= 1;
        state.free.extend(image.map(|image| (empty, image)));
        drop(state);
        shared.changed.notify_all();
    }
}

/// Reads an image and gives it back empty; `None` where that went wrong.
fn read(filled: Filled, make: &MakeValues, readers: &mut Readers) -> Option<Vec<u8>> {
    let Filled { mut image, empty, mut times, skip, collected, place } = filled;
    times.drain(..skip.min(times.len()));
    let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| -> Result<_, SamplerError> {
        let group = collected.group();
        let reader = reader(readers, make, group)?;
        let terms = group.terms.len();
        let mut values = vec![0.0; times.len() * terms];
        for (index, into) in values.chunks_exact_mut(terms).enumerate() {
            reader.values(&image, skip + index, into)?;
        }
        Ok(values)
    }));
    let taken = match taken {
        Ok(Ok(values)) => Ok(Taken { times, values }),
        Ok(Err(error)) => Err(super::failed(&error)),
        Err(_) => Err(kreplay_engine::CountersError::Discarded("evaluating samples panicked".into())),
    };
    collected.take(place, taken);
    image.copy_from_slice(&empty);
    Some(image)
}
