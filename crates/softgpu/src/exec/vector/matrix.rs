//! Matrix instructions: D = A · B + C of a few small matrices at once, the *blocks*, each spread over the lanes of the wave.
//!
//! EXEC and the mode register have no say. Products are added to C one after the other in the order of k, each with one
//! rounding, to nearest; the hardware's order is not documented. Where elements are of 16 bits denormals are zeros on this
//! chip, in what is read and in the result.

use super::arith::{fma_lanes, fma_lanes64};
use super::float::half_to_single;
use super::source::{Kind64, Lanes64, flush32, src64};
use crate::exec::code::Slot;
use crate::exec::scalar;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::table::vop3p::*;
use crate::isa::{Inst, Operand};

/// What the elements of A and B are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum Element {
    Byte,
    Half,
    Brain,
    Single,
    Double,
}

/// The matrices of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) struct Shape {
    pub(in crate::exec) element: Element,
    /// Rows of A and columns of B: all matrices D are squares.
    side: usize,
    /// Elements of A, and of B, that a lane holds; those of a block follow each other along k.
    held: usize,
    blocks: usize,
}

impl Shape {
    /// Of a VOP3P instruction; `None` where that is no matrix instruction.
    pub(in crate::exec) fn of(inst: &Inst) -> Option<Self> {
        use Element::{Brain, Byte, Double, Half, Single};
        let (element, side, held) = match inst.op {
            V_MFMA_F32_32X32X1F32 | V_MFMA_F32_32X32X2F32 => (Single, 32, 1),
            V_MFMA_F32_16X16X1F32 | V_MFMA_F32_16X16X4F32 => (Single, 16, 1),
            V_MFMA_F32_4X4X1F32 => (Single, 4, 1),
            V_MFMA_F32_32X32X4F16 | V_MFMA_F32_32X32X8F16 => (Half, 32, 4),
            V_MFMA_F32_16X16X4F16 | V_MFMA_F32_16X16X16F16 => (Half, 16, 4),
            V_MFMA_F32_4X4X4F16 => (Half, 4, 4),
            V_MFMA_I32_32X32X4I8 | V_MFMA_I32_32X32X8I8 => (Byte, 32, 4),
            V_MFMA_I32_16X16X4I8 | V_MFMA_I32_16X16X16I8 => (Byte, 16, 4),
            V_MFMA_I32_4X4X4I8 => (Byte, 4, 4),
            V_MFMA_F32_32X32X4BF16_1K | V_MFMA_F32_32X32X8BF16_1K => (Brain, 32, 4),
            V_MFMA_F32_16X16X4BF16_1K | V_MFMA_F32_16X16X16BF16_1K => (Brain, 16, 4),
            V_MFMA_F32_4X4X4BF16_1K => (Brain, 4, 4),
            V_MFMA_F32_32X32X2BF16 | V_MFMA_F32_32X32X4BF16 => (Brain, 32, 2),
            V_MFMA_F32_16X16X2BF16 | V_MFMA_F32_16X16X8BF16 => (Brain, 16, 2),
            V_MFMA_F32_4X4X2BF16 => (Brain, 4, 2),
            V_MFMA_F64_16X16X4F64 => (Double, 16, 1),
            V_MFMA_F64_4X4X4F64 => (Double, 4, 1),
            _ => return None,
        };
        let registers = usize::from(inst.row.dst.unsigned_abs());
        let items = if element == Double { registers / 2 } else { registers };
        Some(Self { element, side, held, blocks: items * LANES / (side * side) })
    }

    /// Columns of A and rows of B.
    fn depth(&self) -> usize {
        self.held * LANES / (self.side * self.blocks)
    }

    /// Additions and multiplications.
    pub(in crate::exec) fn operations(&self) -> u64 {
        (2 * self.side * self.side * self.depth() * self.blocks) as u64
    }

    /// Where an element of A is, given its row and k; of B, given its column and k: the lane, and which of those it holds.
    fn source(&self, along: usize, k: usize, block: usize) -> (usize, usize) {
        (along + self.side * (block + self.blocks * (k / self.held)), k % self.held)
    }

    /// Row, column and block of what a lane holds of C and D.
    fn result(&self, item: usize, lane: usize) -> (usize, usize, usize) {
        // So many rows follow each other in a lane.
        let run = if self.element == Element::Double { 1 } else { 4 };
        // Blocks side by side in the lanes of one register, and runs of rows of a block there.
        let beside = (LANES * run / (self.side * self.side)).max(1);
        let runs = LANES / (beside * self.side);
        let further = self.side / (run * runs);
        let (column, place) = (lane % self.side, lane / self.side);
        let row = item % run + run * (place / beside + runs * (item / run % further));
        (row, column, place % beside + beside * (item / run / further))
    }
}

/// Runs a matrix instruction.
pub(in crate::exec) fn execute(w: &mut Wave, s: &Slot, shape: &Shape) -> Result<(), Stop> {
    let i = &s.inst;
    if i.abs != 0 || i.neg != 0 || i.opsel != 0 {
        return Err(Stop::Unsupported("broadcasts within a matrix instruction"));
    }
    // Only C may be a constant or a scalar.
    if !i.src[..2].iter().all(|operand| operand.is_vector()) {
        return Err(Stop::Unsupported("a matrix instruction of scalars"));
    }
    if shape.element == Element::Double {
        doubles(w, s, shape);
        return Ok(());
    }
    let registers = usize::from(i.row.dst.unsigned_abs());
    let results: Vec<Lanes> = (0..registers).map(|item| singles(w, i, shape, item)).collect();
    for (register, result) in results.iter().enumerate() {
        w.put(i.dst, register, result, !0);
    }
    Ok(())
}

