//! What a read stored, event by event.

use crate::abi::{Descriptor, Event, InfoData, PmcData};
use crate::error::Error;
use softgpu::pmc::{Block, Selection};

/// Calls `each` with every sample of every event, in order; it returns whether it wants more.
///
/// # Safety
/// The descriptor is null, or that many bytes may be read there.
pub(crate) unsafe fn iterate(
    selection: &Selection,
    output: &Descriptor,
    mut each: impl FnMut(InfoData) -> Result<bool, Error>,
) -> Result<(), Error> {
    let needed = size(selection);
    if needed > 0 && output.ptr.is_null() {
        return Err(Error::Null("the output buffer"));
    }
    if output.size < needed {
        return Err(Error::TooSmall { what: "output", given: output.size, needed });
    }
    let mut at = output.ptr.cast::<u8>().cast_const();
    for event in selection.events() {
        let samples = Block::find(event.block).map_or(0, Block::samples);
        for sample_id in 0..samples {
            let mut raw = [0_u8; 8];
            // SAFETY: the caller's; all samples together were checked to fit.
            unsafe {
                std::ptr::copy_nonoverlapping(at, raw.as_mut_ptr(), 8);
                at = at.add(8);
            }
            let event = Event { block_name: event.block.0, block_index: event.instance, counter_id: event.event };
            let data = InfoData { sample_id, pmc_data: PmcData { event, result: u64::from_le_bytes(raw) } };
            if !each(data)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Bytes that a read stores.
pub(crate) fn size(selection: &Selection) -> u32 {
    (selection.samples() * 8) as u32
}
