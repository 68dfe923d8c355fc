//! Which dispatch of a window does other work each time.

use crate::setup::batch;
use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::{Settings, VerifyMode};

#[test]
fn the_second_run_ends_where_it_differs_from_the_first() {
    let rig = MemoryRig::make().unwrap();
    let mut world = World::new(&rig, Settings { verify: VerifyMode::All, ..batch(3) });
    let (at, to) = (world.allocate(4096), world.allocate(3 * 4096));
    let append = Kernel::Append { counter: world.hidden(), to, stride: 5 };
    world.launch(&Kernel::Add { at, value: 7 });
    world.launch_apart(&append);
    for value in 0..10 {
        world.launch(&Kernel::Add { at, value });
    }
    world.close_window();
    world.set_hidden(0);
    world.model_run(&append);
    world.check("what pass 0 left");
    let marked = world.log.take_dispatches().iter().map(|record| record.divergence.is_some()).collect::<Vec<_>>();
    assert_eq!(marked.iter().filter(|marked| **marked).count(), 1);
    assert!(marked[1], "{marked:?}");
    // Two passes and the first run go through the list of twelve, the second run to the launch that differs.
    assert_eq!(rig.agent().submissions(), 3 * 12 + 2);
}
