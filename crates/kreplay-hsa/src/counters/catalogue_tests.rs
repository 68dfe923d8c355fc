//! The catalogue as a whole.

use super::*;
use softgpu::pmc;
use std::collections::BTreeMap;

fn all() -> Vec<Catalogue> {
    Catalogue::chips()
        .flat_map(|chip| [false, true].into_iter().filter_map(|simulated| Catalogue::of(chip, simulated)))
        .collect()
}

fn request(names: &[&str]) -> Request {
    Request { names: names.iter().map(|name| (*name).to_owned()).collect(), repeat: 0, dispatches: 1 }
}

fn soft() -> Catalogue {
    Catalogue::of("gfx90a", true).expect("gfx90a")
}

fn names(pass: &PlannedPass) -> Vec<&str> {
    pass.counters.iter().map(|counter| &*counter.name).collect()
}

#[test]
fn names_are_unique_and_blocks_exist() {
    for catalogue in all() {
        let mut seen = BTreeMap::new();
        let every = catalogue.names().inspect(|name| {
            *seen.entry(*name).or_insert(0) += 1;
        });
        assert!(every.count() > 8);
        assert!(seen.values().all(|times| *times == 1), "{}: {seen:?}", catalogue.chip());
        let mut events = std::collections::BTreeSet::new();
        for counter in catalogue.counters() {
            assert!(catalogue.block(counter.block).is_some(), "{counter:?}");
            assert!(events.insert((counter.block, counter.event)), "{}: {counter:?} twice", catalogue.chip());
            assert!(!counter.unit.is_empty() && !counter.description.is_empty(), "{counter:?}");
        }
    }
}

#[test]
fn agents_are_known_by_their_hsa_names() {
    assert_eq!(Catalogue::of("gfx90a:sramecc+:xnack-", false).expect("MI200").chip(), "gfx90a");
    assert_eq!(Catalogue::of("gfx941", false).expect("MI300").chip(), "gfx942");
    assert_eq!(Catalogue::of("gfx1101", false).expect("RDNA3").chip(), "gfx1100");
    assert_eq!(Catalogue::of("gfx942", true), None, "the software GPU is a gfx90a");
    for unknown in ["gfx900", "gfx9", "", "AMD EPYC 7R13"] {
        assert_eq!(Catalogue::of(unknown, false), None, "{unknown}");
    }
}

/// What is written down about the software GPU is what the software GPU says.
#[test]
fn the_software_gpu_offers_exactly_what_is_written_here() {
    let catalogue = soft();
    let here: BTreeMap<&str, (u32, u32)> = catalogue
        .counters()
        .iter()
        .map(|counter| (counter.name, (catalogue.block(counter.block).expect("block").id, counter.event)))
        .collect();
    let there: BTreeMap<&str, (u32, u32)> =
        pmc::EVENTS.iter().map(|event| (event.name, (event.block.0, event.event))).collect();
    assert_eq!(here, there);
    for block in catalogue.blocks() {
        let sim = pmc::Block::named(block.name).expect("block");
        assert_eq!((block.id, block.slots, block.instances), (sim.id.0, sim.slots, sim.instances), "{}", block.name);
    }
}

/// Shares of a time that is only a model would look like findings.
#[test]
fn the_software_gpu_has_no_metrics_of_time() {
    assert!(Catalogue::of("gfx90a", false).expect("gfx90a").metric("VALUBusy").is_some());
    assert!(soft().metric("VALUBusy").is_none() && soft().metric("LDSBankConflict").is_none());
    assert!(soft().metric("VALUUtilization").is_some());
}

#[test]
fn basic_is_one_pass() {
    for catalogue in all() {
        assert_eq!(catalogue.plan(&request(&["basic"])).expect("plans").passes.len(), 1, "{}", catalogue.chip());
    }
}

#[test]
fn slots_decide_the_number_of_passes() {
    let catalogue = soft();
    let sq: Vec<&str> = catalogue.counters().iter().filter(|c| c.block == "SQ").map(|c| c.name).collect();
    let passes = |names: &[&str]| catalogue.plan(&request(names)).expect("plans").passes;
    assert_eq!(passes(&sq[..8]).len(), 1);
    assert_eq!(passes(&sq[..9]).len(), 2);
    assert_eq!(passes(&sq).len(), sq.len().div_ceil(8));
    // Blocks do not take each other's slots.
    let mixed: Vec<&str> = sq[..9].iter().copied().chain(["TCC_REQ", "TCC_READ", "GRBM_COUNT"]).collect();
    let mixed = passes(&mixed);
    assert_eq!(mixed.len(), 2);
    assert_eq!(names(&mixed[1]), [sq[8]]);
    for (index, pass) in passes(&["all"]).iter().enumerate() {
        assert_eq!(pass.index as usize, index);
        for block in catalogue.blocks() {
            let held = pass.counters.iter().filter(|counter| *counter.block == *block.name).count();
            assert!(held <= block.slots as usize, "{} in pass {index}", block.name);
        }
    }
}

