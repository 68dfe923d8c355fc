//! The planner against a real libcupti. It runs without a GPU with CUPTI 13.0 and 13.1; `KREPLAY_CUPTI` says where one is
//! (for instance the unpacked wheel `nvidia-cuda-cupti==13.0.*`).

use super::host::{Host, Names, supported_chips};
use super::names::resolve;
use super::planner::{Planner, Price};
use crate::tables::{Cupti, Environment, find_cupti};
use kreplay_engine::PlanError;
use std::sync::Arc;

const CHIP: &str = "GH100";

fn cupti() -> Option<Cupti> {
    if std::env::var_os("KREPLAY_CUPTI").is_none() {
        println!("skipped: KREPLAY_CUPTI names no CUPTI");
        return None;
    }
    let found = find_cupti(&Environment::of_process()).expect("KREPLAY_CUPTI names a CUPTI");
    Some(Cupti::load(&found).expect("it has every function"))
}

fn metrics(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

#[test]
fn the_chip_and_its_metrics_are_listed() {
    let Some(cupti) = cupti() else { return };
    assert!(cupti.version().expect("a version") >= 130_000);
    assert!(supported_chips(&cupti).expect("chips").iter().any(|chip| &**chip == CHIP));
    let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
    let bases = host.base_metrics().expect("metrics");
    assert!(bases.len() > 3000, "{} metrics", bases.len());
    let properties = host.properties("dram__bytes_read.sum").expect("a metric");
    assert_eq!(&*properties.block, "dram");
    assert!(properties.description.contains("DRAM"), "{}", properties.description);
    assert!(Host::new(&cupti, "GH999", &[]).is_err());
}

#[test]
fn pass_counts_are_those_that_were_measured() {
    let Some(cupti) = cupti() else { return };
    let passes = |names: &[&str]| {
        let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
        host.config(&Names::new(names)).expect("they can be counted").passes
    };
    assert_eq!(passes(&["dram__bytes_read.sum", "dram__bytes_write.sum"]), 1);
    assert_eq!(passes(&["sm__throughput.avg.pct_of_peak_sustained_elapsed"]), 8);
    assert_eq!(passes(&["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"]), 4);
}

#[test]
fn unknown_names_come_with_near_ones() {
    let Some(cupti) = cupti() else { return };
    let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
    let near = |name: &str| match resolve(&host, &[name.to_owned()]) {
        Err(PlanError::Unknown { near, .. }) => near,
        other => panic!("{name} is unknown, not {other:?}"),
    };
    assert!(near("dram__byte_read.sum").contains(&"dram__bytes_read".to_owned()));
    assert!(near("dram__bytes_read.sun").contains(&"dram__bytes_read.sum".to_owned()));
    assert!(near("dram__bytes_read").iter().all(|name| name.starts_with("dram__bytes_read.")));
    assert!(near("basics").contains(&"basic".to_owned()));
}

#[test]
fn every_set_can_be_packed_and_cheap_sets_stay_cheap() {
    let Some(cupti) = cupti() else { return };
    let planner = Planner { cupti: &cupti, chip: CHIP, availability: &[] };
    for set in super::sets::SETS {
        let host = Host::new(&cupti, CHIP, &[]).expect("the chip is known");
        let metrics = resolve(&host, &[set.name.to_owned()]).expect("the chip has the set");
        let groups = planner.pack(&metrics).expect("it can be packed");
        let mut packed: Vec<_> = groups.iter().flat_map(|group| group.metrics.clone()).collect();
        let mut asked = metrics.clone();
        packed.sort();
        asked.sort();
        assert_eq!(packed, asked, "{}: every metric once", set.name);
        let passes: u32 = groups.iter().map(|group| group.config.passes).sum();
        let dear: u32 = groups.iter().filter(|g| g.price == Price::Dear).map(|g| g.config.passes).sum();
        println!("{}: {} metrics, {passes} passes, {dear} of them dear", set.name, metrics.len());
        let together = Host::new(&cupti, CHIP, &[]).expect("the chip").config(&Names::new(&metrics)).expect("an image");
        assert!(groups.iter().all(|group| group.config.passes > 0));
        if set.name == "memory" {
            assert_eq!(dear, 0);
        }
        if set.name == "basic" {
            assert!(dear <= 2, "{dear} dear passes of {} together", together.passes);
        }
    }
}

#[test]
fn a_cheap_metric_does_not_make_a_group_dearer() {
    let Some(cupti) = cupti() else { return };
    let planner = Planner { cupti: &cupti, chip: CHIP, availability: &[] };
    let groups = planner.pack(&metrics(&["sm__inst_executed.sum", "dram__bytes_read.sum"])).expect("packed");
    for group in &groups {
        let expected = group.metrics.iter().map(|metric| Price::of(metric)).max();
        assert_eq!(Some(group.price), expected);
    }
}
