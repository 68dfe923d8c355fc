//! What a load or store moves, and how it lies in registers.

/// What a load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A byte or a word: its size, whether it is sign-extended, and which half of the register it goes to or comes from.
    Small { bytes: u32, signed: bool, half: Half },
    /// One to four dwords.
    Dwords(usize),
}

/// How a small value lies in its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Loads fill the register.
    Whole,
    /// Loads keep the high half.
    Low,
    /// In the high half; loads keep the low one.
    High,
}

impl Shape {
    /// Bytes of a lane.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Shape::Small { bytes, .. } => u64::from(bytes),
            Shape::Dwords(count) => 4 * count as u64,
        }
    }

    /// Shape of a load or store (true) by its opcode, which FLAT and MUBUF share.
    pub(super) fn of(op: u16) -> Option<(Shape, bool)> {
        let small = |bytes, signed, half| Shape::Small { bytes, signed, half };
        Some(match op {
            0x10 => (small(1, false, Half::Whole), false),
            0x11 => (small(1, true, Half::Whole), false),
            0x12 => (small(2, false, Half::Whole), false),
            0x13 => (small(2, true, Half::Whole), false),
            0x14..=0x17 => (Shape::Dwords(usize::from(op - 0x13)), false),
            0x18 => (small(1, false, Half::Low), true),
            0x19 => (small(1, false, Half::High), true),
            0x1a => (small(2, false, Half::Low), true),
            0x1b => (small(2, false, Half::High), true),
            0x1c..=0x1f => (Shape::Dwords(usize::from(op - 0x1b)), true),
            0x20 => (small(1, false, Half::Low), false),
            0x21 => (small(1, false, Half::High), false),
            0x22 => (small(1, true, Half::Low), false),
            0x23 => (small(1, true, Half::High), false),
            0x24 => (small(2, false, Half::Low), false),
            0x25 => (small(2, false, Half::High), false),
            _ => return None,
        })
    }
}

/// A loaded byte or word as it goes into its register.
pub(super) fn place(shape: Shape, raw: u32, old: u32) -> u32 {
    let Shape::Small { bytes, signed, half } = shape else { return raw };
    let value = match (bytes, signed) {
        (1, true) => i32::from(raw as i8) as u32,
        (1, false) => raw & 0xff,
        (_, true) => i32::from(raw as i16) as u32,
        (_, false) => raw & 0xffff,
    };
    match half {
        Half::Whole => value,
        Half::Low => old & 0xffff_0000 | value & 0xffff,
        Half::High => old & 0xffff | value << 16,
    }
}
