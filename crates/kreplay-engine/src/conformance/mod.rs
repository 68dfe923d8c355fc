//! One suite for every agent: the contract of the seam, and the engine on it.
//!
//! A backend writes a [`Rig`] (makes its agent, program memory, and [`Kernel`]s), then stamps the suite on it:
//!
//! ```ignore
//! kreplay_engine::conformance_suite!(MyRig);
//! ```
//!
//! Every test makes a rig of its own. A rig that cannot be made here (no such device) says why; the test then prints
//! `skipped: …`, or fails when the environment has `KREPLAY_NO_SKIP`.

mod agent;
mod batch;
mod batch_faults;
mod engine;
mod faults;
mod kernel;
mod log;
mod memory_rig;
mod model;
mod observing;
mod rig;
mod world;

pub use kernel::{ESCAPED, Kernel, Words};
pub use log::Log;
#[cfg(any(test, feature = "test-agent"))]
pub use memory_rig::MemoryRig;
pub use rig::{Rig, observes_or_skips, with_rig};
pub use world::World;

/// The tests on the agent alone.
pub mod agent_tests {
    pub use super::agent::*;
    pub use super::observing::*;
}

/// The tests of the engine on the agent.
pub mod engine_tests {
    pub use super::batch::*;
    pub use super::batch_faults::*;
    pub use super::engine::*;
    pub use super::faults::*;
}

/// Stamps the suite on a rig: `conformance_suite!(Type)`, the type implementing [`conformance::Rig`](crate::conformance::Rig).
#[macro_export]
macro_rules! conformance_suite {
    ($rig:ty) => {
        $crate::conformance_suite!(@stamp $rig, agent_tests:
            describes_itself_and_its_memory,
            allocates_both_tiers_aligned,
            copies_at_any_alignment,
            copies_between_tiers,
            copies_many_small_moves,
            compare_marks_exactly_the_chunks_that_differ,
            compare_leaves_both_sides_alone,
            synchronise_goes_either_way,
            equal_bytes_have_equal_hashes_and_others_do_not,
            work_is_ordered_and_can_be_repeated,
            marks_tell_how_far_the_queue_has_come,
            tickets_may_be_answered_late_and_in_any_order,
            too_large_an_allocation_is_exhausted,
        );
        $crate::conformance_suite!(@stamp $rig, engine_tests:
            every_setting_leaves_what_one_run_leaves,
            leaving_the_restore_out_is_noticed,
            the_write_set_is_what_was_written,
            a_moving_write_set_leaves_one_real_run,
            an_escape_in_a_middle_pass_is_found_and_undone,
            an_escape_in_the_last_pass_is_found,
            a_foreign_write_between_windows_is_kept,
            a_freed_region_is_never_written,
            host_staging_carries_a_footprint_too,
            snapshots_on_the_host_tell_what_was_written,
            counted_once_is_not_snapshotted,
            a_failed_launch_of_the_program_leaves_the_snapshot,
            a_dropped_window_leaves_memory_alone,
            batch_windows_leave_what_one_run_leaves,
            memory_born_within_a_batch_window_keeps_its_content,
            memory_given_back_within_a_batch_window_is_put_back_for_each_pass,
            memory_given_back_and_not_put_back_is_noticed,
            memory_that_goes_to_somebody_else_ends_the_window,
            an_escape_in_a_batch_window_is_found_and_undone,
            a_batch_window_without_restores_is_noticed,
            the_dispatch_that_diverges_is_found,
            an_escape_in_any_pass_of_a_batch_window_is_found_and_undone,
            a_foreign_write_between_batch_windows_is_kept,
            a_region_freed_around_batch_windows_is_never_written,
            a_failed_launch_in_a_batch_window_costs_its_values_only,
            a_launch_that_writes_elsewhere_each_time_leaves_one_real_run_in_a_batch_window,
        );
    };
    (@stamp $rig:ty, $module:ident: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                $crate::conformance::with_rig::<$rig>(|rig| $crate::conformance::$module::$name(rig));
            }
        )*
    };
}
