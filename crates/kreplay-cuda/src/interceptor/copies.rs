//! Copies and memsets of rectangles, and of graphs, row by row.

use crate::agent::{CopyBox, CudaWork, FillRows, Rows};
use crate::tables::driver_structs::CopyRectangle;
use crate::tables::graph_structs::{CopyNodeParams, SetNodeParams, memory_kind};

/// Ranges of the host's memory: base and bytes.
pub(super) type Ranges = Vec<(u64, u64)>;

/// More rows than these are not taken apart: copies and memsets within the device are done as one.
const MOST_ROWS: u64 = 4096;

/// Why what reaches other memory than this context's is not recorded.
pub(super) const ELSEWHERE: &str = "copy or memset of memory elsewhere";

/// What a copy or memset does.
pub(super) enum Copied {
    /// Changes device memory from device memory alone.
    Device(Vec<CudaWork>),
    /// Copies from the host: to, from, bytes.
    Upload(Vec<(u64, u64, u64)>),
    /// Copies to these ranges of the host.
    ToHost(Ranges),
}

/// What is known of an address that may be the host's or a device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Device memory that can be put back.
    Device,
    /// The host's.
    Host,
    /// Both may use it.
    Managed,
    /// Memory of another device or process, or nobody knows.
    Elsewhere,
}

/// One side of a copy.
struct Side {
    rows: Rows,
    device: bool,
}

/// What a copy does: rows where it is not one piece on both sides.
pub(super) fn copies(p: &CopyNodeParams, place: &dyn Fn(u64) -> Place) -> Result<Copied, &'static str> {
    let (width, height, depth) = (p.width as u64, p.height as u64, p.depth as u64);
    // The driver looks at no address then, and they may be null.
    if width == 0 || height == 0 || depth == 0 {
        return Ok(Copied::Device(Vec::new()));
    }
    let from = side(
        (p.from_kind, p.from_host, p.from_device),
        (p.from_x, p.from_y, p.from_z),
        (p.from_pitch, p.from_height),
        (width, height),
        place,
    )?;
    let to = side(
        (p.to_kind, p.to_host, p.to_device),
        (p.to_x, p.to_y, p.to_z),
        (p.to_pitch, p.to_height),
        (width, height),
        place,
    )?;
    let whole =
        |Side { rows, .. }: &Side| (rows.pitch == width || height * depth == 1) && (depth == 1 || rows.plane == height);
    let copy = CopyBox { to: to.rows, from: from.rows, shape: (width, height, depth) };
    let rows: Vec<(u64, u64, u64)> = if whole(&from) && whole(&to) {
        vec![(copy.to.base, copy.from.base, width * height * depth)]
    } else if height.saturating_mul(depth) <= MOST_ROWS {
        copy.rows().collect()
    } else {
        return match (from.device, to.device) {
            (true, true) => Ok(Copied::Device(vec![CudaWork::CopyBox(copy)])),
            (false, true) => Err("copy of many rows from the host"),
            (_, false) => Ok(Copied::ToHost(vec![(copy.to.base, copy.to.span(copy.shape))])),
        };
    };
    Ok(match (from.device, to.device) {
        (true, true) => {
            Copied::Device(rows.into_iter().map(|(to, from, bytes)| CudaWork::Copy { to, from, bytes }).collect())
        }
        (false, true) => Copied::Upload(rows),
        (_, false) => Copied::ToHost(rows.into_iter().map(|(to, _, bytes)| (to, bytes)).collect()),
    })
}

/// A copy of a rectangle, described as a copy of one plane.
pub(super) fn one_plane(p: &CopyRectangle) -> CopyNodeParams {
    CopyNodeParams {
        from_x: p.from_x,
        from_y: p.from_y,
        from_z: 0,
        from_level: 0,
        from_kind: p.from_kind,
        from_host: p.from_host,
        from_device: p.from_device,
        from_array: p.from_array,
        from_reserved: std::ptr::null_mut(),
        from_pitch: p.from_pitch,
        from_height: 0,
        to_x: p.to_x,
        to_y: p.to_y,
        to_z: 0,
        to_level: 0,
        to_kind: p.to_kind,
        to_host: p.to_host,
        to_device: p.to_device,
        to_array: p.to_array,
        to_reserved: std::ptr::null_mut(),
        to_pitch: p.to_pitch,
        to_height: 0,
        width: p.width,
        height: p.height,
        depth: 1,
    }
}

