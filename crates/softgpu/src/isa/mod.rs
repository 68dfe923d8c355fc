//! The instruction set of gfx90a: decoder, operands, opcode tables, and a printer in LLVM's syntax.
//!
//! `decode` turns one or two dwords into an [`Inst`]; it never panics, whatever the words are. Instructions of the
//! encodings that a compute program cannot use on this chip (images, exports, interpolation) are errors.

mod decode;
mod inst;
mod operand;
mod print;
pub mod table;

pub use decode::{DecodeError, decode};
pub use inst::{Dpp, Family, Form, Inst, Sdwa, Segment};
pub use operand::Operand;
