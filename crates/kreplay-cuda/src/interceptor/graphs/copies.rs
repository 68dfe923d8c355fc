//! Copies and memsets of graphs, row by row.

use super::node::Work;
use crate::agent::CudaWork;
use crate::tables::graph_structs::{CopyNodeParams, SetNodeParams, memory_kind};

/// Ranges of the host's memory: base and bytes.
pub(super) type Ranges = Vec<(u64, u64)>;

/// More rows than these are not taken apart.
const MOST_ROWS: u64 = 4096;

/// One side of a copy.
struct Side {
    base: u64,
    pitch: u64,
    /// Rows between the beginnings of two planes.
    plane: u64,
    device: bool,
}

/// What a copy does: rows where it is not one piece on both sides.
pub(super) fn copies(p: &CopyNodeParams, is_device: &dyn Fn(u64) -> bool) -> Result<Work, &'static str> {
    let (width, height, depth) = (p.width as u64, (p.height as u64).max(1), (p.depth as u64).max(1));
    let from = side(
        (p.from_kind, p.from_host, p.from_device),
        (p.from_x, p.from_y, p.from_z),
        (p.from_pitch, p.from_height),
        (width, height),
        is_device,
    )?;
    let to = side(
        (p.to_kind, p.to_host, p.to_device),
        (p.to_x, p.to_y, p.to_z),
        (p.to_pitch, p.to_height),
        (width, height),
        is_device,
    )?;
    let whole = |side: &Side| (side.pitch == width || height * depth == 1) && (depth == 1 || side.plane == height);
    let rows: Vec<(u64, u64, u64)> = if width == 0 {
        Vec::new()
    } else if whole(&from) && whole(&to) {
        vec![(to.base, from.base, width * height * depth)]
    } else if height * depth <= MOST_ROWS {
        let at = |side: &Side, plane: u64, row: u64| side.base + (plane * side.plane + row) * side.pitch;
        let places = (0..depth).flat_map(|plane| (0..height).map(move |row| (plane, row)));
        places.map(|(plane, row)| (at(&to, plane, row), at(&from, plane, row), width)).collect()
    } else {
        return Err("copy of many rows");
    };
    Ok(match (from.device, to.device) {
        (true, true) => {
            Work::Device(rows.into_iter().map(|(to, from, bytes)| CudaWork::Copy { to, from, bytes }).collect())
        }
        (false, true) => Work::Upload(rows),
        (_, false) => Work::ToHost(rows.into_iter().map(|(to, _, bytes)| (to, bytes)).collect()),
    })
}

fn side(
    (kind, host, device): (u32, u64, u64),
    (x, y, z): (usize, usize, usize),
    (pitch, plane): (usize, usize),
    (width, height): (u64, u64),
    is_device: &dyn Fn(u64) -> bool,
) -> Result<Side, &'static str> {
    let (base, device) = match kind {
        memory_kind::HOST => (host, false),
        memory_kind::DEVICE => (device, true),
        memory_kind::UNIFIED => (device, is_device(device)),
        _ => return Err("array copy"),
    };
    // A copy of one row has no pitch, and one of one plane no height.
    let pitch = if pitch == 0 { width } else { pitch as u64 };
    let plane = if plane == 0 { height } else { plane as u64 };
    let base = base.wrapping_add(x as u64).wrapping_add((y as u64 + z as u64 * plane) * pitch);
    Ok(Side { base, pitch, plane, device })
}

