//! Storage for counter images: they are large, so that one is made for as many ranges as its window holds, and used again.

use crate::counters::Guarded;
use crate::counters::planning::range_group::Group;
use std::alloc::Layout;
use std::sync::{Arc, Mutex};

/// Images are made for multiples of so many ranges, so that windows of about the same length share them.
const STEP: u32 = 64;

/// Storage of an image.
#[derive(Debug)]
pub(in crate::counters) struct Storage {
    pub(in crate::counters) bytes: Vec<u8>,
    /// How many ranges it holds.
    pub(in crate::counters) ranges: u32,
}

/// Empty images, by the group that they are for.
#[derive(Debug, Default)]
pub(in crate::counters) struct Pool(Mutex<Vec<(Arc<Group>, Storage)>>);

impl Pool {
    /// An empty image for at least `ranges` ranges of a group, the smallest there is.
    pub(in crate::counters) fn take(&self, group: &Arc<Group>, ranges: u32) -> Option<Storage> {
        let mut kept = self.0.guarded();
        let fits = |(of, storage): &(Arc<Group>, Storage)| Arc::ptr_eq(of, group) && storage.ranges >= ranges;
        let best = (0..kept.len()).filter(|at| fits(&kept[*at])).min_by_key(|at| kept[*at].1.ranges)?;
        Some(kept.swap_remove(best).1)
    }

    /// Keeps an image that is empty again.
    pub(in crate::counters) fn keep(&self, group: Arc<Group>, storage: Storage) {
        self.0.guarded().push((group, storage));
    }
}

/// How many ranges to make room for where `launches` are expected and at most `most` may come.
pub(in crate::counters) fn room(launches: u32, most: u32) -> u32 {
    if launches <= 1 { 1 } else { launches.div_ceil(STEP).saturating_mul(STEP).min(most).max(launches) }
}

/// As [`zeroed`]; `None` where there is no room for it.
pub(in crate::counters) fn try_zeroed(bytes: usize) -> Option<Vec<u8>> {
    if bytes == 0 {
        return Some(Vec::new());
    }
    let layout = Layout::array::<u8>(bytes).ok()?;
    // SAFETY: the layout has a size.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    if start.is_null() {
        return None;
    }
    // SAFETY: allocated just now by the allocator that vectors use, with the layout of one of so many bytes, all initialised.
    let mut storage = unsafe { Vec::from_raw_parts(start, bytes, bytes) };
    advise(&mut storage);
    Some(storage)
}

/// Zeroed storage that the kernel is asked to back with large pages: touching some hundred megabytes page by page takes tenths
/// of a second.
pub(in crate::counters) fn zeroed(bytes: usize) -> Vec<u8> {
    let mut storage = vec![0; bytes];
    advise(&mut storage);
    storage
}

fn advise(storage: &mut [u8]) {
    const LARGE: usize = 2 << 20;
    let start = storage.as_mut_ptr() as usize;
    let (from, to) = (start.next_multiple_of(LARGE), (start + storage.len()) / LARGE * LARGE);
    if from < to {
        // SAFETY: whole pages within the storage; the advice changes nothing of what they hold. A refusal costs only time.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::planning::host::{ConfigImage, Names};
    use crate::counters::planning::price::Price;
    use crate::counters::sharing::reach::Reach;

    fn group() -> Arc<Group> {
        let config = ConfigImage { bytes: Arc::new([]), passes: 1 };
        let (metrics, names) = (Vec::new(), Names::new::<&str>([]));
        Arc::new(Group { metrics, names, config, price: Price::Dear, reach: Reach::Device })
    }

    #[test]
    fn the_smallest_image_that_fits_is_used_again() {
        let (pool, group, other) = (Pool::default(), group(), group());
        for ranges in [512, 64, 128] {
            pool.keep(Arc::clone(&group), Storage { bytes: Vec::new(), ranges });
        }
        let taken = |of: &Arc<Group>, ranges| pool.take(of, ranges).map(|storage| storage.ranges);
        assert_eq!(taken(&other, 1), None);
        assert_eq!((taken(&group, 65), taken(&group, 65), taken(&group, 65)), (Some(128), Some(512), None));
        assert_eq!(taken(&group, 1), Some(64));
    }

    #[test]
    fn windows_of_about_the_same_length_share_images() {
        assert_eq!((room(1, 500), room(2, 500), room(64, 500), room(139, 500)), (1, 64, 64, 192));
        assert_eq!((room(490, 500), room(500, 500)), (500, 500));
        assert_eq!(room(3, 2), 3, "a graph may hold more than a window should");
    }

    #[test]
    fn storage_is_zeroed_whatever_its_size() {
        for bytes in [0, 1, 4096, 5 << 20] {
            let storage = zeroed(bytes);
            assert!(storage.len() == bytes && storage.iter().all(|byte| *byte == 0));
            assert_eq!(try_zeroed(bytes), Some(storage));
        }
        assert_eq!(try_zeroed(usize::MAX), None);
        assert_eq!(try_zeroed(isize::MAX as usize), None, "no machine has that");
    }
}
