//! Operands as the encodings number them.

/// A register or constant: the 9-bit source numbers of the vector encodings (0 to 511), with accumulation registers
/// above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand(pub u16);

impl Operand {
    /// No operand.
    pub const NONE: Operand = Operand(0xffff);
    /// Low half of VCC.
    pub const VCC: Operand = Operand(106);
    /// M0.
    pub const M0: Operand = Operand(124);
    /// Low half of EXEC.
    pub const EXEC: Operand = Operand(126);
    /// The 32-bit literal that follows the instruction.
    pub const LITERAL: Operand = Operand(255);

    /// Scalar register or special register by its 7-bit number.
    pub const fn scalar(number: u32) -> Operand {
        Operand(number as u16 & 0x7f)
    }

    /// Vector register.
    pub const fn vector(number: u32) -> Operand {
        Operand(256 + (number as u16 & 0xff))
    }

    /// Accumulation register.
    pub const fn accumulation(number: u32) -> Operand {
        Operand(512 + (number as u16 & 0xff))
    }

    /// A vector register, or an accumulation register where `acc` is set.
    pub const fn vector_or_acc(number: u32, acc: bool) -> Operand {
        if acc { Operand::accumulation(number) } else { Operand::vector(number) }
    }

    /// Whether it is a vector or accumulation register.
    pub const fn is_vector(self) -> bool {
        self.0 >= 256 && self.0 < 768
    }

    /// Whether it is an accumulation register.
    pub const fn is_accumulation(self) -> bool {
        self.0 >= 512 && self.0 < 768
    }

    /// Whether the number means something in a compute program on this chip. It does not for the reserved ones, for
    /// direct reads of LDS, and for the graphics pipeline's ordering register.
    pub const fn exists(self) -> bool {
        matches!(self.0, 0..=124 | 126..=208 | 235..=238 | 240..=248 | 251..=253 | 255..=767)
    }

    /// Whether there is no operand.
    pub const fn is_none(self) -> bool {
        self.0 == 0xffff
    }

    /// The value of an inline integer constant.
    pub const fn inline_integer(self) -> Option<i32> {
        match self.0 {
            128..=192 => Some(self.0 as i32 - 128),
            193..=208 => Some(192 - self.0 as i32),
            _ => None,
        }
    }

    /// The value of an inline floating-point constant.
    pub const fn inline_float(self) -> Option<f64> {
        Some(match self.0 {
            240 => 0.5,
            241 => -0.5,
            242 => 1.0,
            243 => -1.0,
            244 => 2.0,
            245 => -2.0,
            246 => 4.0,
            247 => -4.0,
            248 => 0.159_154_943_091_895_32,
            _ => return None,
        })
    }
}