/// One register of D, of 32 bits.
fn singles(w: &Wave, i: &Inst, shape: &Shape, item: usize) -> Lanes {
    let places: [_; LANES] = std::array::from_fn(|lane| shape.result(item, lane));
    let operand = i.src[2];
    let mut sum = if operand.is_vector() { *w.v(operand, item) } else { Lanes([scalar::src32(w, i, operand); LANES]) };
    for k in 0..shape.depth() {
        let read = |operand, (lane, at)| element(w, operand, shape.element, lane, at);
        let a = Lanes(places.map(|(row, _, block)| read(i.src[0], shape.source(row, k, block))));
        let b = Lanes(places.map(|(_, column, block)| read(i.src[1], shape.source(column, k, block))));
        let c = sum;
        if shape.element == Element::Byte {
            sum = Lanes(std::array::from_fn(|l| c.0[l].wrapping_add(a.0[l].wrapping_mul(b.0[l]))));
        } else {
            fma_lanes(&a, &b, &c, &mut sum);
        }
    }
    if matches!(shape.element, Element::Half | Element::Brain) {
        sum.0 = sum.0.map(flush32);
    }
    sum
}

/// An element as 32 bits: a single, or a whole number.
fn element(w: &Wave, operand: Operand, element: Element, lane: usize, at: usize) -> u32 {
    let half = |at: usize| (w.v(operand, at / 2).0[lane] >> (16 * (at % 2))) as u16;
    match element {
        Element::Byte => i32::from((w.v(operand, 0).0[lane] >> (8 * at)) as i8) as u32,
        Element::Half => {
            let half = half(at);
            if half & 0x7c00 == 0 { u32::from(half & 0x8000) << 16 } else { half_to_single(half).to_bits() }
        }
        Element::Brain => flush32(u32::from(half(at)) << 16),
        Element::Single | Element::Double => w.v(operand, 0).0[lane],
    }
}

fn doubles(w: &mut Wave, s: &Slot, shape: &Shape) {
    let i = &s.inst;
    let [a, b] = [0, 1].map(|k| src64(w, s, k, Kind64::Bits));
    let items = usize::from(i.row.dst.unsigned_abs()) / 2;
    let constant = (!i.src[2].is_vector()).then(|| src64(w, s, 2, Kind64::Bits));
    let results: Vec<Lanes64> = (0..items)
        .map(|item| {
            let places: [_; LANES] = std::array::from_fn(|lane| shape.result(item, lane));
            let mut sum = constant.unwrap_or_else(|| {
                let (low, high) = (w.v(i.src[2], 2 * item), w.v(i.src[2], 2 * item + 1));
                std::array::from_fn(|l| u64::from(low.0[l]) | u64::from(high.0[l]) << 32)
            });
            for k in 0..shape.depth() {
                let x = places.map(|(row, _, block)| a[shape.source(row, k, block).0]);
                let y = places.map(|(_, column, block)| b[shape.source(column, k, block).0]);
                let c = sum;
                fma_lanes64(&x, &y, &c, &mut sum);
            }
            sum
        })
        .collect();
    for (item, result) in results.iter().enumerate() {
        w.put(i.dst, 2 * item, &Lanes(result.map(|value| value as u32)), !0);
        w.put(i.dst, 2 * item + 1, &Lanes(result.map(|value| (value >> 32) as u32)), !0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Family, table};
    use std::collections::HashSet;

    /// Every element of D stands in one place, and A and B are read where there are lanes, each element once a row or column.
    #[test]
    fn elements_and_places_are_one_to_one() {
        let mut shapes = 0;
        for row in table::rows_of(Family::Vop3p) {
            let mut inst = crate::isa::decode(&[0xbf80_0000]).expect("s_nop 0");
            (inst.op, inst.row) = (row.code, row);
            let Some(shape) = Shape::of(&inst) else { continue };
            shapes += 1;
            let items = usize::from(row.dst.unsigned_abs()) / if shape.element == Element::Double { 2 } else { 1 };
            let results: HashSet<_> =
                (0..items).flat_map(|item| (0..LANES).map(move |lane| shape.result(item, lane))).collect();
            assert_eq!(results.len(), items * LANES, "{}", row.name);
            assert!(results.iter().all(|(i, j, b)| *i < shape.side && *j < shape.side && *b < shape.blocks));
            let sources: HashSet<_> = (0..shape.side)
                .flat_map(|i| (0..shape.depth()).flat_map(move |k| (0..shape.blocks).map(move |b| (i, k, b))))
                .map(|(i, k, b)| shape.source(i, k, b))
                .collect();
            assert_eq!(sources.len(), LANES * shape.held, "{}", row.name);
            assert!(sources.iter().all(|(lane, at)| *lane < LANES && *at < shape.held), "{}", row.name);
            // The name holds rows, columns and k.
            let (side, depth) = (shape.side, shape.depth());
            assert!(row.name.contains(&format!("_{side}X{side}X{depth}")), "{}: {shape:?}", row.name);
            assert_eq!(shape.operations() % 512, 0);
        }
        assert_eq!(shapes, table::rows_of(Family::Vop3p).iter().filter(|row| row.name.starts_with("V_MFMA")).count());
    }
}
