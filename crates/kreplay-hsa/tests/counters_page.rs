//! docs/counters.md is written from the catalogue. `KREPLAY_WRITE_DOCS=1 cargo test -p kreplay-hsa --test
//! counters_page` writes it anew.

use kreplay_engine::Request;
use kreplay_hsa::counters::{Catalogue, Set};
use softgpu::pmc;
use std::fmt::Write as _;
use std::path::Path;

const INTRODUCTION: &str = "\
# Counters of AMD GPUs

<!-- Written by the test counters_page of kreplay-hsa; KREPLAY_WRITE_DOCS=1 writes it anew. -->

`kreplay counters` lists what a device can count, `kreplay plan -c …` tells in how many passes. Both work without the
device: they know the chips on this page. Where the device is there, its own library has the last word on what exists.

## How counting works

A chip has counter **blocks**: SQ counts waves and instructions, TA, TD and TCP the vector memory path through the L1,
TCC (GL2C on gfx11) the L2, SPI the launch of waves, GRBM clocks, CPC and CPF the command processor. Each instance of
a block has a few **slots**, and an event takes one slot in each instance. Values are sums over all instances.

Blocks count independently of each other. So with *n* events of a block that has *s* slots, *n/s* passes (rounded up)
are needed, and the largest such number over all blocks is both the least and what the planner makes. Among the plans
with that few passes it takes one in which the counters of a metric meet in one pass, as far as they are of one block.
Where they do not meet, the metric stands in the pass that completes it, and is computed from values of several
passes, which saw the same memory.

There are two ways of counting, and `kreplay plan` tells which pass takes which, and at what price. (A pass of *timing*
counts nothing: its dispatches have their times.)

**Ranges.** In a pass, one packet lets the counters run; one packet before and one after each dispatch read them; one
packet stops them. The value of a dispatch is the difference of its two readings. What kreplay itself runs between two
dispatches is not in it, and one reprogramming serves all dispatches of a window. Exact: the readings are ordered with
the dispatch on its queue. (CUDA: the Range Profiler makes each kernel between its start and stop a range; the driver
reads the multiprocessors' counters in each launch call, most of a kernel-pass's cost in a batch window on an H200, and
programming a pass costs many times that: see [performance](performance.md). Where the process is known to be alone on the
GPU the whole device is counted, which is the same and takes half to two thirds of that; else the context is: see [CUDA](cuda.md).)

**Fenced sampling.** The device streams samples: what each counter of a group counted in each interval of some
microseconds, idle or not. kreplay owns the launches of a replay, so it waits for an idle device before and after each
dispatch and lets a gap pass, so that no sample holds a part of two dispatches. Since counters add up, the sum over a
dispatch's samples is its count. Exact, because every count falls into some sample, and each of the dispatch's samples
holds nothing but this dispatch. While nobody knows when samples end the gap is longer than two of them: one whole
sample is idle, and a dispatch takes two to three. Once samples were decoded the *beat* is known, and the gap lasts to the
end of the sample in which the dispatch was over: a short dispatch takes one sample, which is what decoding costs it.
Whether it came out so is checked on the samples' own times, on every dispatch; and every 64 dispatches a gap holds idle samples all the
same, so that what else runs on the device is noticed. (A single stray kernel that falls into the samples of a dispatch is not: nothing
can tell it apart there. That is why nobody else may count or run on the GPU.) A dispatch costs its fence and not a
reading, and a group that stays programmed costs nothing between windows; another group costs a window a tenth of a second by the
planner's prices. A request that fits one group is counted in the program's own run: no replay, no snapshot.

What does not fit is discarded whole, with the reason in the dispatch's notes, and never guessed: a dispatch without
activity, a sample that two fences touch, activity that lies outside of all, missing
samples, samples of another programming. On CUDA, of samples that there was no room for (a full buffer, a full image) and of those that were decoded as
a dispatch ran, only the dispatches lose their values that they are missing for: sampling begins anew then, and what was decoded
before is whole. After two such windows in a row (on CUDA eight where it may well go better the next time) ranges count instead, and a
warning says so.

| | ranges | fenced sampling |
|---|---|---|
| AMD | every counter | not offered: the hardware's interface has no such stream |
| software GPU | every counter | every counter; equal to ranges on every kernel of every test program |
| NVIDIA | every metric of the Range Profiler; what only ranges can count: stall reasons, thread and opcode counts, throughputs | hundreds of a GH100's counters: cycles, instructions, pipes, warps, L1, L2 and DRAM traffic |

On an H200 the sampled sums of `sm__inst_executed`, `smsp__inst_executed`, `l1tex__t_bytes` and `l1tex__t_sectors` of 1000
kernels of ten kinds were Nsight Compute's to the last unit, each; how far L2 sectors, DRAM bytes and cycles, which vary
from run to run, were off stands in [performance](performance.md): ranges hold L2 traffic of their own. Three traps there: neighbours whose gap holds no end of a sample share one; a second
programming without disabling the first is accepted and changes nothing; and a decoding that begins while samples arrive loses a part
of them. All are told and discarded, and decodings begin where nothing arrives.

