//! The agent's operations against the processor: on the fake driver everywhere, and on a GPU where there is one.

use super::*;
use crate::fake;
use kreplay_engine::{Agent, Answer, Chunk, ChunkMap, Move, Pair, Range, Tier, Towards};
use std::time::{Duration, Instant};

/// An agent of the fake driver.
pub(crate) fn fake_agent() -> CudaAgent {
    let context = Context(fake::CONTEXT as *mut std::ffi::c_void);
    CudaAgent::new(fake::fake_driver(), context, AgentId(1), "GH100").expect("the fake makes an agent")
}

/// An agent of the first GPU.
pub(crate) fn find_gpu() -> Result<CudaAgent, String> {
    let driver = Driver::load().map_err(|error| error.to_string())?;
    let context = driver.init().and_then(|()| driver.primary_context(0)).map_err(|error| error.to_string())?;
    CudaAgent::new(Arc::new(driver), context, AgentId(1), "GH100").map_err(|error| error.to_string())
}

/// The same, or `None` with a line where there is none.
pub(crate) fn gpu_agent() -> Option<CudaAgent> {
    match find_gpu() {
        Ok(agent) => Some(agent),
        Err(why) => {
            assert!(std::env::var_os("KREPLAY_NO_SKIP_GPU").is_none(), "this test needs a GPU: {why}");
            println!("skipped: no GPU ({why})");
            None
        }
    }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Bytes that look random and differ from seed to seed.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

/// Memory of the agent with content, and a way to read it back.
pub(crate) struct Buffer<'a> {
    agent: &'a CudaAgent,
    pub(crate) base: u64,
    bytes: usize,
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(agent: &'a CudaAgent, tier: Tier, content: &[u8]) -> Self {
        let backing = agent.allocate(tier, content.len().max(1) as u64).expect("there is room");
        let buffer = Self { agent, base: backing.range.base, bytes: content.len() };
        buffer.write(content);
        buffer
    }

    pub(crate) fn write(&self, content: &[u8]) {
        let staging = self.agent.allocate(Tier::Host, content.len().max(1) as u64).expect("there is room");
        // SAFETY: pinned host memory of this size.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), staging.range.base as *mut u8, content.len()) };
        let one = Move { to: self.base, from: staging.range.base, bytes: content.len() as u64 };
        self.agent.copy(&[one]).expect("copied");
        self.agent.settle(soon()).expect("settled");
        self.agent.free(staging);
    }

    pub(crate) fn read(&self) -> Vec<u8> {
        let staging = self.agent.allocate(Tier::Host, self.bytes.max(1) as u64).expect("there is room");
        let one = Move { to: staging.range.base, from: self.base, bytes: self.bytes as u64 };
        self.agent.copy(&[one]).expect("copied");
        self.agent.settle(soon()).expect("settled");
        // SAFETY: pinned host memory of this size, written by the copy.
        let content = unsafe { std::slice::from_raw_parts(staging.range.base as *const u8, self.bytes) }.to_vec();
        self.agent.free(staging);
        content
    }
}

/// Ranges of a buffer: aligned and not, with heads and tails, small and large.
const SHAPES: &[(usize, usize)] = &[
    (0, 4096),
    (4096, 1),
    (8192, 15),
    (8224, 17),
    (12_288, 4096 * 3 + 100),
    (28_001, 5000),
    (40_960, 262_144),
    (400_003, 70_001),
];
const SIZE: usize = 512 << 10;

fn chunks() -> [Chunk; 5] {
    [64, 256, 4096, 16_384, 1 << 20].map(|bytes| Chunk::new(bytes).expect("a power of two"))
}

pub(crate) fn maps(answer: Answer) -> Vec<ChunkMap> {
    match answer {
        Answer::Chunks(maps) => maps,
        Answer::Hashes(_) => panic!("a comparison gives maps"),
    }
}