fn side(
    (kind, host, device): (u32, u64, u64),
    (x, y, z): (usize, usize, usize),
    (pitch, plane): (usize, usize),
    (width, height): (u64, u64),
    place: &dyn Fn(u64) -> Place,
) -> Result<Side, &'static str> {
    let (base, device) = match kind {
        // The driver goes by the address, whatever kind the program names.
        memory_kind::HOST => match place(host) {
            Place::Device => (host, true),
            Place::Host | Place::Managed => (host, false),
            Place::Elsewhere => return Err(ELSEWHERE),
        },
        memory_kind::DEVICE | memory_kind::UNIFIED => match place(device) {
            Place::Device => (device, true),
            Place::Host if kind == memory_kind::UNIFIED => (device, false),
            Place::Host | Place::Managed | Place::Elsewhere => return Err(ELSEWHERE),
        },
        _ => return Err("array copy"),
    };
    // A copy of one row has no pitch, and one of one plane no height.
    let pitch = if pitch == 0 { width } else { pitch as u64 };
    let plane = if plane == 0 { height } else { plane as u64 };
    let base = base.wrapping_add(x as u64).wrapping_add((y as u64 + z as u64 * plane) * pitch);
    Ok(Side { rows: Rows { base, pitch, plane }, device })
}

/// What a memset does: rows where it is not one piece.
pub(super) fn sets(p: &SetNodeParams, place: &dyn Fn(u64) -> Place) -> Result<Copied, &'static str> {
    let (width, height) = (p.width as u64, p.height as u64);
    if width == 0 || height == 0 {
        return Ok(Copied::Device(Vec::new()));
    }
    if place(p.to) != Place::Device {
        return Err(ELSEWHERE);
    }
    let element = u8::try_from(p.element).ok().filter(|bytes| matches!(bytes, 1 | 2 | 4));
    let Some(element) = element else { return Err("memset of an unknown element size") };
    let (to, value, pitch) = (p.to, p.value, p.pitch as u64);
    if height == 1 || pitch == width * u64::from(element) {
        return Ok(Copied::Device(vec![CudaWork::Fill { to, value, element, count: width * height }]));
    }
    let fill = FillRows { to, pitch, value, element, width, height };
    Ok(Copied::Device(match height > MOST_ROWS {
        true => vec![CudaWork::FillRows(fill)],
        false => (0..height).map(|row| fill.row(row)).collect(),
    }))
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

    fn rows(work: Copied) -> Vec<(u64, u64, u64)> {
        match work {
            Copied::Device(works) => works
                .into_iter()
                .map(|work| match work {
                    CudaWork::Copy { to, from, bytes } => (to, from, bytes),
                    CudaWork::Fill { to, value, element, count } => (to, u64::from(value), count * u64::from(element)),
                    other => panic!("{other:?}"),
                })
                .collect(),
            Copied::Upload(rows) => rows,
            Copied::ToHost(rows) => rows.into_iter().map(|(to, bytes)| (to, 0, bytes)).collect(),
        }
    }

    #[test]
    fn directions_come_from_kinds_and_from_what_is_known() {
        let device = |address: u64| if address == 0x4000 { Place::Device } else { Place::Host };
        let any = |address: u64| if matches!(address, 0x1000 | 0x3000) { Place::Host } else { Place::Device };
        let made = |from, to| copies(&description((from, to)), &any).map(rows);
        assert!(copies(&description((2, 2)), &device).is_err(), "what is called a device's is not ours");
        assert_eq!(made(2, 2), Ok(vec![(0x4000, 0x2000, 16)]));
        assert_eq!(made(1, 2), Ok(vec![(0x4000, 0x1000, 16)]));
        assert_eq!(made(2, 1), Ok(vec![(0x3000, 0, 16)]));
        assert!(
            matches!(copies(&description((4, 4)), &device), Ok(Copied::Upload(_))),
            "only the target is a device's"
        );
        assert!(matches!(copies(&description((4, 4)), &|_| Place::Device), Ok(Copied::Device(_))));
        assert!(copies(&description((4, 4)), &|_| Place::Elsewhere).is_err());
        assert!(made(3, 2).is_err_and(|why| why.contains("array")));
        // What is called the host's is where its address is.
        let called = |place: Place, kinds| copies(&description(kinds), &move |_| place);
        assert!(
            [(1, 2), (2, 1)].into_iter().all(|kinds| matches!(called(Place::Device, kinds), Ok(Copied::Device(_))))
        );
        assert!([(1, 2), (2, 1)].into_iter().all(|kinds| called(Place::Elsewhere, kinds).is_err()));
        let managed = |address| if address == 0x1000 { Place::Managed } else { Place::Device };
        assert!(matches!(copies(&description((1, 2)), &managed), Ok(Copied::Upload(_))));
        assert!(
            copies(&description((4, 2)), &|address| if address == 0x2000 { Place::Managed } else { any(address) })
                .is_err()
        );
    }

    #[test]
    fn pieces_stay_whole_and_others_become_rows() {
        let any = |_| Place::Device;
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
        let Ok(Copied::Device(works)) = copies(&p, &any) else { panic!("within the device it is one copy") };
        let [CudaWork::CopyBox(one)] = works[..] else { panic!("{works:?}") };
        assert_eq!(
            (one.rows().count(), one.rows().last()),
            (1 << 20, Some((0x4000 + 32 * 0xf_ffff, 0x2000 + 16 * 0xf_ffff, 16)))
        );
        let any = |address: u64| if matches!(address, 0x1000 | 0x3000) { Place::Host } else { Place::Device };
        (p.from_kind, p.to_kind) = (1, 2);
        assert!(copies(&p, &any).is_err(), "so many pieces of the host are not saved");
        (p.from_kind, p.to_kind) = (2, 1);
        let span = (0x3000, 0, 32 * 0xf_ffff + 16);
        assert_eq!(copies(&p, &any).map(rows), Ok(vec![span]), "from its first byte to its last");
    }

    #[test]
    fn what_has_no_rows_is_nothing() {
        for (width, height, depth) in [(0, 1, 1), (16, 0, 1), (16, 1, 0), (16, 5000, 0)] {
            for kinds in [(1, 2), (2, 1), (2, 2), (4, 4)] {
                let mut p = description(kinds);
                (p.from_host, p.width, p.height, p.depth) = (0, width, height, depth);
                let made = copies(&p, &|_| Place::Device).map(rows);
                assert_eq!(made, Ok(Vec::new()), "{kinds:?} {width} {height} {depth}");
            }
            let set = SetNodeParams { to: 0, pitch: 32, value: 7, element: 1, width, height: height * depth };
            assert_eq!(sets(&set, &|_| Place::Elsewhere).map(rows), Ok(Vec::new()));
        }
    }

    #[test]
    fn memsets_are_rows_where_a_pitch_says_so() {
        let set = |pitch, width, height, element| SetNodeParams { to: 0x100, pitch, value: 7, element, width, height };
        let made = |pitch, width, height, element| sets(&set(pitch, width, height, element), &|_| Place::Device);
        assert_eq!(made(0, 10, 1, 4).map(rows), Ok(vec![(0x100, 7, 40)]));
        assert_eq!(made(20, 10, 3, 2).map(rows), Ok(vec![(0x100, 7, 60)]));
        assert_eq!(made(32, 10, 2, 1).map(rows), Ok(vec![(0x100, 7, 10), (0x120, 7, 10)]));
        assert!(made(0, 10, 1, 8).is_err());
        assert!(sets(&set(0, 10, 1, 4), &|_| Place::Elsewhere).is_err());
    }
}
