//! Copies.

use super::engine::Packet;
use crate::contract::Memory;
use crate::device::Device;
use crate::memory::View;
use crate::queue::error::{Code, Stop};

/// Header bit: copy to two places, which is not done here.
const BROADCAST: u32 = 1 << 27;

/// Copies bytes between mapped ranges, which may overlap.
fn copy(device: &Device, view: &View<'_>, source: u64, target: u64, bytes: u64) -> Result<(), Stop> {
    if bytes == 0 {
        return Ok(());
    }
    let from = view.host(source, bytes, false).map_err(|bad| Stop::access("SDMA copy", bad))?;
    let to = view.host(target, bytes, true).map_err(|bad| Stop::access("SDMA copy", bad))?;
    note(device, view, target, bytes);
    // SAFETY: both ranges are mapped while `view` lives, the target for stores; `copy` allows overlap.
    unsafe { std::ptr::copy(from, to, bytes as usize) };
    if device.faults.copy() {
        // SAFETY: the last byte of the range just written.
        unsafe {
            let last = to.add(bytes as usize - 1);
            last.write(last.read() ^ 0x5a);
        }
    }
    Ok(())
}

/// Tells the write oracle of stores to device memory that are about to happen.
pub(super) fn note(device: &Device, view: &View<'_>, target: u64, bytes: u64) {
    if view.oracle() && device.memory.mapped_vram().iter().any(|(base, end)| (*base..*end).contains(&target)) {
        view.will_write(0, target, bytes);
    }
}

/// Linear copy: count − 1, parameters, source, target.
pub(super) fn linear(
    device: &Device,
    view: &View<'_>,
    header: u32,
    packet: &mut Packet<'_>,
) -> Result<&'static str, Stop> {
    let [count, _swap] = packet.words()?;
    let (source, target) = (packet.long()?, packet.long()?);
    if header & BROADCAST != 0 {
        return Err(Stop::new(Code::Packet, "SDMA broadcast copy is not known"));
    }
    copy(device, view, source, target, u64::from(count & 0x3fff_ffff) + 1)?;
    Ok("sdma_copy")
}

/// One side of a copy between pitched images, in elements.
struct Image {
    address: u64,
    x: u64,
    y: u64,
    z: u64,
    pitch: u64,
    slice: u64,
}

impl Image {
    fn read(packet: &mut Packet<'_>) -> Result<Self, Stop> {
        let address = packet.long()?;
        let [xy, z_pitch, slice] = packet.words()?;
        Ok(Self {
            address,
            x: u64::from(xy & 0x3fff),
            y: u64::from(xy >> 16 & 0x3fff),
            z: u64::from(z_pitch & 0x7ff),
            pitch: u64::from(z_pitch >> 13) + 1,
            slice: u64::from(slice & 0x0fff_ffff) + 1,
        })
    }

    fn row(&self, y: u64, z: u64, element: u64) -> u64 {
        self.address + ((self.z + z) * self.slice + (self.y + y) * self.pitch + self.x) * element
    }
}

/// Copy of a box: element size in the header, both images, the box's extent − 1 in each direction.
pub(super) fn rect(
    device: &Device,
    view: &View<'_>,
    header: u32,
    packet: &mut Packet<'_>,
) -> Result<&'static str, Stop> {
    let element = 1u64 << (header >> 29);
    let (source, target) = (Image::read(packet)?, Image::read(packet)?);
    let [xy, z] = packet.words()?;
    if element > 16 {
        return Err(Stop::new(Code::Packet, format!("SDMA copy with elements of {element} bytes")));
    }
    let [width, height] = [xy & 0x3fff, xy >> 16 & 0x3fff].map(|n| u64::from(n) + 1);
    for z in 0..=u64::from(z & 0x7ff) {
        for y in 0..height {
            copy(device, view, source.row(y, z, element), target.row(y, z, element), width * element)?;
        }
    }
    Ok("sdma_copy_rect")
}