pub(crate) fn expected_map(a: &[u8], b: &[u8], chunk: Chunk) -> ChunkMap {
    let mut map = ChunkMap::new(chunk.count(a.len() as u64));
    let size = chunk.bytes() as usize;
    for (index, (a, b)) in a.chunks(size).zip(b.chunks(size)).enumerate() {
        if a != b {
            map.mark(index as u64);
        }
    }
    map
}

/// Copies of SHAPES with `shift` bytes between the two sides' alignment.
fn check_compare(agent: &CudaAgent, tier: Tier, shift: usize, towards: Option<Towards>) {
    for chunk in chunks() {
        let memory = noise(SIZE, 1);
        let mut shadow = vec![0xEE; SIZE + 64];
        shadow[shift..SIZE + shift].copy_from_slice(&memory);
        // Differences at first and last bytes, in the middle, and a run over several chunks.
        for (start, bytes) in SHAPES {
            for at in [*start, start + bytes - 1, start + bytes / 2] {
                shadow[shift + at] ^= 0x40;
            }
        }
        for at in 100_000..140_000 {
            shadow[shift + at] ^= 1;
        }
        let (m, s) = (Buffer::new(agent, Tier::Device, &memory), Buffer::new(agent, tier, &shadow));
        let pairs: Vec<Pair> = SHAPES
            .iter()
            .map(|(at, bytes)| Pair {
                memory: m.base + *at as u64,
                shadow: s.base + (at + shift) as u64,
                bytes: *bytes as u64,
            })
            .collect();
        let ticket = match towards {
            None => agent.compare(&pairs, chunk),
            Some(towards) => agent.synchronise(&pairs, chunk, towards),
        };
        let found = maps(agent.answer(ticket.expect("asked"), soon()).expect("answered"));
        for ((at, bytes), map) in SHAPES.iter().zip(&found) {
            let (a, b) = (&memory[*at..at + bytes], &shadow[at + shift..at + shift + bytes]);
            assert_eq!(*map, expected_map(a, b, chunk), "shape {at} + {bytes}, chunk {}", chunk.bytes());
        }
        let (mut expected_m, mut expected_s) = (memory.clone(), shadow.clone());
        for (at, bytes) in SHAPES {
            match towards {
                None => {}
                Some(Towards::Shadow) => {
                    expected_s[at + shift..at + shift + bytes].copy_from_slice(&memory[*at..at + bytes]);
                }
                Some(Towards::Memory) => {
                    expected_m[*at..at + bytes].copy_from_slice(&shadow[at + shift..at + shift + bytes]);
                }
            }
        }
        assert!(
            m.read() == expected_m && s.read() == expected_s,
            "{towards:?}, shift {shift}, chunk {}",
            chunk.bytes()
        );
    }
}

fn check_copy(agent: &CudaAgent) {
    for shift in [0, 1, 16] {
        let (source, poison) = (noise(SIZE, 3), vec![0xEE; SIZE + 64]);
        let (from, to) = (Buffer::new(agent, Tier::Device, &source), Buffer::new(agent, Tier::Device, &poison));
        let moves: Vec<Move> = SHAPES
            .iter()
            .map(|(at, bytes)| Move {
                to: to.base + (at + shift) as u64,
                from: from.base + *at as u64,
                bytes: *bytes as u64,
            })
            .collect();
        agent.copy(&moves).expect("copied");
        let mut expected = poison;
        for (at, bytes) in SHAPES {
            expected[at + shift..at + shift + bytes].copy_from_slice(&source[*at..at + bytes]);
        }
        assert!(to.read() == expected, "shift {shift}");
    }
}

