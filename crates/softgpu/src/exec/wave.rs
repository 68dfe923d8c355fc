//! The state of one wave: registers, program counter, mode.

use super::launch::Launch;
use crate::isa::Operand;

/// Lanes of a wave.
pub(super) const LANES: usize = 64;

/// Vector registers a wave can name: 256, 256 accumulation registers above them, and room for the last one's tuple.
const VGPRS: usize = 512 + 32;

/// One dword of each lane.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [u32; LANES]);

impl Lanes {
    pub(super) const ZERO: Lanes = Lanes([0; LANES]);
}

/// Why a wave does not run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    AtBarrier,
    Ended,
}

/// One wave.
pub(super) struct Wave {
    pub(super) state: State,
    pub(super) pc: u64,
    pub(super) exec: u64,
    pub(super) scc: bool,
    /// The MODE register.
    pub(super) mode: u32,
    /// What the float fields of `mode` ask for, worked out when it changes.
    pub(super) float: FloatMode,
    /// Scalar registers by their operand number; EXEC is in `exec`.
    sgpr: [u32; 128],
    vgpr: Box<[Lanes]>,
    /// Index of the first accumulation register in `vgpr`.
    accumulation: usize,
    /// Vector registers that a program has used since they were last cleared.
    dirty: usize,
    /// Number of the wave in its work-group.
    pub(super) index: u32,
    /// Lanes that the running vector instruction writes.
    pub(super) write_mask: u64,
    /// This wave's part of scratch.
    pub(super) scratch_offset: u64,
    /// Index register mode (`s_set_gpr_idx_on`): which operands are indexed; 0 is off.
    pub(super) gpr_index: u8,
}

/// The MODE register's rounding and denormal fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FloatMode {
    pub(super) round32: Rounding,
    pub(super) round64: Rounding,
    /// Single precision: flush denormal inputs, outputs.
    pub(super) flush32: (bool, bool),
    /// Half and double precision: flush denormal inputs, outputs.
    pub(super) flush64: (bool, bool),
    /// Single precision needs no care: to nearest, denormals kept.
    pub(super) native32: bool,
    /// The same for half and double precision.
    pub(super) native64: bool,
    /// Clamping turns NaN into zero.
    pub(super) dx10_clamp: bool,
    /// Half precision overflows to the largest number.
    pub(super) f16_overflow: bool,
}

/// Rounding modes by their number in MODE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    NearestEven,
    Up,
    Down,
    Zero,
}

impl Rounding {
    fn from_bits(bits: u32) -> Rounding {
        match bits & 3 {
            0 => Rounding::NearestEven,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::Zero,
        }
    }
}

impl FloatMode {
    pub(super) fn new(mode: u32) -> FloatMode {
        // Denormal fields: bit 0 keeps inputs, bit 1 keeps outputs.
        let flush = |bits: u32| (bits & 1 == 0, bits & 2 == 0);
        FloatMode {
            round32: Rounding::from_bits(mode),
            round64: Rounding::from_bits(mode >> 2),
            flush32: flush(mode >> 4),
            flush64: flush(mode >> 6),
            native32: mode & 0x33 == 0x30,
            native64: mode & 0xcc == 0xc0,
            dx10_clamp: mode >> 8 & 1 != 0,
            f16_overflow: mode >> 23 & 1 != 0,
        }
    }
}

impl Wave {
    pub(super) fn new() -> Wave {
        Wave {
            state: State::Ended,
            pc: 0,
            exec: 0,
            scc: false,
            mode: 0,
            float: FloatMode::new(0),
            sgpr: [0; 128],
            // Pages that a program does not use are never touched.
            // SAFETY: lanes of zeros are valid.
            vgpr: unsafe { Box::<[Lanes]>::new_zeroed_slice(VGPRS).assume_init() },
            accumulation: 256,
            dirty: 0,
            index: 0,
            write_mask: 0,
            scratch_offset: 0,
            gpr_index: 0,
        }
    }

    /// Clears the registers for a new program.
    pub(super) fn reset(&mut self, launch: &Launch) {
        let used = launch.vgprs.min(VGPRS);
        self.vgpr[..self.dirty.max(used)].fill(Lanes::ZERO);
        self.dirty = used;
        self.sgpr = [0; 128];
        self.accumulation = launch.accum_offset;
        self.state = State::Ready;
        self.pc = launch.entry;
        self.scc = false;
        self.gpr_index = 0;
        self.set_mode(launch.mode);
    }

    pub(super) fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
        self.float = FloatMode::new(mode);
    }

    /// The index of a vector or accumulation register.
    #[inline(always)]
    pub(super) fn vindex(&self, operand: Operand) -> usize {
        let number = operand.0 as usize;
        if number < 512 { number - 256 } else { number - 512 + self.accumulation }
    }

    /// Vector register `operand + add`.
    #[inline(always)]
    pub(super) fn v(&self, operand: Operand, add: usize) -> &Lanes {
        &self.vgpr[self.vindex(operand) + add]
    }

    /// Vector register `operand + add`, to be written.
    #[inline(always)]
    pub(super) fn v_mut(&mut self, operand: Operand, add: usize) -> &mut Lanes {
        let at = self.vindex(operand) + add;
        &mut self.vgpr[at]
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub(super) fn put(&mut self, operand: Operand, add: usize, value: &Lanes, mask: u64) {
        let to = self.v_mut(operand, add);
        if mask == u64::MAX {
            *to = *value;
        } else {
            for (lane, (to, from)) in to.0.iter_mut().zip(&value.0).enumerate() {
                let keep = ((mask >> lane & 1) as u32).wrapping_sub(1);
                *to = (*to & keep) | (*from & !keep);
            }
        }
    }

    /// A scalar register or special scalar source; constants are the caller's.
    #[inline(always)]
    pub(super) fn s(&self, number: u16) -> u32 {
        match number {
            126 => self.exec as u32,
            127 => (self.exec >> 32) as u32,
            n => self.sgpr[n as usize & 127],
        }
    }

    /// Scalar registers `number` and `number + 1`.
    #[inline(always)]
    pub(super) fn s64(&self, number: u16) -> u64 {
        if number == 126 {
            return self.exec;
        }
        u64::from(self.s(number)) | u64::from(self.s(number + 1)) << 32
    }

    #[inline(always)]
    pub(super) fn set_s(&mut self, number: u16, value: u32) {
        match number {
            126 => self.exec = self.exec & !0xffff_ffff | u64::from(value),
            127 => self.exec = self.exec & 0xffff_ffff | u64::from(value) << 32,
            n => self.sgpr[n as usize & 127] = value,
        }
    }

    #[inline(always)]
    pub(super) fn set_s64(&mut self, number: u16, value: u64) {
        self.set_s(number, value as u32);
        self.set_s(number + 1, (value >> 32) as u32);
    }

    #[inline(always)]
    pub(super) fn vcc(&self) -> u64 {
        u64::from(self.sgpr[106]) | u64::from(self.sgpr[107]) << 32
    }

    #[inline(always)]
    pub(super) fn m0(&self) -> u32 {
        self.sgpr[124]
    }

    /// FLAT_SCRATCH.
    pub(super) fn flat_scratch(&self) -> u64 {
        self.s64(102)
    }
}
