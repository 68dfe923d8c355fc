//! Copies within the device and fills of many rows: more than are worth a call of the driver each.

use super::CudaWork;
use crate::tables::graph_structs::{CopyNodeParams, memory_kind};
use crate::tables::{CudaError, Driver, Stream};

/// Where the rows of a box lie on one side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The first row.
    pub(crate) base: u64,
    /// Bytes between the beginnings of two rows.
    pub(crate) pitch: u64,
    /// Rows between the beginnings of two planes.
    pub(crate) plane: u64,
}

impl Rows {
    /// Where a row begins.
    pub(crate) fn at(&self, plane: u64, row: u64) -> u64 {
        self.base + (plane * self.plane + row) * self.pitch
    }

    /// Bytes from the first of a box to its last.
    pub(crate) fn span(&self, (width, height, depth): (u64, u64, u64)) -> u64 {
        self.at(depth - 1, height - 1) - self.base + width
    }
}

/// A copy of a box; its shape is bytes of a row, rows of a plane, and planes, none of them zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyBox {
    /// Destination.
    pub(crate) to: Rows,
    /// Source.
    pub(crate) from: Rows,
    /// Its shape.
    pub(crate) shape: (u64, u64, u64),
}

/// A fill of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FillRows {
    /// Destination.
    pub(crate) to: u64,
    /// Bytes between the beginnings of two rows.
    pub(crate) pitch: u64,
    /// A value of one, two or four bytes.
    pub(crate) value: u32,
    /// Its bytes.
    pub(crate) element: u8,
    /// Values of a row.
    pub(crate) width: u64,
    /// Rows.
    pub(crate) height: u64,
}

impl CopyBox {
    /// To, from and bytes of each row.
    pub(crate) fn rows(self) -> impl Iterator<Item = (u64, u64, u64)> {
        let (width, height, depth) = self.shape;
        let places = (0..depth).flat_map(move |plane| (0..height).map(move |row| (plane, row)));
        places.map(move |(plane, row)| (self.to.at(plane, row), self.from.at(plane, row), width))
    }

    /// Submits it to a stream. An address that the driver does not know as a device's is an error.
    pub(super) fn submit(&self, driver: &Driver, stream: Stream) -> Result<(), CudaError> {
        let (width, height, depth) = self.shape;
        let null = std::ptr::null_mut();
        driver.copy_box(
            &CopyNodeParams {
                from_x: 0,
                from_y: 0,
                from_z: 0,
                from_level: 0,
                from_kind: memory_kind::DEVICE,
                from_host: 0,
                from_device: self.from.base,
                from_array: null,
                from_reserved: null,
                from_pitch: self.from.pitch as usize,
                from_height: self.from.plane as usize,
                to_x: 0,
                to_y: 0,
                to_z: 0,
                to_level: 0,
                to_kind: memory_kind::DEVICE,
                to_host: 0,
                to_device: self.to.base,
                to_array: null,
                to_reserved: null,
                to_pitch: self.to.pitch as usize,
                to_height: self.to.plane as usize,
                width: width as usize,
                height: height as usize,
                depth: depth as usize,
            },
            stream,
        )
    }
}

impl FillRows {
    /// One row.
    pub(crate) fn row(&self, row: u64) -> CudaWork {
        let Self { to, pitch, value, element, width, .. } = *self;
        CudaWork::Fill { to: to + row * pitch, value, element, count: width }
    }

    /// Submits it to a stream.
    pub(super) fn submit(&self, driver: &Driver, stream: Stream) -> Result<(), CudaError> {
        let (at, extent) = ((self.to, self.pitch), (self.width, self.height));
        driver.set_rows(at, self.value, self.element, extent, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CudaAgent;
    use super::super::tests::{fake_agent, gpu_agent, soon};
    use super::*;
    use kreplay_engine::{Agent, Range, Tier};

    /// By one call and row by row the same memory comes out.
    fn check_boxes(agent: &CudaAgent) {
        const BYTES: u64 = 64 << 10;
        let regions = [0; 2].map(|_| agent.allocate(Tier::Device, BYTES).expect("there is room"));
        let [whole, rows] = regions.each_ref().map(|region| region.range.base);
        let fill = |to, element, value| FillRows { to, pitch: 36, value, element, width: 7, height: 20 };
        let copied = |base| CopyBox {
            to: Rows { base: base + 32_771, pitch: 41, plane: 9 },
            from: Rows { base: base + 5, pitch: 37, plane: 8 },
            shape: (33, 7, 11),
        };
        let mut works = Vec::new();
        for base in [whole, rows] {
            works.extend((0..BYTES / 4).map(|at| CudaWork::Fill {
                to: base + at * 4,
                value: at as u32,
                element: 4,
                count: 1,
            }));
        }
        for (at, element, value) in [(16_384, 1, 0x11), (20_480, 2, 0x2211), (24_576, 4, 0x4433_2211)] {
            works.push(CudaWork::FillRows(fill(whole + at, element, value)));
            works.extend((0..20).map(|row| fill(rows + at, element, value).row(row)));
        }
        works.push(CudaWork::CopyBox(copied(whole)));
        works.extend(copied(rows).rows().map(|(to, from, bytes)| CudaWork::Copy { to, from, bytes }));
        works.iter().for_each(|work| agent.submit(work).expect("submitted"));
        agent.settle(soon()).expect("settled");
        let [whole, rows] = [whole, rows].map(|base| agent.read(Range::new(base, BYTES), soon()).expect("read"));
        assert!(whole == rows);
        assert_eq!(whole[16_384 + 36..16_384 + 44], [0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, whole[16_384 + 43]]);
        assert_eq!(whole[32_771..32_771 + 33], whole[5..38]);
        regions.into_iter().for_each(|region| agent.free(region));
    }

    #[test]
    fn many_rows_at_once_are_what_they_are_one_by_one() {
        check_boxes(&fake_agent());
        if let Some(agent) = gpu_agent() {
            check_boxes(&agent);
        }
    }
}
