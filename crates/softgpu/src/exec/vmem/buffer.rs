//! MUBUF: memory through a buffer resource, which is how programs without flat scratch reach their private memory.
//!
//! Source of the address calculation: AMD's "CDNA 2" instruction set manual, "Buffer Addressing".

use super::access::{load, store};
use super::address::Addresses;
use super::atomic;
use super::shape::Shape;
use crate::exec::scalar::{PRIVATE_BASE, src32};
use crate::exec::step::{Cx, Stop};
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::{Inst, Operand};

/// A buffer resource.
struct Resource {
    base: u64,
    stride: u64,
    records: u64,
    swizzle: bool,
    element: u64,
    index_stride: u64,
    add_lane: bool,
}

impl Resource {
    fn read(w: &Wave, at: u16) -> Resource {
        let words: [u32; 4] = std::array::from_fn(|n| w.s(at + n as u16));
        let add_lane = words[3] >> 23 & 1 != 0;
        Resource {
            base: u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32,
            stride: u64::from(words[1] >> 16 & 0x3fff),
            records: u64::from(words[2]),
            swizzle: words[1] >> 31 != 0,
            element: 2 << (words[3] >> 19 & 3),
            index_stride: 8 << (words[3] >> 21 & 3),
            add_lane,
        }
    }

    /// Whether it describes private memory as this GPU lays it out: dwords of 64 lanes side by side.
    fn is_private(&self) -> bool {
        self.swizzle && self.add_lane && self.stride == 0 && self.element == 4 && self.index_stride == 64
    }
}

/// Runs a MUBUF instruction.
pub(in crate::exec) fn buffer(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    // Caches: there are none.
    if i.row.dst == 0 {
        return Ok(());
    }
    if i.lds_or_gds {
        return Err(Stop::Unsupported("loads to LDS"));
    }
    let resource = Resource::read(w, i.src[1].0);
    let soffset = u64::from(src32(w, i, i.src[2]));
    let shape = Shape::of(i.op);
    let a = if resource.is_private() && !i.idxen {
        private(w, i, &resource, soffset)
    } else {
        let bytes = shape.map_or(if i.op >= 0x60 { 8 } else { 4 }, |(shape, _)| shape.bytes());
        let a = general(w, i, &resource, soffset, bytes)?;
        // Lanes out of range read zero and write nothing.
        let out_of_range = w.exec & !a.mask;
        if out_of_range != 0 && !matches!(shape, Some((_, true))) {
            for k in 0..i.row.dst.unsigned_abs() as usize {
                w.put(i.dst, k, &Lanes::ZERO, out_of_range);
            }
        }
        a
    };
    match shape {
        Some((shape, true)) => store(cx, w, &a, shape, i.dst),
        Some((shape, false)) => load(cx, w, &a, shape, i.dst),
        None => atomic::run(cx, w, &a, i.op, i.dst, if i.glc { i.dst } else { Operand::NONE }),
    }
}

/// The lane's offset from the instruction and its address register.
fn offset(w: &Wave, i: &Inst, lane: usize) -> u32 {
    let vector = match (i.offen, i.idxen) {
        (false, _) => 0,
        (true, false) => w.v(i.src[0], 0).0[lane],
        (true, true) => w.v(i.src[0], 1).0[lane],
    };
    vector.wrapping_add(i.imm as u32)
}

fn private(w: &Wave, i: &Inst, resource: &Resource, soffset: u64) -> Addresses {
    let lanes = std::array::from_fn(|lane| PRIVATE_BASE | u64::from(offset(w, i, lane)));
    Addresses { lanes, mask: w.exec, flat: true, private: resource.base.wrapping_add(soffset) }
}

fn general(w: &Wave, i: &Inst, resource: &Resource, soffset: u64, bytes: u64) -> Result<Addresses, Stop> {
    let mut lanes = [0; LANES];
    let mut mask = w.exec;
    for (lane, to) in lanes.iter_mut().enumerate() {
        let index = if i.idxen { u64::from(w.v(i.src[0], 0).0[lane]) } else { 0 }
            + if resource.add_lane { lane as u64 } else { 0 };
        let offset = u64::from(offset(w, i, lane));
        let in_range = if resource.stride == 0 || !resource.swizzle && !i.idxen {
            offset + soffset + bytes <= resource.records.saturating_mul(resource.stride.max(1))
        } else {
            index < resource.records && (!resource.swizzle || offset < resource.stride)
        };
        if !in_range {
            mask &= !(1 << lane);
        }
        *to = resource.base.wrapping_add(soffset)
            + if resource.swizzle {
                if bytes > resource.element || offset % resource.element + bytes > resource.element {
                    return Err(Stop::Unsupported("an access across elements of a swizzled buffer"));
                }
                let (index_high, index_low) = (index / resource.index_stride, index % resource.index_stride);
                let (offset_high, offset_low) = (offset / resource.element, offset % resource.element);
                (index_high * resource.stride + offset_high * resource.element) * resource.index_stride
                    + index_low * resource.element
                    + offset_low
            } else {
                index * resource.stride + offset
            };
    }
    Ok(Addresses { lanes, mask, flat: false, private: 0 })
}
