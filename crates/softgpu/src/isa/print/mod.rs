//! Instructions as text that LLVM's assembler reads back to the same words.

mod memory;
mod operand;
mod scalar;
mod vector;

use std::fmt;

use super::{Family, Inst};

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.family {
            Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp => scalar::text(self),
            Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 => vector::text(self),
            Family::Vop3p => vector::packed(self),
            Family::Smem => memory::scalar(self),
            Family::Ds => memory::lds(self),
            Family::Flat => memory::flat(self),
            Family::Mubuf => memory::buffer(self),
        };
        f.write_str(&text)
    }
}

/// A line of assembly: mnemonic, operands with commas between them, then modifiers with spaces before them.
struct Line {
    text: String,
    operands: usize,
}

impl Line {
    fn new(mnemonic: String) -> Line {
        Line { text: mnemonic, operands: 0 }
    }

    fn operand(&mut self, operand: impl fmt::Display) {
        let comma = if self.operands == 0 { " " } else { ", " };
        self.text.push_str(&format!("{comma}{operand}"));
        self.operands += 1;
    }

    fn modifier(&mut self, when: bool, modifier: impl fmt::Display) {
        if when {
            self.text.push_str(&format!(" {modifier}"));
        }
    }
}
