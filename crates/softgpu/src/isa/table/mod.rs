//! Opcode tables: number, mnemonic and operand widths of each instruction of gfx90a, one file an encoding.
//!
//! The numbers are facts of the instruction set (AMD "Vega" and "CDNA 2" instruction set manuals); a test compares every
//! one of them with LLVM's assembler.

pub mod ds;
pub mod flat;
pub mod mubuf;
pub mod smem;
pub mod sop1;
pub mod sop2;
pub mod sopc;
pub mod sopk;
pub mod sopp;
pub mod vop1;
pub mod vop2;
pub mod vop3;
pub mod vop3p;
pub mod vopc;

use super::Family;

/// One instruction of an encoding.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Opcode. Vector instructions of VOP1, VOP2 and VOPC use their number in VOP3's opcode space.
    pub code: u16,
    /// Mnemonic in upper case, without an encoding suffix.
    pub name: &'static str,
    /// Width of the destination in dwords; 0 where there is none, negative where a vector instruction writes SGPRs.
    pub dst: i8,
    /// Widths of the sources in dwords; 0 where there is none.
    pub src: [u8; 3],
}

/// Makes a constant for each opcode and the table of all of them.
macro_rules! rows {
    ($($name:ident = $code:literal: $dst:literal, [$a:literal, $b:literal, $c:literal];)*) => {
        $(#[doc = concat!("Opcode of `", stringify!($name), "`.")] pub const $name: u16 = $code;)*
        /// All instructions of the encoding, by ascending opcode.
        pub static ROWS: &[super::Row] = &[$(super::Row {
            code: $code, name: stringify!($name), dst: $dst, src: [$a, $b, $c],
        }),*];
    };
}
use rows;

/// The row of an opcode.
pub fn row(family: Family, code: u16) -> Option<&'static Row> {
    let rows = rows_of(family);
    rows.binary_search_by_key(&code, |r| r.code).ok().map(|at| &rows[at])
}

/// All rows of a family, by ascending opcode.
pub fn rows_of(family: Family) -> &'static [Row] {
    match family {
        Family::Sop1 => sop1::ROWS,
        Family::Sop2 => sop2::ROWS,
        Family::Sopk => sopk::ROWS,
        Family::Sopc => sopc::ROWS,
        Family::Sopp => sopp::ROWS,
        Family::Smem => smem::ROWS,
        Family::Vop1 => vop1::ROWS,
        Family::Vop2 => vop2::ROWS,
        Family::Vopc => vopc::ROWS,
        Family::Vop3 => vop3::ROWS,
        Family::Vop3p => vop3p::ROWS,
        Family::Ds => ds::ROWS,
        Family::Flat => flat::ROWS,
        Family::Mubuf => mubuf::ROWS,
    }
}
