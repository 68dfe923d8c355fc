use super::*;
use crate::memory_agent::MemoryAgent;
use crate::{Range, Region, RegionKind};

/// Whatever counts as live, a region has backing of its own size.
#[test]
fn a_region_at_the_base_of_another_gets_backing_of_its_own() {
    let agent = MemoryAgent::builder(0).build();
    let staging = Staging::new(0);
    let placing = Placing { staging: &staging, agent: AgentId(0), reserve: 0, observe: Some(Chunk::DEFAULT) };
    let mut shadow = Shadow::new(Arc::clone(&agent));
    let region = |generation, bytes| {
        let region = Region { range: Range::new(0x1000, bytes), kind: RegionKind::Pool, writers: Writers::Seen };
        Live { generation: Generation(generation), treatment: region.kind.treatment(), region }
    };
    let always = |_, _| true;
    let placed = shadow.place(&[region(1, 64)], always, &placing).expect("there is room");
    shadow.window_ended(&placed, true, true);
    let again = shadow.place(&[region(1, 64)], always, &placing).expect("there is room");
    assert_eq!((again.all()[0].shadow, again.all()[0].known), (placed.all()[0].shadow, true));
    shadow.window_ended(&again, true, true);
    let larger = shadow.place(&[region(2, 4096)], always, &placing).expect("there is room");
    assert_eq!((agent.usage().device, shadow.held()), (4096, 4096));
    assert!(!larger.all()[0].known);
    shadow.window_ended(&larger, true, true);
}