#[test]
fn a_metric_brings_its_counters_and_stands_where_it_is_complete() {
    let plan = soft().plan(&request(&["FETCH_SIZE"])).expect("plans");
    assert_eq!(plan.passes.len(), 1);
    assert_eq!(names(&plan.passes[0]), ["TCC_EA_RDREQ_32B", "TCC_EA_RDREQ", "FETCH_SIZE"]);
    assert_eq!(&*plan.passes[0].counters[2].block, DERIVED);
    assert_eq!(&*plan.passes[0].counters[2].unit, "KiB");
    // In the order of the request they would fall apart.
    let plan = soft().plan(&request(&["TCC_REQ", "TCC_READ", "TCC_WRITE", "FETCH_SIZE"])).expect("plans");
    assert_eq!(names(&plan.passes[0]), ["TCC_REQ", "TCC_READ", "TCC_EA_RDREQ_32B", "TCC_EA_RDREQ", "FETCH_SIZE"]);
    assert_eq!(names(&plan.passes[1]), ["TCC_WRITE"]);
    // Counters of two blocks may not meet: then it stands where the last of them is.
    let l1 = ["TCP_TOTAL_READ", "TCP_TOTAL_WRITE", "TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "L1AccessesPerInst"];
    let plan = soft().plan(&request(&l1)).expect("plans");
    assert_eq!(names(&plan.passes[0])[4..], ["TA_TOTAL_WAVEFRONTS"]);
    assert_eq!(names(&plan.passes[1]), ["TCP_TOTAL_ACCESSES", "L1AccessesPerInst"]);
}

#[test]
fn a_name_twice_is_counted_once_and_a_repeat_is_the_plan_again() {
    let mut asked = request(&["SQ_WAVES", "basic", "SQ_WAVES"]);
    asked.repeat = 3;
    let plan = soft().plan(&asked).expect("plans");
    assert_eq!(plan.passes.len(), 3);
    assert_eq!(plan.passes.iter().map(|pass| pass.index).collect::<Vec<_>>(), [0, 1, 2]);
    for pass in &plan.passes {
        assert_eq!(names(pass).iter().filter(|name| **name == "SQ_WAVES").count(), 1);
        assert_eq!(pass.counters, plan.passes[0].counters);
    }
}

#[test]
fn without_names_only_times_are_taken() {
    let plan = soft().plan(&request(&[])).expect("plans");
    assert_eq!(plan.passes.len(), 1);
    assert_eq!((plan.passes[0].way, plan.passes[0].counters.len()), (Way::Timing, 0));
}

#[test]
fn an_unknown_name_is_told_with_names_like_it() {
    let near = |name: &str| match soft().plan(&request(&["SQ_WAVES", name])) {
        Err(PlanError::Unknown { name: told, near }) if told == name => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("SQ_WAVE")[0], "SQ_WAVES");
    assert_eq!(near("sq_insts_valu")[0], "SQ_INSTS_VALU");
    assert_eq!(near("fetch_size")[0], "FETCH_SIZE");
    assert_eq!(near("bsaic")[0], "basic");
    assert!(near("xyzzyxyzzy").is_empty());
    // Real on the hardware, not simulated: unknown here, known there.
    assert!(!near("TCC_HIT").contains(&"TCC_HIT".to_owned()));
    assert!(Catalogue::of("gfx90a", false).expect("gfx90a").plan(&request(&["TCC_HIT"])).is_ok());
}

#[test]
fn probing_drops_what_the_device_does_not_have() {
    let mut catalogue = Catalogue::of("gfx90a", false).expect("gfx90a");
    catalogue.probe(
        |block| {
            (block.name != "TCP").then_some(Block { slots: if block.name == "SQ" { 2 } else { block.slots }, ..*block })
        },
        |counter, _| counter.name != "TCC_MISS",
    );
    assert!(catalogue.block("TCP").is_none() && catalogue.counter("TCP_TOTAL_READ").is_none());
    assert!(catalogue.metric("L2CacheHit").is_none(), "it needs TCC_MISS");
    assert!(catalogue.metric("FETCH_SIZE").is_some());
    let sq = request(&["SQ_WAVES", "SQ_INSTS", "SQ_ITEMS"]);
    assert_eq!(catalogue.plan(&sq).expect("plans").passes.len(), 2, "two slots hold two");
    assert!(catalogue.sets().iter().all(|set| !set.members.contains(&"TCC_MISS")));
}

proptest::proptest! {
    /// Any choice of names: every counter is planned exactly once, in the fewest passes.
    #[test]
    fn a_plan_holds_everything_once_in_the_fewest_passes(picks in proptest::collection::vec(0_usize..200, 1..60)) {
        let catalogue = Catalogue::of("gfx90a", false).expect("gfx90a");
        let all: Vec<CounterInfo> = catalogue.list();
        let asked: Vec<&str> = picks.iter().map(|pick| &*all[pick % all.len()].name).collect();
        let plan = catalogue.plan(&request(&asked)).expect("plans");
        let mut placed = BTreeMap::new();
        for counter in plan.passes.iter().flat_map(|pass| &pass.counters) {
            *placed.entry(counter.name.to_string()).or_insert(0) += 1;
        }
        proptest::prop_assert!(placed.values().all(|times| *times == 1));
        proptest::prop_assert!(asked.iter().all(|name| placed.contains_key(*name)));
        let needed = catalogue.blocks().iter().map(|block| {
            let of_block = placed.keys().filter(|name| catalogue.counter(name).is_some_and(|c| c.block == block.name));
            of_block.count().div_ceil(block.slots as usize)
        });
        proptest::prop_assert_eq!(plan.passes.len(), needed.max().unwrap_or(1).max(1));
    }
}
