//! Whose work is counted: what is known to be the program's, or all that runs on the GPU.

/// Whose work a session of the Range Profiler counts. CUPTI does not tell of this; it was found by measuring (H200, driver 580).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Its context's alone, whatever else runs on the GPU meanwhile. It is had where a context is current to the thread of the
    /// first start, and makes the driver take two to three times as long for the registers of a pass, and half as long again for a launch's.
    Context,
    /// Whatever runs on the GPU. It is had where no context is current to that thread.
    Device,
}

impl Reach {
    /// Of passes on a GPU, and what keeps them from counting all of it that somebody may change. It is the process's first one, since
    /// no other was seen to be counted so; the process has no other context; and `alone` says that there is no other process.
    pub(super) fn of(
        device: i32,
        contexts: usize,
        alone: impl FnOnce() -> Result<(), &'static str>,
    ) -> (Self, Option<&'static str>) {
        if device != 0 || contexts > 1 {
            return (Self::Context, None);
        }
        alone().map_or_else(|why| (Self::Context, Some(why)), |()| (Self::Device, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_the_whole_device_only_where_nobody_else_can_be_on_it() {
        let unasked = || panic!("that is settled without asking");
        assert_eq!(Reach::of(0, 1, || Ok(())), (Reach::Device, None));
        assert_eq!(Reach::of(0, 1, || Err("somebody is")), (Reach::Context, Some("somebody is")));
        assert_eq!(Reach::of(0, 2, unasked), (Reach::Context, None));
        assert_eq!(Reach::of(1, 1, unasked), (Reach::Context, None));
    }
}