The planner weighs programming against dispatches: sampling's dear switch pays when a window holds many, and one group
alone always pays. The software GPU's own ways cost next to nothing; the planner gives it prices of the
kind that hardware has, so that its plans use both.

A metric that would divide by zero has no value and is left out.

## The software GPU

The software GPU counts under AMD's names and event numbers, with the slots of a gfx90a. Its values are **simulated**,
and are labelled so wherever they are shown. Counts of waves, instructions, lanes, lines and bytes are exact. Cycles
are a model: one for each wave instruction, as if one SIMD executed them one after the other, so metrics that are
shares of time are left out. There are no caches: every access goes through to memory. Counters whose real meaning is
not simulated (cache hits, stalls, latencies) are not offered. Counters named `SOFT_…` are its own; no hardware has
them.

What was only run on the software GPU: everything on this page but what it says of NVIDIA. The event numbers, slots and instances of real chips
are those that AMD publishes in the counter definitions of ROCm's profilers and in the block tables of its AQL profile
library.
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    simulated(&mut page);
    sets(&mut page);
    for chip in Catalogue::chips() {
        hardware(&mut page, &Catalogue::of(chip, false).expect("known"));
    }
    page
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("writing to a string");
}

fn simulated(page: &mut String) {
    let catalogue = Catalogue::of("gfx90a", true).expect("gfx90a");
    line(
        page,
        format_args!("\n| counter | block | event | unit | what the simulation counts |\n|---|---|--:|---|---|"),
    );
    for event in pmc::EVENTS {
        let counter = catalogue.counter(event.name).expect("the catalogue has what is simulated");
        let (name, block, id, unit) = (counter.name, counter.block, counter.event, counter.unit);
        line(page, format_args!("| `{name}` | {block} | {id} | {unit} | {} |", event.definition));
    }
}

/// The passes that a set needs, or a dash where the chip has nothing of it.
fn passes(catalogue: &Catalogue, set: &str) -> String {
    let request = Request { names: vec![set.to_owned()], repeat: 1, dispatches: 1 };
    catalogue.plan(&request).map_or_else(|_| "–".to_owned(), |plan| plan.passes.len().to_string())
}

fn sets(page: &mut String) {
    let soft = Catalogue::of("gfx90a", true).expect("gfx90a");
    let chips: Vec<Catalogue> = Catalogue::chips().filter_map(|chip| Catalogue::of(chip, false)).collect();
    line(page, format_args!("\n## Sets\n\nA name for what is usually asked together, and the passes that it needs."));
    let names: String = chips.iter().map(|chip| format!(" {} |", chip.chip())).collect();
    let rule = "--:|".repeat(chips.len() + 1);
    line(page, format_args!("\n| set | what it is for | software GPU |{names} members |\n|---|---|{rule}---|"));
    let mut known: Vec<&Set> = Vec::new();
    for set in chips.iter().chain([&soft]).flat_map(Catalogue::sets) {
        if !known.iter().any(|other| other.name == set.name) {
            known.push(set);
        }
    }
    for set in known {
        let counts: String = chips.iter().map(|chip| format!(" {} |", passes(chip, set.name))).collect();
        let mut members: Vec<&str> = Vec::new();
        for catalogue in chips.iter().chain([&soft]) {
            let same = catalogue.sets().iter().filter(|other| other.name == set.name);
            members.extend(same.flat_map(|other| &other.members).filter(|_| set.name != "all"));
        }
        members.sort_unstable();
        members.dedup();
        let members: Vec<String> = members.iter().map(|member| format!("`{member}`")).collect();
        let (name, what, soft) = (set.name, set.description, passes(&soft, set.name));
        line(page, format_args!("| `{name}` | {what} | {soft} |{counts} {} |", members.join(" ")));
    }
}

fn hardware(page: &mut String, catalogue: &Catalogue) {
    line(page, format_args!("\n## {}\n\n| block | slots | instances |\n|---|--:|--:|", catalogue.chip()));
    for block in catalogue.blocks() {
        line(page, format_args!("| {} | {} | {} |", block.name, block.slots, block.instances));
    }
    line(page, format_args!("\n| metric | unit | what it says | expression |\n|---|---|---|---|"));
    for metric in catalogue.metrics() {
        let (name, unit, what) = (metric.name, metric.unit, metric.description);
        line(page, format_args!("| `{name}` | {unit} | {what} | `{}` |", metric.formula));
    }
    line(page, format_args!("\n| counter | block | event | unit | what it counts |\n|---|---|--:|---|---|"));
    for counter in catalogue.counters() {
        let (name, block, id, unit) = (counter.name, counter.block, counter.event, counter.unit);
        line(page, format_args!("| `{name}` | {block} | {id} | {unit} | {} |", counter.description));
    }
}

#[test]
fn the_page_is_what_the_catalogue_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/counters.md");
    let page = page();
    if std::env::var_os("KREPLAY_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("writes the page");
    }
    let committed = std::fs::read_to_string(&path).expect("reads the page");
    let first = committed.lines().zip(page.lines()).position(|(one, other)| one != other);
    assert!(
        committed == page,
        "docs/counters.md differs from the catalogue (line {:?}); write it anew with KREPLAY_WRITE_DOCS=1",
        first.map(|line| line + 1)
    );
}