/// What a memset does: rows where it is not one piece.
pub(super) fn sets(p: &SetNodeParams) -> Result<Work, &'static str> {
    let element = u8::try_from(p.element).ok().filter(|bytes| matches!(bytes, 1 | 2 | 4));
    let Some(element) = element else { return Err("memset of an unknown element size") };
    let (width, height) = (p.width as u64, (p.height as u64).max(1));
    let fill = |to, count| CudaWork::Fill { to, value: p.value, element, count };
    if width == 0 {
        return Ok(Work::Device(Vec::new()));
    }
    if height == 1 || p.pitch as u64 == width * u64::from(element) {
        return Ok(Work::Device(vec![fill(p.to, width * height)]));
    }
    if height > MOST_ROWS {
        return Err("memset of many rows");
    }
    Ok(Work::Device((0..height).map(|row| fill(p.to + row * p.pitch as u64, width)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(kinds: (u32, u32)) -> CopyNodeParams {
        // SAFETY: numbers and pointers, for which zeroes are values.
        let mut p: CopyNodeParams = unsafe { std::mem::zeroed() };
        (p.from_kind, p.to_kind) = kinds;
        (p.from_host, p.from_device, p.to_host, p.to_device) = (0x1000, 0x2000, 0x3000, 0x4000);
        (p.width, p.height, p.depth) = (16, 1, 1);
        p
    }

    fn rows(work: Work) -> Vec<(u64, u64, u64)> {
        match work {
            Work::Device(works) => works
                .into_iter()
                .map(|work| match work {
                    CudaWork::Copy { to, from, bytes } => (to, from, bytes),
                    CudaWork::Fill { to, value, element, count } => (to, u64::from(value), count * u64::from(element)),
                    other => panic!("{other:?}"),
                })
                .collect(),
            Work::Upload(rows) => rows,
            Work::ToHost(rows) => rows.into_iter().map(|(to, bytes)| (to, 0, bytes)).collect(),
            Work::Kernel { .. } | Work::Unrecordable(_) => panic!("no copy"),
        }
    }

    #[test]
    fn directions_come_from_kinds_and_from_what_is_known() {
        let device = |address: u64| address == 0x4000;
        let made = |from, to| copies(&description((from, to)), &device).map(rows);
        assert_eq!(made(2, 2), Ok(vec![(0x4000, 0x2000, 16)]));
        assert_eq!(made(1, 2), Ok(vec![(0x4000, 0x1000, 16)]));
        assert_eq!(made(2, 1), Ok(vec![(0x3000, 0, 16)]));
        assert!(matches!(copies(&description((4, 4)), &device), Ok(Work::Upload(_))), "only the target is a device's");
        assert!(matches!(copies(&description((4, 4)), &|_| true), Ok(Work::Device(_))));
        assert!(made(3, 2).is_err_and(|why| why.contains("array")));
    }

    #[test]
    fn pieces_stay_whole_and_others_become_rows() {
        let any = |_| true;
        let mut p = description((2, 2));
        (p.height, p.from_pitch, p.to_pitch) = (3, 16, 16);
        assert_eq!(copies(&p, &any).map(rows), Ok(vec![(0x4000, 0x2000, 48)]));
        (p.to_pitch, p.to_x, p.to_y) = (64, 4, 1);
        let expected = (0..3).map(|row| (0x4000 + 64 + 4 + row * 64, 0x2000 + row * 16, 16)).collect();
        assert_eq!(copies(&p, &any).map(rows), Ok(expected));
        // Planes that are higher than what is copied of them.
        let mut p = description((2, 2));
        (p.height, p.depth, p.from_pitch, p.to_pitch, p.from_height, p.to_height) = (2, 2, 16, 16, 2, 5);
        let expected =
            vec![(0x4000, 0x2000, 16), (0x4010, 0x2010, 16), (0x4000 + 80, 0x2020, 16), (0x4000 + 96, 0x2030, 16)];
        assert_eq!(copies(&p, &any).map(rows), Ok(expected));
        (p.height, p.depth) = (1 << 20, 1);
        p.to_pitch = 32;
        assert!(copies(&p, &any).is_err());
    }

    #[test]
    fn memsets_are_rows_where_a_pitch_says_so() {
        let set = |pitch, width, height, element| SetNodeParams { to: 0x100, pitch, value: 7, element, width, height };
        assert_eq!(sets(&set(0, 10, 1, 4)).map(rows), Ok(vec![(0x100, 7, 40)]));
        assert_eq!(sets(&set(20, 10, 3, 2)).map(rows), Ok(vec![(0x100, 7, 60)]));
        assert_eq!(sets(&set(32, 10, 2, 1)).map(rows), Ok(vec![(0x100, 7, 10), (0x120, 7, 10)]));
        assert!(sets(&set(0, 10, 1, 8)).is_err());
    }
}