fn check_hash(agent: &CudaAgent) {
    let content = noise(SIZE, 5);
    let buffer = Buffer::new(agent, Tier::Device, &content);
    for chunk in chunks() {
        let ranges: Vec<Range> =
            SHAPES.iter().map(|(at, bytes)| Range::new(buffer.base + *at as u64, *bytes as u64)).collect();
        let ticket = agent.hash(&ranges, chunk).expect("asked");
        let Answer::Hashes(found) = agent.answer(ticket, soon()).expect("answered") else { panic!("hashes") };
        let expected: Vec<u64> = SHAPES
            .iter()
            .flat_map(|(at, bytes)| content[*at..at + bytes].chunks(chunk.bytes() as usize).map(fake::hash))
            .collect();
        assert_eq!(found, expected, "chunk {}", chunk.bytes());
    }
}

fn check_everything(agent: &CudaAgent) {
    check_copy(agent);
    check_hash(agent);
    for towards in [None, Some(Towards::Shadow), Some(Towards::Memory)] {
        for shift in [0, 16, 3] {
            check_compare(agent, Tier::Device, shift, towards);
        }
        check_compare(agent, Tier::Host, 0, towards);
    }
}

#[test]
fn operations_on_the_fake_driver_are_those_of_the_processor() {
    check_everything(&fake_agent());
}

#[test]
fn operations_on_a_gpu_are_those_of_the_processor() {
    if let Some(agent) = gpu_agent() {
        check_everything(&agent);
    }
}

#[test]
fn errors_of_the_driver_become_the_engines() {
    let agent = fake_agent();
    fake::script("cuMemHostAlloc", &[2]);
    let error = agent.allocate(Tier::Host, 4096).expect_err("out of memory");
    assert_eq!(error, AgentError::Exhausted { tier: Tier::Host, bytes: 4096 });
    assert!(agent.allocate(Tier::Host, 4096).is_ok());
    let lost = fake_agent();
    let error = lost.error(CudaError { call: "cuLaunchKernelEx", status: 700, name: "an illegal address".into() });
    assert!(matches!(error, AgentError::Lost(_)));
    assert!(matches!(lost.memory(), Err(AgentError::Lost(message)) if message.contains("cuLaunchKernelEx")));
}

#[test]
fn a_drain_waits_for_every_stream_and_gives_up_in_time() {
    let agent = fake_agent();
    let stream = Stream(0x5151_0000 as *mut std::ffi::c_void);
    agent.stream_born(stream);
    fake::set_busy(stream.raw(), true);
    let error = agent.drain(Instant::now() + Duration::from_millis(5)).expect_err("it is busy");
    assert!(matches!(error, AgentError::Deadline { .. }));
    fake::set_busy(stream.raw(), false);
    agent.drain(soon()).expect("idle");
    fake::set_busy(stream.raw(), true);
    agent.stream_retired(stream);
    agent.drain(soon()).expect("a stream that is gone is not waited for");
    fake::set_busy(stream.raw(), false);
}

#[test]
fn a_ticket_is_answered_once_and_settling_drops_it() {
    let agent = fake_agent();
    let buffer = Buffer::new(&agent, Tier::Device, &noise(8192, 9));
    let pair = Pair { memory: buffer.base, shadow: buffer.base + 4096, bytes: 4096 };
    let ticket = agent.compare(&[pair], Chunk::DEFAULT).expect("asked");
    let again = kreplay_engine::Ticket(ticket.0);
    assert_eq!(maps(agent.answer(ticket, soon()).expect("answered"))[0].count(), 1);
    assert!(agent.answer(again, soon()).is_err());
    let dropped = agent.compare(&[pair], Chunk::DEFAULT).expect("asked");
    agent.settle(soon()).expect("settled");
    assert!(agent.answer(dropped, soon()).is_err());
}

