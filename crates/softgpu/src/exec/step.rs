//! The instruction loop.

use super::code::{CodeView, PAGE, Page, Slot};
use super::launch::Launch;
use super::memory::MapCache;
use super::stats::{Class, Counts};
use super::vector::matrix::Shape;
use super::vmem::{Conflicts, Lines};
use super::wave::{State, Wave};
use super::{scalar, vector, vmem};
use crate::contract::{BadAddress, Fault, Memory};
use crate::isa::{Family, Inst};
use std::sync::Arc;

/// What a worker's instructions work with, beside their wave.
pub(super) struct Cx<'a> {
    pub(super) maps: MapCache<'a>,
    pub(super) code: CodeView,
    pub(super) lds: Vec<u32>,
    pub(super) counts: Counts,
    pub(super) lines: Lines,
    pub(super) conflicts: Conflicts,
    /// Clocks count instructions, so that runs are repeatable.
    pub(super) repeatable: bool,
}

impl<'a> Cx<'a> {
    pub(super) fn new(launch: &'a Launch, memory: &'a dyn Memory, repeatable: bool) -> Cx<'a> {
        Cx::with(MapCache::new(memory, launch.request.id), repeatable)
    }

    fn with(maps: MapCache<'a>, repeatable: bool) -> Cx<'a> {
        Cx {
            maps,
            code: CodeView::default(),
            lds: Vec::new(),
            counts: Counts::default(),
            lines: Lines::default(),
            conflicts: Conflicts::default(),
            repeatable,
        }
    }
}

/// What an instruction could not do.
#[derive(Debug)]
pub(super) enum Stop {
    /// Memory that is not there.
    Bad(BadAddress),
    /// An instruction, or a variant of it, that is not supported.
    Unsupported(&'static str),
    /// A trap.
    Trap(u16),
}

impl From<BadAddress> for Stop {
    fn from(bad: BadAddress) -> Stop {
        Stop::Bad(bad)
    }
}

/// What comes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The instruction at the wave's `pc`.
    Go,
    /// Another wave's turn.
    Yield,
}

/// Runs a wave for up to `turn` instructions, until it ends, waits at a barrier, or gives up its turn. Returns the number
/// of instructions run.
pub(super) fn run_wave(cx: &mut Cx<'_>, wave: &mut Wave, turn: u64) -> Result<u64, Fault> {
    let mut page: Option<(u64, Arc<Page>)> = None;
    let mut left = turn;
    while left > 0 {
        let pc = wave.pc;
        let base = pc & !(PAGE - 1);
        let current = match &page {
            Some((at, current)) if *at == base => current,
            _ => {
                if !pc.is_multiple_of(4) {
                    return Err(Fault::BadProgramCounter { pc });
                }
                &page.insert((base, cx.code.page(base, &mut cx.maps))).1
            }
        };
        let slot = current.at(pc)?;
        left -= 1;
        wave.pc = pc.wrapping_add(u64::from(slot.inst.bytes));
        cx.counts.classes[slot.class as usize] += 1;
        match execute(cx, wave, slot) {
            Ok(Next::Go) => {}
            Ok(Next::Yield) => break,
            Err(stop) => return Err(fault(pc, &slot.inst, stop)),
        }
        if wave.state != State::Ready {
            break;
        }
    }
    Ok(turn - left)
}

#[cfg(test)]
impl<'a> Cx<'a> {
    pub(super) fn new_for_test(memory: &'a dyn Memory) -> Cx<'a> {
        Cx::with(MapCache::new(memory, 0), true)
    }
}

#[cfg(test)]
pub(super) fn execute_for_test(cx: &mut Cx<'_>, wave: &mut Wave, slot: &Slot) -> Result<Next, Stop> {
    execute(cx, wave, slot)
}

#[inline(always)]
fn execute(cx: &mut Cx<'_>, wave: &mut Wave, slot: &Slot) -> Result<Next, Stop> {
    let inst = &slot.inst;
    if slot.class == Class::Valu {
        cx.counts.sums.valu_lanes += u64::from(wave.exec.count_ones());
        return vector::execute(wave, slot).map(|()| Next::Go);
    }
    if slot.class == Class::Matrix {
        return matrix(cx, wave, slot).map(|()| Next::Go);
    }
    match inst.family {
        Family::Sop2 => scalar::sop2(wave, inst)?,
        Family::Sop1 => scalar::sop1(wave, inst)?,
        Family::Sopc => scalar::sopc(wave, inst)?,
        Family::Sopk => scalar::sopk(wave, inst)?,
        Family::Sopp => return scalar::sopp(cx, wave, inst),
        Family::Smem => scalar::smem(cx, wave, inst)?,
        Family::Flat => vmem::flat(cx, wave, inst)?,
        Family::Mubuf => vmem::buffer(cx, wave, inst)?,
        Family::Ds => vmem::lds(cx, wave, inst)?,
        Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p => {}
    }
    Ok(Next::Go)
}

fn matrix(cx: &mut Cx<'_>, wave: &mut Wave, slot: &Slot) -> Result<(), Stop> {
    let shape = Shape::of(&slot.inst).ok_or(Stop::Unsupported(""))?;
    if wave.gpr_index != 0 {
        return Err(Stop::Unsupported("in index register mode"));
    }
    vector::matrix::execute(wave, slot, &shape)?;
    cx.counts.sums.valu_lanes += u64::from(wave.exec.count_ones());
    cx.counts.matrix(&shape);
    Ok(())
}

#[cold]
fn fault(pc: u64, inst: &Inst, stop: Stop) -> Fault {
    match stop {
        Stop::Bad(access) => Fault::BadAddress { pc, access },
        Stop::Trap(id) => Fault::Trap { pc, id },
        Stop::Unsupported(why) => Fault::UnknownInstruction {
            pc,
            words: [inst.words[0], inst.words[1], 0],
            what: if why.is_empty() { inst.mnemonic() } else { format!("{} ({why})", inst.mnemonic()) },
        },
    }
}
