//! What the hardware is programmed for, and images.

use super::*;

#[test]
fn groups_take_turns_and_their_images_are_made_twice_at_most() {
    let (fake, one, two) = (Fake::new(Fault::None), group(), group());
    let sampling = sampling(&fake);
    let kernels: Vec<(u64, u64)> = (0..20).map(|at| (3_000, 7 + at)).collect();
    for window in 1..6 {
        for group in [&one, &two] {
            let readings = pass(&sampling, &fake, (window, group), &kernels, &|_| {}).expect("they fit");
            assert_eq!(counts(&readings), expected(&kernels));
        }
    }
    let world = fake.0.guarded();
    assert_eq!((world.programmed.len(), world.blanks), (10, 4));
}

/// A program may make and end contexts again and again.
#[test]
fn nothing_is_kept_of_a_group_that_is_gone() {
    let fake = Fake::new(Fault::None);
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 20];
    let run = |window, group: &Reported| pass(&sampling, &fake, (window, group), &kernels, &|_| {}).expect("they fit");
    let groups = [group(), group()];
    run(1, &groups[0]);
    let [gone, next] = groups.map(|group| (Arc::downgrade(&group.0), group));
    drop(gone.1);
    run(2, &next.1);
    // Who has read the last image lets go of it a moment after its values are delivered.
    let start = std::time::Instant::now();
    while gone.0.strong_count() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "somebody has it");
        std::thread::yield_now();
    }
}

#[test]
fn what_does_not_start_again_is_programmed_anew() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 20];
    for window in 1..3 {
        let readings = pass(&sampling, &fake, (window, &group), &kernels, &|_| {}).expect("they fit");
        assert_eq!(counts(&readings), expected(&kernels));
        fake.0.guarded().refuses = true;
    }
    assert_eq!(fake.0.guarded().programmed.len(), 2);
}

#[test]
fn hardware_without_an_image_is_given_back() {
    let (fake, group) = (Fake::new(Fault::NoImage), group());
    let sampling = sampling(&fake);
    pass(&sampling, &fake, (1, &group), &[(8_000, 130_240)], &|_| {}).expect_err("there is no image");
    sampling.release();
    assert!(!sampling.is_enabled() && !fake.0.guarded().enabled, "ranges would be refused");
}

#[test]
fn an_overflow_makes_it_program_anew() {
    let (fake, group) = (Fake::new(Fault::Overflow), group());
    let sampling = sampling(&fake);
    let kernels = vec![(8_000, 130_240); 4];
    pass(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect_err("samples are lost");
    fake.0.guarded().fault = Fault::None;
    let readings = pass(&sampling, &fake, (2, &group), &kernels, &|_| {}).expect("they fit");
    assert_eq!(counts(&readings), expected(&kernels));
    assert_eq!(fake.0.guarded().programmed.len(), 2);
}