/// Hashes of one table are brought to the host together. Each is of memory as it was when it was asked for, in whatever
/// order they are answered, and also where others were never asked about.
fn check_shared_hashes(agent: &CudaAgent) {
    let bytes = 20_000;
    let buffer = Buffer::new(agent, Tier::Device, &noise(bytes, 1));
    let other = Buffer::new(agent, Tier::Device, &noise(bytes, 2));
    let chunk = Chunk::DEFAULT;
    let ranges = [Range::new(buffer.base, 9000), Range::new(buffer.base + 9000, bytes as u64 - 9000)];
    let pair = Pair { memory: buffer.base, shadow: other.base, bytes: bytes as u64 };
    let contents: Vec<Vec<u8>> = (10..30).map(|seed| noise(bytes, seed)).collect();
    let sources: Vec<Buffer<'_>> = contents.iter().map(|content| Buffer::new(agent, Tier::Device, content)).collect();
    let expected = |content: &[u8]| -> Vec<u64> {
        let (first, second) = content.split_at(9000);
        [first, second].iter().flat_map(|part| part.chunks(chunk.bytes() as usize).map(fake::hash)).collect()
    };
    let ask = |source: &Buffer<'_>| {
        let fill = Move { to: buffer.base, from: source.base, bytes: bytes as u64 };
        agent.copy(&[fill]).expect("copied");
        agent.hash(&ranges, chunk).expect("asked")
    };
    for asked in [1, 4, 20] {
        let mut tickets: Vec<_> = sources[..asked].iter().map(|source| Some(ask(source))).collect();
        let compared = agent.compare(&[pair], chunk).expect("asked");
        // The last one first; what is asked for after that joins nobody.
        for at in (0..asked).rev() {
            let late = ask(&sources[at]);
            for ticket in [tickets[at].take().expect("asked"), late] {
                let Answer::Hashes(found) = agent.answer(ticket, soon()).expect("answered") else { panic!("hashes") };
                assert_eq!(found, expected(&contents[at]), "{at} of {asked}");
            }
        }
        assert_eq!(maps(agent.answer(compared, soon()).expect("answered"))[0].count(), chunk.count(bytes as u64));
        let dropped: Vec<_> = sources[..asked].iter().map(ask).collect();
        agent.settle(soon()).expect("settled");
        dropped.into_iter().for_each(|ticket| assert!(agent.answer(ticket, soon()).is_err()));
    }
}

#[test]
fn hashes_that_share_a_slot_are_those_of_their_time() {
    check_shared_hashes(&fake_agent());
}

#[test]
fn hashes_that_share_a_slot_are_those_of_their_time_on_a_gpu() {
    if let Some(agent) = gpu_agent() {
        check_shared_hashes(&agent);
    }
}

#[test]
fn recorded_launches_pass_the_same_arguments_in_both_forms() {
    use crate::fake::add_kernel;
    use std::sync::Mutex;
    let seen: Arc<Mutex<Vec<(u64, u32)>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let layout = [(0usize, 8usize), (8, 4)];
    let handle = add_kernel(
        "two_arguments",
        &layout,
        Arc::new(move |_, arguments| {
            // SAFETY: the layout above.
            let values = unsafe { (*arguments[0].cast::<u64>(), *arguments[1].cast::<u32>()) };
            sink.lock().expect("no panic").push(values);
        }),
    );
    let agent = fake_agent();
    let function = Function(handle as *mut std::ffi::c_void);
    let found = ParameterLayout::of(agent.driver(), function).expect("the fake knows it");
    assert_eq!((found.parameters.clone(), found.bytes()), (layout.to_vec(), 12));
    let mut bytes = 0x1122_3344_5566_7788u64.to_le_bytes().to_vec();
    bytes.extend(7u32.to_le_bytes());
    for form in [LaunchForm::Pointers(Arc::new(found)), LaunchForm::Packed] {
        let work = CudaWork::Launch(Launch {
            function,
            grid: [2, 1, 1],
            block: [32, 1, 1],
            shared: 0,
            attributes: vec![work::cooperative_attribute()],
            arguments: bytes.clone().into(),
            form,
        });
        agent.submit(&work).expect("launched");
        agent.submit(&work).expect("launched again");
    }
    assert_eq!(*seen.lock().expect("no panic"), [(0x1122_3344_5566_7788, 7); 4]);
}
